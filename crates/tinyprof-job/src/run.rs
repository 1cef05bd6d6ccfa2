//! The one flush of a run, requested by a profiler, or done at the end of MPI.

mod beginning;
mod ending;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tinyprof::__mpi::{self as recorder, config};
use tinyprof::collect::{ENABLED, Ending, monotonic_ns};
use tinyprof_flush::communicator::{Communicator, Interrupted};
use tinyprof_flush::phases::{self, Measured, Plan, Workplace};
use tinyprof_format::file::{OutputFiles, OutputFormat, ProfileWriter, name_with, profile_path};
use tinyprof_format::model::RunState;
use tinyprof_settings::MpiLevel;
use tinyprof_why::Why;

use crate::attendance::{Attendance, Line, Voice};
use crate::communicator::{MpiCommunicator, run_to_end};
use crate::error::FlushError;
use crate::interim_profile;
use crate::measure::measure;
use crate::settings::Settings;
use crate::sys::{PrivateCommunicator, ProgramCommunicator};

pub(crate) use beginning::{begin, sign_in};
pub(crate) use ending::flush_at_finalize;

/// True if this rank's part in the profile is settled: it took part in a flush, or was left out of
/// it.
static SETTLED: AtomicBool = AtomicBool::new(false);
/// True if a profiler has been started.
static CLAIMED: AtomicBool = AtomicBool::new(false);
/// True if a flush of this rank was interrupted, which is reported at most once.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The ranks that take part, as found when MPI began.
static ATTENDANCE: OnceLock<(Attendance, Voice)> = OnceLock::new();
/// Our own communicator of the world, made when MPI begins, if ranks on several hosts are promised:
/// by its messages they find out who is missing at the end, when it cannot be made any more.
static WORLD: OnceLock<Result<PrivateCommunicator, String>> = OnceLock::new();
/// The rank in the world, for a program that ends without finalising MPI.
static WORLD_RANK: OnceLock<u32> = OnceLock::new();

/// Returns whether there is anything to do in this process.
pub(crate) fn is_on() -> bool {
    ENABLED && config().is_recording()
}

/// Returns whether calls of MPI are recorded: `TINYPROF_MPI` is not `off`.
pub(crate) fn records_calls() -> bool {
    config().mpi.unwrap_or_default() != MpiLevel::Off
}

/// Handles the end of the process. If it has begun MPI and not finalised it, it cannot communicate
/// any more, so each rank that comes here saves its data under its own name.
fn at_exit() -> Ending {
    if SETTLED.load(Relaxed) {
        return Ending { keep_segments: true, ..Ending::default() };
    }
    let Some(&rank) = WORLD_RANK.get() else { return beginning::end_unbegun() };
    if claims(Line::WithoutFinalize) {
        recorder::warn(
            "the program ended without MPI_Finalize: every rank that could wrote a profile of its \
             own",
        );
    }
    recorder::write_alone(&name_of_rank(&recorder::profile_name(), rank))
}

/// Handles `MPI_Abort`, which ends all ranks at once: there is no profile, and where what was
/// recorded survives, one rank says how to get it. Allocates nothing, as a program may call that in
/// a signal handler.
pub(crate) fn at_abort() {
    if SETTLED.load(Relaxed) || !recorder::is_recoverable() {
        return;
    }
    // If the process gets to its exit, its segments stay for the profile of all ranks.
    SETTLED.store(true, Relaxed);
    if claims(Line::Abort) {
        recorder::warn_recoverable("MPI_Abort ends the job without a profile");
    }
}

/// Returns whether this rank is to print a line that one rank of a host prints for all.
fn claims(line: Line) -> bool {
    ATTENDANCE.get().is_none_or(|(_, voice)| voice.claims(line))
}

/// Returns `NAME-rank-R`, the name of a profile that a rank writes alone.
fn name_of_rank(profile: &Path, rank: u32) -> PathBuf {
    name_with(profile, &format!("-rank-{rank}"))
}

/// Records that a profiler is started. Returns false if one was started before.
pub(crate) fn claim() -> bool {
    !CLAIMED.swap(true, Relaxed)
}

/// Writes the profile of all ranks of `communicator` and prints the table. Collective.
pub(crate) fn flush(
    communicator: &MpiCommunicator,
    settings: &Settings,
) -> Result<Option<PathBuf>, FlushError> {
    if !ENABLED {
        return Ok(None);
    }
    communicator.begin_flush(settings.deadline());
    flush_begun(communicator, settings)
}

fn flush_begun(
    communicator: &MpiCommunicator,
    settings: &Settings,
) -> Result<Option<PathBuf>, FlushError> {
    SETTLED.store(true, Relaxed);
    recorder::ending_here(|| recorder::without_write_signals(|| flush_now(communicator, settings)))
}

