//! `tinyprof export`: a profile in the format of another tool. Each format has its own file and
//! implements one trait.

mod choice;
mod chrome;
mod cubex;
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
mod names;
mod openmetrics;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod paths;
mod speedscope;
mod tinyprof_csv;

use std::error::Error;
use std::path::Path;

use clap::CommandFactory as _;
use clap::error::ErrorKind;

use exporter::{Request, Source};
pub(crate) use names::xml;
pub(crate) use output::write as to_file;

use crate::arguments::{Arguments, ExportArguments, Selection};
use crate::name::name_of;
use crate::parameter::Parameter;
use crate::{render, select};

/// The default number of ranks for viewers that show them side by side.
const DEFAULT_MAX_RANKS: u32 = 64;

pub(crate) fn run(arguments: &ExportArguments) -> Result<(), Box<dyn Error>> {
    if let Some(fault) = fault(arguments) {
        Arguments::command().error(ErrorKind::ArgumentConflict, fault).exit();
    }
    let sources: Result<Vec<Source>, Box<dyn Error>> = arguments
        .directories
        .iter()
        .map(|directory| source(directory, &arguments.selection))
        .collect();
    let parameters = if arguments.parameters.is_empty() {
        vec![Parameter::Ranks]
    } else {
        arguments.parameters.clone()
    };
    let max_ranks = arguments.max_ranks.unwrap_or(DEFAULT_MAX_RANKS);
    let request = Request { sources: sources?, max_ranks: max_ranks as usize, parameters };
    let exporter = formats::exporter(arguments.format);
    let notes = output::write(&arguments.output, |out| exporter.export(&request, out))?;
    render::notes(&notes);
    Ok(())
}

/// Returns the conflict between arguments, if any. Each argument alone was checked before.
fn fault(arguments: &ExportArguments) -> Option<String> {
    let exporter = formats::exporter(arguments.format);
    let profiles = arguments.directories.len();
    if !exporter.takes_several() && profiles > 1 {
        return Some(format!(
            "{profiles} profiles, but only extrap takes several: export them one by one"
        ));
    }
    if !exporter.takes_several() && !arguments.parameters.is_empty() {
        return Some("--parameter is for extrap only".to_owned());
    }
    if !exporter.caps_ranks() && arguments.max_ranks.is_some() {
        return Some(
            "--max-ranks is for speedscope and chrome only; choose ranks with --rank".to_owned(),
        );
    }
    if !exporter.is_text() && arguments.output == Path::new("-") {
        return Some("the format is no text: name a file to write with -o FILE".to_owned());
    }
    Parameter::fault(&arguments.parameters, profiles)
}

fn source(directory: &Path, selection: &Selection) -> Result<Source, Box<dyn Error>> {
    let profile = select::read(directory, selection)?;
    let is_selected = |rank: &usize| match (&selection.ranks, u32::try_from(*rank)) {
        (Some(list), Ok(rank)) => list.contains(rank),
        _ => true,
    };
    let ranks = (0..profile.ranks.len()).filter(is_selected).collect();
    Ok(Source { name: name_of(directory), profile, ranks })
}
