//! Jobs of this machine, read from the memory of their threads. Reads only: the processes do not
//! notice.

use std::convert::Infallible;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use tinyprof_format::model::EventMap;
use tinyprof_format::segment::{Segment, running_map};
use tinyprof_segment::clock::Moment;

use super::copy::copy;
use super::progress::Progress;
use super::sample::Sample;
use super::seen::JobLine;
use crate::kept::{add_causes, name_made_code};
use crate::recover::find::find;
use crate::recover::jobs::{Job, Piece, jobs};
use crate::sys::{self, SharedWords};
use crate::wrappers::wrappers;

/// The number of times that a file is mapped again because it grew.
const TRIES: usize = 8;

/// The result of a look.
pub(super) enum Found {
    None,
    Several(Vec<JobLine>),
    /// A job, and its id.
    Job(String, Box<Sample>),
}

/// Returns the job called `wanted`, or the only one.
pub(super) fn look(
    directory: &Path,
    wanted: Option<&str>,
    progress: &mut Progress,
) -> Result<Found, String> {
    let files = copies(directory).map_err(|error| error.to_string())?;
    let pieces = pieces(&files);
    let now = sys::now();
    let mut jobs: Vec<(Vec<String>, Job<'_>)> =
        jobs(&pieces).into_iter().map(|job| (processes(&job), job)).collect();
    if let Some(wanted) = wanted {
        jobs.retain(|(_, job)| job.is_called(wanted));
    }
    Ok(match jobs.as_slice() {
        [] => Found::None,
        [(processes, job)] => {
            let id = processes.first().cloned().unwrap_or_default();
            Found::Job(id, Box::new(sample(job, now, progress)))
        }
        several => {
            Found::Several(several.iter().map(|(processes, job)| line(processes, job)).collect())
        }
    })
}

/// Copies of segments, with the paths of their files.
type Copies = Vec<(PathBuf, Vec<u8>)>;

/// Returns copies of the segments of all running threads there, with the paths of their files.
///
/// # Errors
/// If the directory cannot be read.
pub(super) fn copies(directory: &Path) -> Result<Copies, Box<dyn Error>> {
    let running = find(directory)?.running.into_iter();
    Ok(running.filter_map(|path| copied(&path).map(|bytes| (path, bytes))).collect())
}

/// Returns the segments of running threads in these copies, with the paths of their files.
pub(super) fn pieces(files: &[(PathBuf, Vec<u8>)]) -> Vec<Piece<'_>> {
    files
        .iter()
        .filter_map(|(path, bytes)| {
            Some(Piece { path, segment: Segment::parse(bytes).ok()?, is_replaced: false })
        })
        .collect()
}

/// Returns a copy of the segment in a file; `None` if it is gone, was shortened, or grows faster
/// than it can be read.
pub(super) fn copied(path: &Path) -> Option<Vec<u8>> {
    copied_with(path, |_| ()).map(|(bytes, ())| bytes)
}

/// Returns a copy of the segment in a file, and what `look` has found in its words before.
pub(super) fn copied_with<T>(
    path: &Path,
    look: impl Fn(&[AtomicU64]) -> T,
) -> Option<(Vec<u8>, T)> {
    (0..TRIES).find_map(|_| {
        let file: File =
            OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path).ok()?;
        let shared = SharedWords::of(&file).ok()?;
        let found = look(shared.words());
        let bytes = copy(shared.words()).ok().filter(|_| !shared.has_shrunk())?;
        Some((bytes, found))
    })
}

/// Returns the ids of its processes, lowest rank first.
pub(super) fn processes(job: &Job<'_>) -> Vec<String> {
    let headers = job.pieces().map(|piece| piece.segment.header());
    let mut ids: Vec<(Option<(u32, u32)>, u32)> =
        headers.map(|header| (header.rank, header.process_id)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(|(_, id)| id.to_string()).collect()
}

pub(super) fn line(processes: &[String], job: &Job<'_>) -> JobLine {
    let count = if processes.len() == 1 { "process" } else { "processes" };
    let what = format!("{}, {} {count}", name(job), processes.len());
    JobLine { id: processes.first().cloned().unwrap_or_default(), what }
}

/// Returns the job called `wanted`, or the only one.
pub(super) fn only_job<'a>(
    mut jobs: Vec<Job<'a>>,
    wanted: Option<&str>,
    directory: &Path,
) -> Result<Job<'a>, String> {
    if let Some(wanted) = wanted {
        jobs.retain(|job| job.is_called(wanted));
    }
    if jobs.len() > 1 {
        let there: Vec<String> = jobs
            .iter()
            .map(|job| line(&processes(job), job))
            .map(|job| format!("{} ({})", job.id, job.what))
            .collect();
        return Err(format!("several jobs run; choose one with --job: {}", there.join("; ")));
    }
    jobs.pop().ok_or_else(|| {
        let called = wanted.map_or_else(String::new, |wanted| format!(" called {wanted}"));
        format!(
            "nothing runs in {}: no program{called} records there, on this host and of this user",
            directory.display()
        )
    })
}

fn memory_of(processes: &[String]) -> String {
    match processes {
        [one] => format!("memory of process {one}"),
        several => format!("memory of {} processes", several.len()),
    }
}

pub(super) fn name(job: &Job<'_>) -> String {
    let name = job.description().profile;
    let name = Path::new(&name).file_name();
    name.map_or_else(|| "a program".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns the event maps of all ranks, to each of which `add` may add what else it knows of the
/// threads of a process.
pub(super) fn event_maps(
    job: &Job<'_>,
    now: Moment,
    add: impl Fn(&mut EventMap, &[Piece<'_>], &[Segment<'_>]),
) -> Vec<EventMap> {
    let Ok(mut ranks) = job.event_maps(|threads| {
        let segments: Vec<Segment<'_>> = threads.iter().map(|piece| piece.segment).collect();
        let mut map = running_map(&segments, now);
        add_causes(&mut map, &segments);
        add(&mut map, threads, &segments);
        name_made_code(&mut map, &segments);
        Ok::<_, Infallible>(map)
    });
    tinyprof_symbols::name_and_merge(&mut ranks, &wrappers());
    ranks
}

fn sample(job: &Job<'_>, now: Moment, progress: &mut Progress) -> Sample {
    let started_ns = job.pieces().map(|piece| piece.segment.header().start_ns).min();
    let ranks = event_maps(job, now, |_, _, _| ());
    let mut sample = Sample::of_ranks(&ranks);
    sample.picture.name = name(job);
    sample.picture.still = progress.still(&ranks, now.monotonic_ns);
    sample.picture.elapsed_ns = started_ns.map(|start| now.monotonic_ns.saturating_sub(start));
    Sample { source: memory_of(&processes(job)), moment_ns: now.monotonic_ns, ..sample }
}
