//! Interim profiles of a program without MPI: one process that needs no agreement with others.

use std::io::Error;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tinyprof_format::error::WriteError;
use tinyprof_format::file::{OutputFormat, ProfileWriter};
use tinyprof_format::model::{EventMap, InterimTimes, PhaseTimes};

use super::choices::{chosen, deadline};
use super::config::output_files;
use super::interim_files::InterimFiles;
use super::isolated::isolated;
use super::launcher;
use super::message::warn;
use super::metadata::metadata;
use super::name::profile_name;
use super::parts::{is_part_asked_for, obey_filter, part_has_begun};
use super::session::session;
use super::snapshot::{monotonic_ns, snapshot};
use super::writer::custom_writer;
use crate::record::flush_point;
use crate::record::thread;
use crate::sys::NotDone;

/// The time from which on a flush point writes an interim profile.
static DUE_NS: AtomicU64 = AtomicU64::new(u64::MAX);
static INTERVAL_NS: AtomicU64 = AtomicU64::new(0);
/// Set if an interim profile thread ended without a result.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);
/// Set if the thread that wrote an interim profile has died: it keeps the files locked for ever.
static IS_DEAD: AtomicBool = AtomicBool::new(false);
static FILES: Mutex<Option<InterimFiles>> = Mutex::new(None);
/// The measurements up to the begin of the current part of the run; none in the first part.
static BEFORE: Mutex<Option<EventMap>> = Mutex::new(None);

/// The time that the end of the process waits for an interim profile that is being written.
const PATIENCE_NS: u64 = 2_000_000_000;

/// Writes an interim profile of this process now, regardless of the interval, and returns its path.
///
/// Returns `None` if nothing was measured, recording is off, or another thread is writing a
/// interim profile. Any thread of a program without MPI may call it.
///
/// # Errors
/// If the interim profile could not be written.
pub fn interim_profile() -> Result<Option<PathBuf>, WriteError> {
    if !session().config.is_recording() {
        return Ok(None);
    }
    write_isolated(false).map_or_else(
        |reason| {
            let source = Error::other(reason.reason());
            Err(WriteError { action: "write", path: profile_name(), source })
        },
        |(written, _)| written,
    )
}

/// Writes an interim profile on a thread of its own, unless one is being written.
///
/// Returns the result, and whether it is the first one that could not be written. A thread that
/// hangs or dies keeps the files, so that there are no further interim profiles. Allocates nothing
/// on the caller's thread.
fn write_isolated(is_part: bool) -> Result<(Result<Option<PathBuf>, WriteError>, bool), NotDone> {
    let write_locked = move || {
        let Ok(mut files) = FILES.try_lock() else { return (Ok(None), false) };
        let files = files.get_or_insert_with(|| {
            let kept = chosen(|settings| settings.interim_profiles_kept);
            InterimFiles::new(&profile_name(), kept)
        });
        let is_first_failure = files.times().failed == 0;
        let written = if is_part { write_part(files) } else { write(files) };
        let is_first_failure = is_first_failure && written.is_err();
        (written, is_first_failure)
    };
    let written = isolated(deadline(), write_locked);
    if matches!(written, Err(NotDone::Died)) {
        IS_DEAD.store(true, Relaxed);
    }
    written
}

/// Starts the interim profiles of a program without MPI. Zero means none.
pub(super) fn install(interval: Duration) {
    let several_processes = launcher::place().is_some_and(|place| place.size > 1);
    if interval.is_zero() || several_processes || custom_writer().is_some() {
        return;
    }
    let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
    INTERVAL_NS.store(interval_ns, Relaxed);
    DUE_NS.store(monotonic_ns().saturating_add(interval_ns), Relaxed);
    flush_point::install_own(at_flush_point);
    flush_point::install_own_parts(ask_for_part);
    thread::watch_all();
}

/// Returns the times of the interim profiles, for the final profile.
pub(super) fn times() -> InterimTimes {
    files().and_then(|files| files.as_ref().map(InterimFiles::times)).unwrap_or_default()
}

/// Removes the interim profiles after the final profile was written.
pub(super) fn remove_all() {
    if let Some(files) = files().as_deref_mut().and_then(Option::as_mut) {
        files.remove_all();
    }
}

/// Returns the interim profile files at the end of the process. A thread that is writing an interim
/// profile may finish first. If a signal handler ends the process, that may be this very thread, so
/// the wait is limited.
fn files() -> Option<MutexGuard<'static, Option<InterimFiles>>> {
    let give_up_ns = monotonic_ns().saturating_add(PATIENCE_NS);
    loop {
        match FILES.try_lock() {
            Ok(files) => {
                // No further interim profile may begin after the final profile.
                DUE_NS.store(u64::MAX, Relaxed);
                return Some(files);
            }
            Err(_) if IS_DEAD.load(Relaxed) || monotonic_ns() >= give_up_ns => return None,
            Err(_) => std::thread::yield_now(),
        }
    }
}

