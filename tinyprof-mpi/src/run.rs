//! The one flush of a run, requested by a [`Profiler`](crate::Profiler), or done at the end of MPI.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tinyprof::__mpi::{self as recorder, config};
use tinyprof::collect::{self, ENABLED, Ending, monotonic_ns};
use tinyprof_format::file::{OutputFiles, OutputFormat, ProfileWriter, profile_path};
use tinyprof_format::model::RunState;
use tinyprof_pmpi::{Agreed, Wish};
use tinyprof_settings::{MessageOrder, MpiLevel};

use crate::attendance::{Attendance, SignedIn, Voice};
use crate::communicator::{
    Communicator, Interrupted, MpiCommunicator, duplicate_of_world, max_of_world, run_to_end,
};
use crate::error::FlushError;
use crate::interim_profile;
use crate::measure::measure;
use crate::phases::{self, Measured, Plan, Workplace};
use crate::settings::Settings;
use crate::sys::{self, PrivateCommunicator, ProgramCommunicator};

/// The longest time that a rank whose own part is settled waits for the others' question.
const COURTESY: Duration = Duration::from_secs(1);

/// True if this rank's part in the profile is settled: it took part in a flush, or was left out of
/// it.
static SETTLED: AtomicBool = AtomicBool::new(false);
/// True if a profiler has been started.
static CLAIMED: AtomicBool = AtomicBool::new(false);
/// True if a flush of this rank was interrupted, which is reported at most once.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The ranks that take part, as found when MPI began.
static ATTENDANCE: OnceLock<(Attendance, Voice)> = OnceLock::new();
/// Our own communicator of the world, if all of its ranks are known to take part when MPI begins.
/// At the end, a rank that never comes would block `MPI_Comm_dup` for ever.
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

/// Tells the other ranks of the job, before MPI begins, that this one has a profiler.
pub(crate) fn sign_in() -> Option<SignedIn> {
    Some(SignedIn::new())
}

/// Begins the recording when MPI has begun, so that the profile is written when MPI ends.
/// Collective over the world only if all of its ranks are known to take part.
///
/// `signed_in` is none if this library's hooks have not been called, and a profiler of the program
/// begins.
pub(crate) fn begin(signed_in: Option<SignedIn>) {
    if !is_on() || !sys::is_usable() {
        return;
    }
    let world = ProgramCommunicator::world();
    let (rank, size) = (world.rank(), world.size());
    let mut is_new = false;
    let (attendance, _) = ATTENDANCE.get_or_init(|| {
        is_new = true;
        signed_in.map_or((Attendance::Incomplete, Voice::default()), |rank_here| {
            rank_here.attendance(rank, size)
        })
    });
    if !is_new {
        return;
    }
    WORLD_RANK.get_or_init(|| world.rank());
    // `tinyprof recover` needs this if the job is killed before it can write its profile.
    recorder::set_rank(rank, size);
    collect::take_over(at_exit);
    // All ranks must have the variable: without it there is nothing to agree on, and `MPI_Init` is
    // not changed.
    let has_interval = Settings::default().interim_interval_ns() > 0;
    match attendance {
        Attendance::Complete => {
            WORLD.get_or_init(PrivateCommunicator::of_world);
            agree_on_messages(rank);
            if has_interval && !CLAIMED.load(Relaxed) {
                interim_profile::begin(
                    world,
                    &MpiCommunicator::duplicate_of(world),
                    &Settings::default(),
                );
            }
        }
        Attendance::Open if has_interval && rank == 0 => recorder::warn(
            "no profiles are written at intervals, unless the program starts a Profiler: whether all ranks of a \
             job on several hosts run TinyProf is known at its end alone; where they do, TINYPROF_WORLD=all, set \
             for all ranks, says so from the beginning",
        ),
        Attendance::Open | Attendance::Incomplete => {}
    }
    if *attendance != Attendance::Complete && rank == 0 && wants_messages() {
        recorder::warn(format_args!(
            "{NO_MESSAGES}: not all ranks are known to run TinyProf; where all of them do, \
             TINYPROF_WORLD=all, set for all ranks, says so",
        ));
    }
}

fn wants_messages() -> bool {
    config().mpi == Some(MpiLevel::Messages)
}

/// The warning where messages cannot be observed; the reason follows.
const NO_MESSAGES: &str = "TINYPROF_MPI=messages has no effect, calls are recorded";
/// The warning where their order cannot be kept; the reason follows.
const NO_ORDER: &str = "TINYPROF_ORDER=enforce has no effect";

/// Agrees with all ranks on whether messages are observed. Collective over the world.
fn agree_on_messages(rank: u32) {
    let order = config().order == Some(MessageOrder::Enforce);
    let wish = Wish { messages: wants_messages(), order };
    let (warning, reason) = match tinyprof_pmpi::agree_on_messages(wish) {
        Agreed::Calls if order => (NO_ORDER, "it needs TINYPROF_MPI=messages"),
        Agreed::Messages { is_without_order: true } => {
            (NO_ORDER, "it needs ranks on one host that share memory")
        }
        Agreed::Calls | Agreed::Messages { .. } => return,
        Agreed::Differing => (NO_MESSAGES, "not all ranks ask for it; set it alike on all ranks"),
        _ => (NO_MESSAGES, "MPI has returned an error"),
    };
    if rank == 0 {
        recorder::warn(format_args!("{warning}: {reason}"));
    }
}

