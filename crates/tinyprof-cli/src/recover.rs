//! `tinyprof recover`: profiles of killed programs, from the files that their threads left behind.
//!
//! Segments of a process that still runs, or of another user, boot, machine or version are left
//! alone and listed. If several jobs could be recovered, and none was chosen, they are listed, and
//! nothing is written or removed. No segment is removed before its profile is written.

mod alive;
mod boards;
mod candidates;
mod claim;
pub(crate) mod find;
pub(crate) mod jobs;
mod written;

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tinyprof_format::file::{OutputFiles, OutputFormat, ProfileWriter, profile_path};
use tinyprof_format::model::{EventMap, Losses, ProfileId, RunMetadata, RunState};
use tinyprof_format::segment::{DIRECTORY_VARIABLE, Segment, directories, recovered_map};
use tinyprof_report::escaped;
use tinyprof_segment::clock::Moment;
use tinyprof_segment::layout::header;
use tinyprof_views::json_text;

use crate::arguments::RecoverArguments;
use crate::kept::events::{Kept, add_events};
use crate::kept::{add_causes, name_made_code};
use crate::wrappers::wrappers;
use crate::{memory, permissions, render, sys};
use candidates::Candidate;
use find::{Found, find, read_whole};
use jobs::{Job, Piece, jobs};

pub(crate) fn run(arguments: &RecoverArguments) -> Result<(), Box<dyn Error>> {
    let directory = segment_directory(arguments.segments.directory.as_deref());
    let _claim = claim::claim(&directory)
        .map_err(|error| format!("cannot read {}: {error}", directory.display()))?;
    let mut found = find(&directory)?;
    for path in found.empty.iter().chain(&found.stale_boards) {
        remove(path);
    }
    let mut done = Done { left_alone: std::mem::take(&mut found.left_alone), ..Done::default() };
    let result = recover(&found.dead, arguments, &mut done);
    let output = if arguments.output.is_json() {
        json_text(&done.to_json())
    } else {
        let mut lines = done.lines();
        if lines.is_empty() && result.is_ok() {
            lines.push(format!("nothing to recover in {}", directory.display()));
        }
        lines.iter().map(|line| escaped(line) + "\n").collect()
    };
    // Recovered profiles are reported even if another one could not be written.
    result.and(render::output(&output))
}

/// The result for all segments.
#[derive(Default)]
struct Done {
    /// One line for each file or job that is left alone.
    left_alone: Vec<String>,
    /// Jobs and their profiles; `None` for a job that had recorded nothing.
    recovered: Vec<(String, Option<PathBuf>)>,
    /// Jobs whose profile was already complete, with its path.
    written_before: Vec<(String, PathBuf)>,
    /// The jobs to choose from, if there are several and none was chosen.
    candidates: Vec<Candidate>,
}

impl Done {
    fn lines(&self) -> Vec<String> {
        let recovered = self.recovered.iter().map(|(who, profile)| match profile {
            Some(path) => format!("{who}: recovered as {}", path.display()),
            None => format!("{who}: nothing was recorded"),
        });
        let before = self.written_before.iter().map(|(who, path)| {
            format!("{who}: nothing is missing: its profile {} is complete", path.display())
        });
        let lines = self.left_alone.iter().cloned().chain(recovered).chain(before);
        lines.chain(candidates::lines(&self.candidates)).collect()
    }

    fn to_json(&self) -> Value {
        let of = |who: &str, path: Option<&PathBuf>| json!({ "job": who, "profile": path.map(|path| path.to_string_lossy()) });
        json!({
            "left_alone": self.left_alone,
            "recovered": self.recovered.iter().map(|(who, path)| of(who, path.as_ref())).collect::<Vec<_>>(),
            "written_before": self.written_before.iter().map(|(who, path)| of(who, Some(path))).collect::<Vec<_>>(),
            "to_choose_from": self.candidates.iter().map(Candidate::to_json).collect::<Vec<_>>(),
        })
    }
}