/// Has a part end at the next flush point. Returns false if none does.
fn ask_for_part() -> bool {
    let is_possible = INTERVAL_NS.load(Relaxed) > 0
        && custom_writer().is_none()
        && session().process_id == std::process::id();
    if is_possible {
        DUE_NS.store(0, Relaxed);
    }
    is_possible
}

fn at_flush_point() {
    if monotonic_ns() >= DUE_NS.load(Relaxed) {
        write_due();
    }
}

/// Writes an interim profile if it is due: once an interval.
#[cold]
#[inline(never)]
fn write_due() {
    // A child made by `fork` has its parent's settings, but the parent writes the interim profiles.
    if custom_writer().is_some() || session().process_id != std::process::id() {
        DUE_NS.store(u64::MAX, Relaxed);
        return;
    }
    // One thread does it. Other threads continue, as do regions in signal handlers and allocators
    // of this thread.
    let due_ns = DUE_NS.load(Relaxed);
    if monotonic_ns() < due_ns
        || DUE_NS.compare_exchange(due_ns, u64::MAX, Relaxed, Relaxed).is_err()
    {
        return;
    }
    // Reported once: a disk that is full stays full for the next interim profile, and the profile
    // counts them.
    let is_part = is_part_asked_for();
    let written = thread::while_away(|| write_isolated(is_part));
    if is_part {
        let flush_point = matches!(written, Ok((Ok(_), _))).then_some(0);
        part_has_begun(flush_point);
        obey_filter();
    }
    match written {
        Ok((Err(error), true)) => warn(format_args!("an interim profile was not written: {error}")),
        Ok(_) => {}
        Err(reason) => {
            if !HAS_FAILED.swap(true, Relaxed) {
                warn(format_args!("an interim profile was not written: {reason}"));
            }
        }
    }
    let interval_ns = INTERVAL_NS.load(Relaxed);
    // A part may have been asked for meanwhile.
    let due_ns = monotonic_ns().saturating_add(interval_ns);
    DUE_NS.store(if is_part_asked_for() { 0 } else { due_ns }, Relaxed);
}

/// Writes what was measured since the last part has ended.
fn write_part(files: &mut InterimFiles) -> Result<Option<PathBuf>, WriteError> {
    let Ok(mut before) = BEFORE.try_lock() else { return Ok(None) };
    let map = snapshot();
    let written = write_since(files, before.as_ref(), &map, Some(0));
    *before = Some(map);
    written.map(Some)
}

/// Writes the last part of a run of several, all of which is in `map`.
pub(super) fn write_last_part(map: &EventMap) {
    let Some(before) = BEFORE.try_lock().ok().and_then(|mut before| before.take()) else { return };
    if let Some(files) = files().as_deref_mut().and_then(Option::as_mut)
        && let Err(error) = write_since(files, Some(&before), map, None)
    {
        warn(format_args!("the last part of the run was not written: {error}"));
    }
}

fn write_since(
    files: &mut InterimFiles,
    before: Option<&EventMap>,
    map: &EventMap,
    flush_point: Option<u64>,
) -> Result<PathBuf, WriteError> {
    let begin_ns = monotonic_ns();
    let part = before.map(|before| map.since(before));
    let (name, state) = files.begin_part(flush_point);
    let output = output_files(&session().config, OutputFormat::Tprof);
    let written = ProfileWriter::new()
        .with_files(output)
        .with_metadata(metadata())
        .with_state(state)
        .write(&name, std::slice::from_ref(part.as_ref().unwrap_or(map)));
    files.end_part(written.is_ok(), monotonic_ns() - begin_ns);
    written
}

fn write(files: &mut InterimFiles) -> Result<Option<PathBuf>, WriteError> {
    let begin_ns = monotonic_ns();
    let map = snapshot();
    if map.callpaths.is_empty() {
        return Ok(None);
    }
    let (name, state) = files.begin(None);
    let times = PhaseTimes { snapshot_ns: monotonic_ns() - begin_ns, ..PhaseTimes::default() };
    let output = output_files(&session().config, OutputFormat::Tprof);
    let written = ProfileWriter::new()
        .with_files(output)
        .with_metadata(metadata())
        .with_times(times)
        .with_state(state)
        .write(&name, std::slice::from_ref(&map));
    files.end(written.as_deref().ok(), monotonic_ns() - begin_ns);
    written.map(Some)
}
