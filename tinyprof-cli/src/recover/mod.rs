//! `tinyprof recover`: profiles of programs that were killed, from the files that their threads have left.
//!
//! What belongs to a process that still runs, to another user, boot, machine or version is left alone and named.

pub(crate) mod find;
pub(crate) mod jobs;

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tinyprof_format::file::{profile_path, write_incomplete_profile};
use tinyprof_format::report::{escaped, json_text};
use tinyprof_format::segment::{DIRECTORY_VARIABLE, Segment, default_directory, recovered_map};

use crate::arguments::RecoverArguments;
use crate::{render, sys};
use find::{Found, find};
use jobs::{Job, jobs};

pub(crate) fn run(arguments: &RecoverArguments) -> Result<(), Box<dyn Error>> {
    let directory = segment_directory(arguments.directory.as_deref());
    let found = find(&directory)?;
    for name in &found.empty {
        remove(&directory.join(name));
    }
    let mut recovered = Vec::new();
    let result = recover(&found.dead, arguments, &mut recovered);
    let output = if arguments.output.is_json() {
        json_text(
            &json!({ "left_alone": found.left_alone, "recovered": recovered.iter().map(json_of).collect::<Vec<_>>() }),
        )
    } else {
        let mut lines: Vec<String> = found.left_alone;
        lines.extend(recovered.iter().map(line));
        if lines.is_empty() && result.is_ok() {
            lines.push(format!("nothing to recover in {}", directory.display()));
        }
        lines.iter().map(|line| escaped(line) + "\n").collect()
    };
    // What was recovered is told also where another profile could not be written.
    result.and(render::output(&output))
}

/// What became of a dead job.
struct Recovered {
    who: String,
    /// None where it had recorded nothing.
    profile: Option<PathBuf>,
}

fn line(Recovered { who, profile }: &Recovered) -> String {
    match profile {
        Some(path) => format!("{who}: recovered as {}", path.display()),
        None => format!("{who}: nothing was recorded"),
    }
}

fn json_of(Recovered { who, profile }: &Recovered) -> Value {
    json!({ "job": who, "profile": profile.as_ref().map(|path| path.to_string_lossy()) })
}

/// Where the segments of this user's programs are, unless `asked_for` says otherwise.
pub(crate) fn segment_directory(asked_for: Option<&Path>) -> PathBuf {
    let named = || env::var_os(DIRECTORY_VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
    asked_for.map(PathBuf::from).or_else(named).unwrap_or_else(|| default_directory(sys::user_id()))
}

fn recover(
    dead: &[Found],
    arguments: &RecoverArguments,
    recovered: &mut Vec<Recovered>,
) -> Result<(), Box<dyn Error>> {
    let segments: Vec<(&Path, Segment<'_>)> = dead
        .iter()
        .filter_map(|found| Some((found.path.as_path(), Segment::parse(&found.bytes).ok()?)))
        .collect();
    let now = sys::now();
    for job in jobs(&segments, now, recovered_map) {
        let callpaths: usize = job.ranks.iter().map(|map| map.callpaths.len()).sum();
        if callpaths == 0 && job.losses().visits_not_recorded == 0 {
            recovered.push(Recovered { who: job.who.clone(), profile: None });
        } else {
            let path = write(&job, arguments)?;
            recovered.push(Recovered { who: job.who.clone(), profile: Some(path) });
        }
        // Only now: until the profile is written they are all there is.
        job.files.iter().for_each(|file| remove(file));
    }
    Ok(())
}

fn write(job: &Job<'_>, arguments: &RecoverArguments) -> Result<PathBuf, Box<dyn Error>> {
    let name = arguments.name.clone().unwrap_or_else(|| {
        // The directory of the program's profile may be on a machine or disk that is not there any more.
        let wanted = Path::new(&job.description.profile).file_name();
        wanted.map_or_else(|| "recovered".into(), PathBuf::from)
    });
    let metadata = job.description.metadata.clone();
    Ok(write_incomplete_profile(&profile_path(&name), &job.ranks, 16, metadata, job.because.clone())?)
}

fn remove(path: &Path) {
    // Another `recover` may have been faster.
    fs::remove_file(path).ok();
}