/// Handles the end of the process. If it has not finalised MPI, it cannot communicate any more, so
/// each rank that comes here saves its data under its own name.
fn at_exit() -> Ending {
    if SETTLED.load(Relaxed) {
        return Ending { keep_segments: true, ..Ending::default() };
    }
    let rank = WORLD_RANK.get().copied().unwrap_or_default();
    recorder::warn(
        "the program ended without MPI_Finalize: every rank that could wrote a profile of its own",
    );
    recorder::write_alone(&name_of_rank(&recorder::profile_name(), rank))
}

/// Returns `NAME-rank-R`, the name of a profile that a rank writes alone.
fn name_of_rank(profile: &Path, rank: u32) -> PathBuf {
    let is_ending = profile.extension().is_some_and(|extension| extension == "tprof");
    let mut name =
        if is_ending { profile.with_extension("") } else { profile.to_owned() }.into_os_string();
    name.push(format!("-rank-{rank}"));
    name.into()
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
        Err(interrupted) => {
            return Err(write_alone_after(communicator, measured, plan, &interrupted));
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
        let _ = workplace.run(move || recorder::print_report(&report, path.as_deref()));
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

/// Writes the data of this rank under its own name, after the ranks did not come together.
fn write_alone_after(
    communicator: &MpiCommunicator,
    measured: Measured,
    plan: Plan,
    interrupted: &Interrupted,
) -> FlushError {
    let (rank, ranks) = (communicator.rank(), communicator.size());
    let profile = plan.format.path(&plan.target);
    let own_profile = profile_path(&name_of_rank(&plan.target, rank));
    // The time of the flush was spent waiting for the others.
    let plan = Plan { workplace: Workplace::aside(communicator.deadline()), ..plan };
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
    #[cfg_attr(not(feature = "pmpi"), expect(unused_mut, reason = "no call has a call site"))]
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
        #[cfg(feature = "pmpi")]
        if let Some(named) = tinyprof_symbols::with_names(&map.callpaths) {
            map.callpaths = named;
        }
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
        recorder::warn(format_args!(
            "{reason}, so each rank that does writes a profile of its own, as {}{advice}",
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

/// Flushes all ranks of the program with the settings of the environment, unless a rank has been
/// part of a flush already. Collective over the world; MPI must be initialised and not finalised.
pub(crate) fn flush_at_finalize() {
    // If a profiler has waited for ranks in vain, there is no need to wait for them again.
    if !is_on() || !sys::is_usable() || INTERRUPTED.load(Relaxed) {
        return;
    }
    // The end of the process says so.
    if recorder::is_sandboxed() {
        return;
    }
    interim_profile::settle_all();
    let settings = Settings::default();
    match (WORLD.get(), ATTENDANCE.get()) {
        (Some(world), _) => flush_together(&MpiCommunicator::on(world.clone()), &settings),
        (None, Some((Attendance::Open, _))) => match assemble(&settings) {
            // A failure has already been reported.
            Ok(Some(world)) => drop(flush(&MpiCommunicator::on(Ok(world)), &settings)),
            Ok(None) => leave_out(),
            Err(reason) => flush_alone(&reason, ""),
        },
        (None, _) => {
            let reason = "not all ranks of the job are known to run TinyProf";
            let advice = "; where all of them do, TINYPROF_WORLD=all, set for all ranks, makes it one profile";
            flush_alone(reason, advice);
        }
    }
}

/// Asks all ranks of the world. Returns it as our own communicator if all take part and none has
/// been part of a flush.
///
/// # Errors
/// The reason why it is not known whether all take part.
fn assemble(settings: &Settings) -> Result<Option<PrivateCommunicator>, String> {
    let (deadline, settled) = (settings.deadline(), SETTLED.load(Relaxed));
    // A rank that has been part of a flush only asks for the sake of the others.
    let patience = if settled { deadline.min(COURTESY) } else { deadline };
    let somebody_has = max_of_world(u64::from(settled), patience)? > 0;
    if somebody_has { Ok(None) } else { duplicate_of_world(deadline).map(Some) }
}

fn flush_together(world: &MpiCommunicator, settings: &Settings) {
    world.begin_flush(settings.deadline());
    let settled = SETTLED.load(Relaxed);
    let somebody_has = run_to_end(world.all_max(&[u64::from(settled)]));
    // If ranks are missing, the flush detects it again, without waiting, and writes the data that
    // there is.
    let nobody_has = somebody_has.map_or(!settled, |maximum| maximum == [0]);
    if nobody_has {
        // The failure has been reported; the program continues to finalise.
        drop(flush_begun(world, settings));
    }
    leave_out();
}

/// Leaves out a rank for which no profiler was started: that was the program's choice.
fn leave_out() {
    if !SETTLED.swap(true, Relaxed) {
        recorder::discard_segments();
    }
}