fn flush_now(
    communicator: &MpiCommunicator,
    settings: &Settings,
) -> Result<Option<PathBuf>, FlushError> {
    let interim_profiles = interim_profile::close();
    let workplace = Workplace::aside(settings.deadline());
    let begin_ns = monotonic_ns();
    let mut measured = measure(&workplace);
    // Ranks take the number that rank 0 sends them.
    let state =
        RunState { profile_id: Some(recorder::fresh_profile_id()), ..interim_profiles.state() };
    let plan =
        Plan { state, workplace: workplace.clone(), ..settings.plan(monotonic_ns() - begin_ns) };
    let flushed = run_to_end(phases::flush(communicator, &mut measured, &plan));
    communicator.end_flush();
    let flushed = match flushed {
        Ok(flushed) => flushed,
        Err(mut interrupted) => {
            // Ranks that have not come as far may have told it already.
            interrupted.is_reporter = interrupted.is_reporter && claims(Line::Apart);
            let of_world = (communicator.rank(), communicator.size(), communicator.deadline());
            return Err(write_alone_after(of_world, measured, plan, &interrupted));
        }
    };
    if flushed.overruled > 0 && communicator.rank() == 0 {
        recorder::warn(format_args!(
            "{} of {} ranks were told to round their times (TINYPROF_PRECISION=8bit), the others to keep them: all \
             were kept exact; set it alike on all ranks",
            flushed.overruled,
            communicator.size()
        ));
    }
    let written = flushed.profile.transpose();
    if written.is_ok() {
        recorder::discard_segments();
        interim_profiles.remove_all(&workplace);
    }
    if let Some(report) = flushed.report.filter(|_| settings.report()) {
        let path = written.as_ref().ok().cloned().flatten();
        // If standard error cannot be written to, there is nowhere to report it.
        let _ = workplace.run(move || {
            recorder::print_report(&report, path.as_deref(), &|profile, report, options| {
                Why::of_profile(profile).report_text(report, options)
            });
        });
    }
    if let (Ok(Some(path)), false, 0) = (&written, settings.report(), communicator.rank()) {
        recorder::tell_name(&plan.format.path(&plan.target), path);
    }
    written.map_err(|reason| {
        // Reported once for the whole run, whether or not the program looks at the result.
        if communicator.rank() == 0 {
            recorder::warn(format_args!("{reason}{}", recorder::recoverable()));
        }
        FlushError::NotWritten { reason }
    })
}

/// Writes the data of this rank under its own name, after the ranks did not come together: rank
/// `rank` of `ranks`, which has waited for the deadline.
fn write_alone_after(
    (rank, ranks, deadline): (u32, u32, Duration),
    measured: Measured,
    plan: Plan,
    interrupted: &Interrupted,
) -> FlushError {
    let profile = plan.format.path(&plan.target);
    let own_profile = profile_path(&name_of_rank(&plan.target, rank));
    // The time of the flush was spent waiting for the others.
    let plan = Plan { workplace: Workplace::aside(deadline), ..plan };
    let written = write_one_rank(rank, ranks, measured, plan, &interrupted.to_string());
    let own_failure = written.err().map(|error| format!("{error}{}", recorder::recoverable()));
    let cause = interrupted.cause.clone();
    let error = FlushError::Apart { profile, own_profile, cause, own_failure };
    if !INTERRUPTED.swap(true, Relaxed) && interrupted.is_reporter {
        recorder::warn(&error);
    }
    error
}

/// Writes the data of one rank, if there is any, under its own name. If that fails, the segments
/// stay.
fn write_one_rank(
    rank: u32,
    ranks: u32,
    measured: Measured,
    plan: Plan,
    reason: &str,
) -> Result<(), String> {
    if let Some(failure) = measured.failure() {
        return Err(failure.to_string());
    }
    let because = format!("it holds rank {rank} of {ranks} alone: {reason}");
    let (name, mut map) = (name_of_rank(&plan.target, rank), measured.map);
    // It gets its own number: another rank's separate profile does not contain the measurements of
    // this one.
    let profile_id = Some(recorder::new_profile_id(&name));
    let state = RunState { incomplete_because: Some(because), profile_id, ..plan.state };
    let metadata = plan.metadata;
    let files = OutputFiles { format: OutputFormat::Tprof, permissions: plan.permissions };
    let write = move || {
        if map.callpaths.is_empty() {
            return Ok(());
        }
        tinyprof_symbols::name_and_merge(std::slice::from_mut(&mut map), &recorder::wrappers());
        ProfileWriter::new()
            .with_files(files)
            .with_metadata(metadata)
            .with_state(state)
            .write(&name, std::slice::from_ref(&map))
            .map(drop)
    };
    plan.workplace.try_run(write).map_err(|error| error.to_string())?;
    recorder::discard_segments();
    Ok(())
}

/// Writes this rank's own profile because not all ranks are known to take part, for the given
/// reason. Does nothing if the rank was in a profile of a profiler of the program. Only asks MPI
/// for the rank and the number of ranks.
fn flush_alone(reason: &str, advice: &str) {
    if SETTLED.swap(true, Relaxed) {
        // A profiler has written what there is, but not what needs all ranks from the beginning.
        let voice = ATTENDANCE.get().map(|(_, voice)| voice);
        if let Some(what) =
            beginning::in_vain().filter(|_| config().mpi == Some(MpiLevel::Messages))
            && voice.is_some_and(|voice| voice.speaks(Line::NoEffect))
        {
            recorder::warn(format_args!("{what}: {reason}{advice}"));
        }
        return;
    }
    let world = ProgramCommunicator::world();
    let (rank, ranks) = (world.rank(), world.size());
    let settings = Settings::default();
    recorder::ending_here(|| {
        recorder::without_write_signals(|| write_alone(rank, ranks, &settings, reason, advice));
    });
}

fn write_alone(rank: u32, ranks: u32, settings: &Settings, reason: &str, advice: &str) {
    let workplace = Workplace::aside(settings.deadline());
    let measured = measure(&workplace);
    let plan = Plan { workplace, ..settings.plan(0) };
    let path = profile_path(&name_of_rank(&plan.target, rank));
    if ATTENDANCE.get().is_some_and(|(_, voice)| voice.tells()) {
        let in_vain = beginning::in_vain().map(|what| format!("; {what}")).unwrap_or_default();
        recorder::warn(format_args!(
            "{reason}, so each rank that does writes a profile of its own, as {}{in_vain}{advice}",
            path.display()
        ));
    }
    if let Err(error) = write_one_rank(rank, ranks, measured, plan, reason) {
        let recoverable = recorder::recoverable();
        recorder::warn(format_args!(
            "the profile {} was not written: {error}{recoverable}",
            path.display()
        ));
    }
}
