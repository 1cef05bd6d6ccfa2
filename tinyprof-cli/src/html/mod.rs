//! `tinyprof html`: a profile as one page for the browser, which needs no network and runs nothing but its own scripts.
//!
//! * `payload`: what of the profile is in the page; `rows`, `iterations`, `executions` are its larger parts, `columns` how
//!   their numbers are packed.
//! * `page`: the page around it; `scripts` are the modules that draw it, in `web/`.

mod columns;
mod executions;
mod iterations;
mod page;
mod payload;
mod rows;
mod scripts;

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use tinyprof_format::file::read_profile;

use crate::arguments::HtmlArguments;
use crate::name::name_of;
use crate::{render, select};

pub(crate) fn run(arguments: &HtmlArguments) -> Result<(), Box<dyn Error>> {
    let mut profiles = Vec::new();
    for directory in &arguments.directories {
        let profile = select::select(read_profile(directory)?, &arguments.selection)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
        profiles.push((name_of(directory), profile));
    }
    let page = page::of_profiles(&profiles)?;
    if arguments.output == Path::new("-") {
        return render::output(&page);
    }
    save(&page, &arguments.output)
}

/// Writes a new file; what was there before is somebody's. A file that could not be written to its end is removed.
fn save(page: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let fail = |error: io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            format!("{} exists already and is left as it is; name another file, or remove it", path.display())
        }
        _ => format!("cannot create {}: {error}", path.display()),
    };
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(fail)?;
    file.write_all(page.as_bytes()).and_then(|()| file.flush()).map_err(|error| {
        // The first error is the one to tell.
        fs::remove_file(path).ok();
        format!("cannot write {}: {error}", path.display()).into()
    })
}
