//! `tinyprof recover`: profiles of programs that were killed, from the files that their threads have left.
//!
//! What belongs to a process that still runs, to another user, boot, machine or version is left alone and named.

mod find;
mod jobs;

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use tinyprof_format::file::{profile_path, write_incomplete_profile};
use tinyprof_format::report::escaped;
use tinyprof_format::segment::{DIRECTORY_VARIABLE, Segment, default_directory};

use crate::arguments::RecoverArguments;
use crate::{render, sys};
use find::{Found, find};
use jobs::{Job, jobs};

pub(crate) fn run(arguments: &RecoverArguments) -> Result<(), Box<dyn Error>> {
    let directory = directory(arguments);
    let found = find(&directory)?;
    for name in &found.empty {
        remove(&directory.join(name));
    }
    let mut lines: Vec<String> = found.left_alone;
    let result = recover(&found.dead, arguments, &mut lines);
    if lines.is_empty() && result.is_ok() {
        lines.push(format!("nothing to recover in {}", directory.display()));
    }
    let text: String = lines.iter().map(|line| escaped(line) + "\n").collect();
    result.and(render::output(&text))
}

fn directory(arguments: &RecoverArguments) -> PathBuf {
    let named = || env::var_os(DIRECTORY_VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
    arguments.directory.clone().or_else(named).unwrap_or_else(|| default_directory(sys::user_id()))
}

fn recover(
    dead: &[Found],
    arguments: &RecoverArguments,
    lines: &mut Vec<String>,
) -> Result<(), Box<dyn Error>> {
    let segments: Vec<(&Path, Segment<'_>)> = dead
        .iter()
        .filter_map(|found| Some((found.path.as_path(), Segment::parse(&found.bytes).ok()?)))
        .collect();
    let now = sys::now();
    for job in jobs(&segments, now) {
        let callpaths: usize = job.ranks.iter().map(|map| map.callpaths.len()).sum();
        if callpaths == 0 && job.losses().visits_not_recorded == 0 {
            lines.push(format!("{}: nothing was recorded", job.who));
        } else {
            let path = write(&job, arguments)?;
            lines.push(format!("{}: recovered as {}", job.who, path.display()));
        }
        // Only now: until the profile is written they are all there is.
        job.files.iter().for_each(|file| remove(file));
    }
    Ok(())
}

fn write(job: &Job<'_>, arguments: &RecoverArguments) -> Result<PathBuf, Box<dyn Error>> {
    let name = arguments.output.clone().unwrap_or_else(|| {
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