/// Returns the directory with the segments of this user's programs, the first of them by default,
/// unless `asked_for` names another.
pub(crate) fn segment_directory(asked_for: Option<&Path>) -> PathBuf {
    let named =
        || env::var_os(DIRECTORY_VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
    let by_default = || directories(sys::user_id()).swap_remove(0);
    asked_for.map(PathBuf::from).or_else(named).unwrap_or_else(by_default)
}

fn recover(
    dead: &[Found],
    arguments: &RecoverArguments,
    done: &mut Done,
) -> Result<(), Box<dyn Error>> {
    let pieces: Vec<Piece<'_>> = dead.iter().filter_map(Found::piece).collect();
    let now = sys::now();
    let mut jobs = jobs(&pieces);
    if let Some(name) = &arguments.segments.job {
        let there: Vec<String> = jobs.iter().map(Job::who).collect();
        jobs.retain(|job| job.is_called(name));
        if jobs.is_empty() {
            return Err(none_is_called(name, &there).into());
        }
    }
    let mut unwritten = Vec::new();
    for job in jobs {
        match written::written(&job.profile_ids(), &targets(&job, arguments)) {
            Some(path) => {
                done.written_before.push((job.who(), path));
                job.pieces().for_each(|piece| remove(piece.path));
            }
            None => unwritten.push(job),
        }
    }
    if unwritten.len() > 1 && !arguments.all {
        done.candidates = unwritten.iter().map(Candidate::of).collect();
        return Err(candidates::advice(unwritten.len(), arguments.segments.job.as_deref()).into());
    }
    for job in unwritten {
        let who = job.who();
        let mut ranks = match job.event_maps(|threads| event_map(threads, now)) {
            Ok(ranks) => ranks,
            Err(error) => {
                done.left_alone.push(format!("{who}: left alone: {error}"));
                continue;
            }
        };
        let mut losses = Losses::default();
        ranks.iter().for_each(|rank| losses.absorb(&rank.facts.losses));
        let is_empty =
            ranks.iter().all(|map| map.callpaths.is_empty()) && losses.visits_not_recorded == 0;
        tinyprof_symbols::name_and_merge(&mut ranks, &wrappers());
        let path = if is_empty { None } else { Some(write(&job, &ranks, arguments)?) };
        done.recovered.push((who, path));
        // Only now: until the profile is written, they are the only data.
        job.pieces().for_each(|piece| remove(piece.path));
    }
    Ok(())
}

fn none_is_called(name: &str, there: &[String]) -> String {
    let which = match there {
        [] => "there is nothing to recover".to_owned(),
        some => format!("what can be recovered is of {}", some.join("; ")),
    };
    format!("no job that was killed is called {name}: {which}")
}

/// Returns the event map of the process of these segments. They are in memory only while it is
/// created.
fn event_map(threads: &[Piece<'_>], now: Moment) -> io::Result<EventMap> {
    let mut room = memory::read_options().memory_bytes();
    let mut files = Vec::new();
    for piece in threads {
        let bytes = read_whole(piece, room).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", piece.path.display()))
        })?;
        room = room.saturating_sub(bytes.len() as u64);
        files.push(bytes);
    }
    let segments: Vec<Segment<'_>> =
        files.iter().filter_map(|bytes| Segment::parse(bytes).ok()).collect();
    let mut map = recovered_map(&segments, now);
    add_causes(&mut map, &segments);
    let kept = segments.iter().map(Kept::of).collect();
    add_events(&mut map, &segments, kept, now);
    name_made_code(&mut map, &segments);
    Ok(map)
}

/// Returns the possible names of a job's profile: the one its program wanted, and the one we write.
fn targets(job: &Job<'_>, arguments: &RecoverArguments) -> BTreeSet<PathBuf> {
    // The thread that wrote may have a later name than the others.
    let wanted = job.pieces().map(|piece| PathBuf::from(piece.segment.description().profile));
    wanted.chain([name(job, arguments)]).collect()
}

fn name(job: &Job<'_>, arguments: &RecoverArguments) -> PathBuf {
    arguments.name.clone().unwrap_or_else(|| {
        // The directory of the program's profile may be on a machine or disk that is no longer
        // there.
        let profile = job.description().profile;
        Path::new(&profile).file_name().map_or_else(|| "recovered".into(), PathBuf::from)
    })
}

fn write(
    job: &Job<'_>,
    ranks: &[EventMap],
    arguments: &RecoverArguments,
) -> Result<PathBuf, Box<dyn Error>> {
    let id = new_profile_id(job);
    // If we are killed before all of them are removed, the next `recover` recognizes the profile by
    // it.
    job.pieces().for_each(|piece| mark(piece.path, id));
    let state = RunState {
        incomplete_because: Some(job.because()),
        profile_id: Some(id),
        ..RunState::default()
    };
    write_ranks(job.description().metadata, ranks, state, &name(job, arguments))
}

/// Writes a profile with this name of ranks in memory, and returns its path.
pub(crate) fn write_ranks(
    metadata: RunMetadata,
    ranks: &[EventMap],
    state: RunState,
    name: &Path,
) -> Result<PathBuf, Box<dyn Error>> {
    let files =
        OutputFiles { format: OutputFormat::Tprof, permissions: permissions::permissions() };
    Ok(ProfileWriter::new()
        .with_files(files)
        .with_ranks_per_part(16)
        .with_metadata(metadata)
        .with_state(state)
        .write(&profile_path(name), ranks)?)
}

/// Returns an id for the recovered profile of a job. It is unique, since no other process of this
/// boot has our process id and works at this moment.
fn new_profile_id(job: &Job<'_>) -> ProfileId {
    let headers: BTreeSet<u64> =
        job.pieces().map(|piece| piece.segment.header().start_ns).collect();
    let now = [u64::from(std::process::id()), sys::now().monotonic_ns];
    ProfileId::of(&now.into_iter().chain([sys::date_ns()]).chain(headers).collect::<Vec<u64>>())
}

/// Writes the id of its profile into a segment that is no longer mapped. If the segment cannot be
/// written to, the id is missing, which matters only to a `recover` that is killed at the wrong
/// moment.
fn mark(path: &Path, id: ProfileId) {
    let opened =
        OpenOptions::new().write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    let at = (header::PROFILE_ID * size_of::<u64>()) as u64;
    drop(opened.and_then(|file| file.write_all_at(&id.to_word().to_le_bytes(), at)));
}

fn remove(path: &Path) {
    // Another `recover` may have been faster.
    fs::remove_file(path).ok();
}
