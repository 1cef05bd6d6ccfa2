//! `tinyprof export`: a profile in the format of another tool. Each format has its own file and
//! implements one trait.

mod callflow;
mod choice;
mod chrome;
mod cubex;
mod events;
mod exporter;
mod extrap;
#[cfg(feature = "flamegraph")]
mod flamegraph;
mod folded;
mod formats;
mod graphml;
mod hatchet;
mod json;
#[cfg(not(all(feature = "flamegraph", feature = "parquet")))]
mod left_out;
mod message;
mod names;
mod openmetrics;
mod otf2;
mod output;
mod paraver;
#[cfg(feature = "parquet")]
mod parquet;
mod paths;
mod perfetto;
mod pprof;
mod rank_sums;
mod samples;
mod speedscope;
mod spill;
mod summary;
mod tinyprof_csv;

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap::error::ErrorKind;

pub(crate) use choice::choose;
use exporter::{Input, Request};
pub(crate) use message::push_varint;
pub(crate) use names::xml;
pub(crate) use output::write as to_file;
#[cfg(feature = "top")]
pub(crate) use samples::{family, quoted, seconds, value};

use crate::arguments::{Arguments, ExportArguments, ExportFormat, Selection};
use crate::events::{EventSelection, Window};
use crate::parameter::Parameter;
use crate::render;

/// The default number of ranks for viewers that show them side by side.
const DEFAULT_MAX_RANKS: u32 = 64;

pub(crate) fn run(arguments: &ExportArguments) -> Result<(), Box<dyn Error>> {
    if let Some(fault) = fault(arguments) {
        Arguments::command().error(ErrorKind::ArgumentConflict, fault).exit();
    }
    let directories = arguments.directories.iter();
    let inputs = directories.map(|directory| Input::Directory(directory, &arguments.selection));
    let inputs = inputs.collect();
    let parameters = if arguments.parameters.is_empty() {
        vec![Parameter::Ranks]
    } else {
        arguments.parameters.clone()
    };
    let max_ranks = arguments.max_ranks.unwrap_or(DEFAULT_MAX_RANKS) as usize;
    let scratch = scratch(&arguments.output);
    let events = arguments.events.clone();
    let request = Request { inputs, max_ranks, parameters, events, scratch };
    write(arguments.format, &request, &arguments.output)
}

fn write(format: ExportFormat, request: &Request<'_>, output: &Path) -> Result<(), Box<dyn Error>> {
    let exporter = formats::exporter(format);
    let notes = if exporter.writes_directory() {
        output::write_directory(output, |to| exporter.export_into(request, to))?
    } else {
        output::write(output, |out| exporter.export(request, out))?
    };
    render::notes(&notes);
    Ok(())
}

/// Writes the events of a profile within some time, for Perfetto.
///
/// # Errors
/// If the profile cannot be read, or the file not be written.
#[cfg(feature = "top")]
pub(crate) fn perfetto_of(
    profile: &Path,
    output: &Path,
    window: Window,
) -> Result<(), Box<dyn Error>> {
    let all = Selection::default();
    let request = Request {
        inputs: vec![Input::Directory(profile, &all)],
        max_ranks: DEFAULT_MAX_RANKS as usize,
        parameters: vec![Parameter::Ranks],
        events: EventSelection::of_window(window),
        scratch: scratch(output),
    };
    write(ExportFormat::Perfetto, &request, output)
}

/// Returns the conflict between arguments, if any. Each argument alone was checked before.
fn fault(arguments: &ExportArguments) -> Option<String> {
    let exporter = formats::exporter(arguments.format);
    let profiles = arguments.directories.len();
    if !exporter.takes_several() && profiles > 1 {
        return Some(format!(
            "{profiles} profiles, but only extrap and callflow take several: export them one by one"
        ));
    }
    if arguments.format != ExportFormat::Extrap && !arguments.parameters.is_empty() {
        return Some("--parameter is for extrap only".to_owned());
    }
    if !exporter.caps_ranks() && arguments.max_ranks.is_some() {
        return Some(
            "--max-ranks is for speedscope, chrome, perfetto, otf2 and paraver only; choose ranks \
             with --rank"
                .to_owned(),
        );
    }
    if !exporter.has_events() && arguments.events.is_part() {
        return Some("--window and --class are for perfetto, otf2 and paraver only".to_owned());
    }
    if exporter.writes_directory() && arguments.output == Path::new("-") {
        return Some(
            "the format is several files: name a directory to write with -o DIR".to_owned(),
        );
    }
    if !exporter.is_text() && arguments.output == Path::new("-") {
        return Some("the format is no text: name a file to write with -o FILE".to_owned());
    }
    Parameter::fault(&arguments.parameters, profiles)
}

/// Returns the directory for data that does not fit into memory: that of the file to write, where
/// there has to be room for such data anyway.
fn scratch(output: &Path) -> PathBuf {
    match output.parent() {
        _ if output == Path::new("-") => env::temp_dir(),
        Some(directory) if !directory.as_os_str().is_empty() => directory.to_owned(),
        _ => PathBuf::from("."),
    }
}
