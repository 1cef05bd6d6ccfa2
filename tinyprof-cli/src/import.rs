//! `tinyprof import`: a profile from the paper's text format, one file or what aggregators wrote, with whatever of a damaged
//! file can be saved.

use std::error::Error;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::json;
use tinyprof_format::file::{profile_path, read_text_profile, save_profile};
use tinyprof_format::report::{escaped, json_text};
use tinyprof_format::text::{Imported, Salvage, read_text};

use crate::arguments::ImportArguments;
use crate::outcome::Outcome;
use crate::render;

/// So many problems are printed; JSON has more.
const PRINTED_MAX: usize = 20;

pub(crate) fn run(arguments: &ImportArguments) -> Result<Outcome, Box<dyn Error>> {
    let named = |error: &dyn Error| format!("{}: {error}", arguments.file.display());
    let Imported { profile, salvage } = if arguments.file.is_dir() {
        read_text_profile(&arguments.file)?
    } else {
        let text = read(&arguments.file).map_err(|error| format!("cannot read {}", named(&error)))?;
        read_text(&text).map_err(|error| named(&error))?
    };
    let path = save_profile(&profile_path(&arguments.name), &profile)?;
    let (ranks, callpaths) = (profile.ranks.len(), profile.callpaths.len());
    let output = if arguments.output.is_json() {
        json_text(&json!({
            "profile": path.to_string_lossy(),
            "ranks": ranks,
            "callpaths": callpaths,
            "whole": salvage.is_whole(),
            "salvage": salvage,
        }))
    } else {
        let path = escaped(&path.display().to_string());
        format!("{path}: {ranks} ranks, {callpaths} callpaths; {}\n", salvage.summary())
    };
    if !arguments.output.is_json() {
        render::notes(&problems(&salvage));
    }
    render::output(&output)?;
    Ok(if salvage.is_whole() { Outcome::Done } else { Outcome::Losses })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return fs::read(path);
    }
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text)?;
    Ok(text)
}

fn problems(salvage: &Salvage) -> Vec<String> {
    let mut lines: Vec<String> = salvage.problems.iter().take(PRINTED_MAX).map(ToString::to_string).collect();
    let more = salvage.problem_count() - lines.len() as u64;
    if more > 0 {
        lines.push(format!("{more} more problems, see --json"));
    }
    lines
}
