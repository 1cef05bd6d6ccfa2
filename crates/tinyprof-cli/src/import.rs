//! `tinyprof import`: a profile from the paper's text format, from one file or the files of several
//! aggregators. Saves whatever can be saved of a damaged file.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use serde_json::json;
use tinyprof_format::file::{profile_path, read_text_profile, save_profile};
use tinyprof_format::text::{Imported, Salvage, read_text};
use tinyprof_report::escaped;
use tinyprof_views::json_text;

use crate::arguments::ImportArguments;
use crate::outcome::Outcome;
use crate::{memory, permissions, render, sys};

/// The most problems that are printed; JSON lists more.
const PRINTED_MAX: usize = 20;

pub(crate) fn run(arguments: &ImportArguments) -> Result<Outcome, Box<dyn Error>> {
    let named = |error: &dyn Error| format!("{}: {error}", arguments.file.display());
    let Imported { profile, salvage } = if arguments.file.is_dir() {
        read_text_profile(&arguments.file)?
    } else {
        let text =
            read(&arguments.file).map_err(|error| format!("cannot read {}", named(&error)))?;
        read_text(&text).map_err(|error| named(&error))?
    };
    let path = save_profile(permissions::permissions(), &profile_path(&arguments.name), &profile)?;
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

/// Reads the text of a file, a pipe or standard input, within the memory limit of readers.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path == Path::new("-") {
        return read_all(&mut io::stdin().lock());
    }
    // Opening a pipe without a writer would wait, perhaps forever.
    let mut file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_fifo() {
        // For a shell's `<(command)`, the other end is already open, and reading waits for its
        // output.
        sys::wait_for_bytes(&file)?;
        let text = read_all(&mut file)?;
        let nobody = || {
            io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "it is a pipe, and nobody has written to it",
            )
        };
        return if text.is_empty() { Err(nobody()) } else { Ok(text) };
    }
    if !kind.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no file of text, but a device or a socket",
        ));
    }
    read_all(&mut file)
}

fn read_all(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    let limit = memory::read_options().memory_bytes();
    let mut text = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut text)?;
    if text.len() as u64 > limit {
        let said =
            format!("it has more than {limit} bytes: allow more, as in tinyprof --memory 4GiB");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, said));
    }
    Ok(text)
}

fn problems(salvage: &Salvage) -> Vec<String> {
    let mut lines: Vec<String> =
        salvage.problems.iter().take(PRINTED_MAX).map(ToString::to_string).collect();
    let more = salvage.problem_count() - lines.len() as u64;
    if more > 0 {
        lines.push(format!("{more} more problems, see --json"));
    }
    lines
}
