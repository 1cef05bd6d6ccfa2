//! Checkpoints of a program without MPI: one process, and nobody to agree with.

use std::panic::catch_unwind;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tinyprof_format::error::WriteError;
use tinyprof_format::file::{OutputFormat, write_profile_in_state};
use tinyprof_format::model::{CheckpointTimes, PhaseTimes};

use super::checkpoint_files::CheckpointFiles;
use super::config::warn;
use super::metadata::metadata;
use super::name::profile_name;
use super::session::session;
use super::snapshot::{monotonic_ns, snapshot};
use super::writer::taken_over_by;
use super::{launcher, without_write_signals};
use crate::record::boundary;
use crate::record::thread;

/// The moment from which on a boundary is one for a checkpoint.
static DUE_NS: AtomicU64 = AtomicU64::new(u64::MAX);
static INTERVAL_NS: AtomicU64 = AtomicU64::new(0);
static FILES: Mutex<Option<CheckpointFiles>> = Mutex::new(None);

/// How long the end of the process waits for a checkpoint that is being written.
const PATIENCE_NS: u64 = 2_000_000_000;

/// Writes a checkpoint of this process now, whatever the interval, and returns where it is.
///
/// None if nothing was measured, or recording is off, or a checkpoint is being written by another thread. Any thread of a
/// program without MPI.
///
/// # Errors
/// When it could not be written.
pub fn checkpoint() -> Result<Option<PathBuf>, WriteError> {
    if !session().config.recording {
        return Ok(None);
    }
    let Ok(mut files) = FILES.try_lock() else { return Ok(None) };
    write(files.get_or_insert_with(|| CheckpointFiles::new(&profile_name(), None)))
}

/// Begins with the checkpoints of a program without MPI. Zero is for none.
pub(super) fn install(interval: Duration) {
    let several_processes = launcher::place().is_some_and(|place| place.size > 1);
    if interval.is_zero() || several_processes || taken_over_by().is_some() {
        return;
    }
    let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
    INTERVAL_NS.store(interval_ns, Relaxed);
    DUE_NS.store(monotonic_ns().saturating_add(interval_ns), Relaxed);
    boundary::install_own(at_boundary);
    thread::watch_all();
}

/// What the final profile says of the checkpoints.
pub(super) fn times() -> CheckpointTimes {
    files().and_then(|files| files.as_ref().map(CheckpointFiles::times)).unwrap_or_default()
}

/// The final profile is written.
pub(super) fn remove_all() {
    if let Some(files) = files().as_deref_mut().and_then(Option::as_mut) {
        files.remove_all();
    }
}

/// At the end of the process: a thread that is writing a checkpoint may finish it first. It may be this one, if a signal
/// handler ends the process, so that there is a limit to waiting.
fn files() -> Option<MutexGuard<'static, Option<CheckpointFiles>>> {
    let give_up_ns = monotonic_ns().saturating_add(PATIENCE_NS);
    loop {
        match FILES.try_lock() {
            Ok(files) => {
                // No further checkpoint begins behind the final profile.
                DUE_NS.store(u64::MAX, Relaxed);
                return Some(files);
            }
            Err(_) if monotonic_ns() >= give_up_ns => return None,
            Err(_) => std::thread::yield_now(),
        }
    }
}

fn at_boundary() {
    if monotonic_ns() >= DUE_NS.load(Relaxed) {
        write_due();
    }
}

/// Once an interval.
#[cold]
#[inline(never)]
fn write_due() {
    // A child made by `fork` has its parent's settings, but the parent writes the checkpoints.
    if taken_over_by().is_some() || session().process_id != std::process::id() {
        DUE_NS.store(u64::MAX, Relaxed);
        return;
    }
    // Another thread is writing one, or this one is, and a region in a signal handler or an allocator has ended.
    let Ok(mut files) = FILES.try_lock() else { return };
    if monotonic_ns() < DUE_NS.load(Relaxed) {
        return;
    }
    let files = files.get_or_insert_with(|| CheckpointFiles::new(&profile_name(), None));
    let before = files.times();
    let written = thread::while_away(|| catch_unwind(std::panic::AssertUnwindSafe(|| write(files))));
    match written {
        Ok(Ok(_)) => {}
        // Said once: a full disk is full at the next checkpoint too, and the profile counts them.
        Ok(Err(error)) if before.failed == 0 => warn(&format!("a checkpoint was not written: {error}")),
        Ok(Err(_)) => {}
        Err(_) => warn("an internal error: a checkpoint is missing; please report it"),
    }
    let interval_ns = INTERVAL_NS.load(Relaxed);
    DUE_NS.store(monotonic_ns().saturating_add(interval_ns), Relaxed);
}

fn write(files: &mut CheckpointFiles) -> Result<Option<PathBuf>, WriteError> {
    without_write_signals(|| {
        let begin_ns = monotonic_ns();
        let map = snapshot();
        if map.callpaths.is_empty() {
            return Ok(None);
        }
        let (name, state) = files.begin(None);
        let times = PhaseTimes { snapshot_ns: monotonic_ns() - begin_ns, ..PhaseTimes::default() };
        let written = write_profile_in_state(OutputFormat::Tprof, &name, &map, metadata(), times, state);
        files.end(written.as_deref().ok(), monotonic_ns() - begin_ns);
        written.map(Some)
    })
}
