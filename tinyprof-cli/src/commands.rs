//! One function a command: read, then render.

use std::error::Error;
use std::path::Path;

use tinyprof_format::file::{read_manifest, read_profile};
use tinyprof_format::report::{Report, TextOptions, info_text, json_text};

use crate::arguments::{Command, InfoArguments, ReportArguments};
use crate::{recover, render};

pub(crate) fn run(command: &Command) -> Result<(), Box<dyn Error>> {
    match command {
        Command::Report(arguments) => report(arguments),
        Command::Info(arguments) => info(arguments),
        Command::Recover(arguments) => recover::run(arguments),
    }
}

fn report(arguments: &ReportArguments) -> Result<(), Box<dyn Error>> {
    let report =
        Report::of_profile(&read_profile(&arguments.directory)?).named(name_of(&arguments.directory));
    if arguments.json {
        return render::output(&json_text(&report.to_json()));
    }
    let columns = arguments.width.unwrap_or_else(render::columns);
    let options = TextOptions::default().with_width(columns);
    render::output(&report.to_text(&if arguments.all { options.unfolded() } else { options }))
}

fn info(arguments: &InfoArguments) -> Result<(), Box<dyn Error>> {
    let manifest = read_manifest(&arguments.directory)?;
    if arguments.json {
        return render::output(&json_text(&serde_json::to_value(&manifest)?));
    }
    render::output(&info_text(&manifest))
}

/// The directory's own name, also where it was given as `.` or with a slash at the end.
fn name_of(directory: &Path) -> String {
    let full = directory.canonicalize();
    let full = full.as_deref().unwrap_or(directory);
    full.file_name().unwrap_or(full.as_os_str()).to_string_lossy().into_owned()
}
