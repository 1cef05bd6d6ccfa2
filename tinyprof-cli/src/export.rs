//! `tinyprof export`: a profile in a format of other tools.

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::path::Path;

use tinyprof_format::file::read_profile_within;
use tinyprof_format::model::Profile;
use tinyprof_format::text::{Omitted, TextError, write_text};

use crate::arguments::{ExportArguments, ExportFormat};
use crate::{memory, render};

pub(crate) fn run(arguments: &ExportArguments) -> Result<(), Box<dyn Error>> {
    let profile = read_profile_within(&arguments.directory, memory::limits())?;
    let ExportFormat::TinyprofCsv = arguments.format;
    let omitted = if arguments.output == Path::new("-") {
        let written = write_text(&profile, &mut BufWriter::new(io::stdout().lock()));
        match written {
            // A reader that left early, such as `head`, has had what it wanted.
            Err(TextError::Io(error)) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    } else {
        write_file(&profile, &arguments.output)?
    };
    render::notes(&notes(&omitted));
    Ok(())
}

/// Writes a new file; what was there before is somebody's. A file that could not be written to its end is removed.
fn write_file(profile: &Profile, path: &Path) -> Result<Omitted, Box<dyn Error>> {
    let fail = |error: io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            format!("{} exists already and is left as it is; name another file, or remove it", path.display())
        }
        _ => format!("cannot create {}: {error}", path.display()),
    };
    let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(fail)?;
    let mut out = BufWriter::new(file);
    let written = write_text(profile, &mut out).and_then(|omitted| {
        out.flush()?;
        Ok(omitted)
    });
    written.map_err(|error| {
        // The first error is the one to tell.
        fs::remove_file(path).ok();
        format!("{}: {error}", path.display()).into()
    })
}

fn notes(omitted: &Omitted) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |n: u64, what: &str| {
        if n > 0 {
            notes.push(format!("not in this format: {what} ({n})"));
        }
    };
    note(omitted.metrics, "varying metrics");
    note(omitted.sums_of_visits, "number, minimum and maximum of visits that only a sum is left of");
    note(omitted.estimates, "standard errors of estimates");
    notes
}
