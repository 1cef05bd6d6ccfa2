//! The flush of all ranks of the world when MPI ends.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tinyprof::__mpi as recorder;
use tinyprof_flush::communicator::{Communicator, Interrupted, Interruption};
use tinyprof_flush::phases::{Plan, Workplace};

use super::{
    ATTENDANCE, INTERRUPTED, SETTLED, WORLD, flush, flush_alone, flush_begun, is_on,
    write_alone_after,
};
use crate::attendance::{Attendance, Voice};
use crate::communicator::{MpiCommunicator, duplicate_of_world, max_of_world, run_to_end};
use crate::interim_profile;
use crate::measure::measure;
use crate::settings::Settings;
use crate::sys::{self, PrivateCommunicator, ProgramCommunicator};

/// The longest time that a rank whose own part is settled waits for the others' question.
const COURTESY: Duration = Duration::from_secs(1);

/// What a rank says of itself at the end: it was part of a flush already, or its program may have
/// given the world attributes.
const IS_SETTLED: u64 = 2;
const HAS_ATTRIBUTES: u64 = 1;

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
        (Some(world), _) => flush_on(&MpiCommunicator::on(world.clone()), &settings),
        (None, Some((attendance @ (Attendance::Complete | Attendance::Open), voice))) => {
            flush_together(*attendance, voice, &settings);
        }
        _ => {
            let reason = "not all ranks of the job are known to run TinyProf";
            let advice = "; where all of them do, TINYPROF_WORLD=all, set for all ranks, makes it one profile";
            flush_alone(reason, advice);
        }
    }
}

fn flush_on(world: &MpiCommunicator, settings: &Settings) {
    world.begin_flush(settings.deadline());
    let settled = SETTLED.load(Relaxed);
    let somebody_has = run_to_end(world.all_max(&[u64::from(settled)]));
    if somebody_has.is_ok() {
        tinyprof_pmpi::compare_clocks_again();
    }
    // If ranks are missing, the flush detects it again, without waiting, and writes the data that
    // there is.
    let nobody_has = somebody_has.map_or(!settled, |maximum| maximum == [0]);
    if nobody_has {
        // The failure has been reported; the program continues to finalise.
        drop(flush_begun(world, settings));
    }
    leave_together(world, settings);
    leave_out();
}

/// Lets the ranks of several hosts go on to `MPI_Finalize` at the same moment, although one of them
/// has a report to print. MPICH 4.0 over UCX often hangs there if one rank comes later than
/// another: the first one waits without answering the other.
fn leave_together(world: &MpiCommunicator, settings: &Settings) {
    let is_on_one_host = ATTENDANCE.get().is_some_and(|(_, voice)| voice.is_of_all());
    if is_on_one_host || INTERRUPTED.load(Relaxed) {
        return;
    }
    world.begin_flush(settings.deadline());
    // Who does not come has been reported, or will be by MPI.
    drop(run_to_end(world.all_max(&[0])));
    world.end_flush();
}

fn flush_together(attendance: Attendance, voice: &Voice, settings: &Settings) {
    voice.come();
    let world = ProgramCommunicator::world();
    // MPI may have no room for another communicator.
    match (world.returning_errors(|| assemble(voice, settings)), attendance) {
        (Ok(Some(world)), _) => {
            let world = MpiCommunicator::on(Ok(world));
            // A failure has been reported; the program continues to finalise.
            drop(flush(&world, settings));
            leave_together(&world, settings);
        }
        (Ok(None), _) => {}
        (Err(cause), Attendance::Complete) => flush_apart(cause, voice, settings),
        (Err(Interruption::Late { deadline, .. }), _) => {
            let reason = format!(
                "not all ranks of the job came to its end with TinyProf within {deadline:?} (TINYPROF_DEADLINE)"
            );
            flush_alone(&reason, "");
        }
        (Err(cause), _) => flush_alone(&cause.to_string(), ""),
    }
    leave_out();
}

/// Asks all ranks of the world whether they take part. Returns it as our own communicator if they
/// do and none has been part of a flush.
///
/// It is made here and not when MPI begins, as MPI would give other numbers to the communicators of
/// the program then, and Open MPI 4.1 has errors that depend on them.
///
/// # Errors
/// The reason why it is not known whether all take part.
fn assemble(
    voice: &Voice,
    settings: &Settings,
) -> Result<Option<PrivateCommunicator>, Interruption> {
    let (deadline, settled) = (settings.deadline(), SETTLED.load(Relaxed));
    let missing = |cause| match (voice.absent(), cause) {
        (ranks, Interruption::Late { deadline, .. }) if !ranks.is_empty() => {
            Interruption::Missing { ranks, deadline }
        }
        (_, cause) => cause,
    };
    if settled {
        // A rank that has been part of a flush only asks for the sake of the others.
        let asked = max_of_world(IS_SETTLED, deadline.min(COURTESY));
        return asked.map(|_| None).map_err(missing);
    }
    if voice.is_given_up() {
        return Err(Interruption::Late { call: "MPI_Finalize", deadline });
    }
    let own = if tinyprof_pmpi::may_have_attributes() { HAS_ATTRIBUTES } else { 0 };
    let world = max_of_world(own, deadline).and_then(|greatest| {
        if greatest == IS_SETTLED {
            return Ok(None);
        }
        tinyprof_pmpi::compare_clocks_again();
        duplicate_of_world(greatest == HAS_ATTRIBUTES, deadline).map(Some)
    });
    world.map_err(|cause| {
        let cause = missing(cause);
        voice.give_up();
        cause
    })
}

/// Writes this rank's own profile because ranks of a world that takes part have not come to its
/// end.
fn flush_apart(cause: Interruption, voice: &Voice, settings: &Settings) {
    if SETTLED.swap(true, Relaxed) {
        return;
    }
    let world = ProgramCommunicator::world();
    let of_world = (world.rank(), world.size(), settings.deadline());
    let interrupted = Interrupted { cause, is_reporter: voice.tells() };
    recorder::ending_here(|| {
        recorder::without_write_signals(|| {
            let interim_profiles = interim_profile::close();
            let measured = measure(&Workplace::aside(settings.deadline()));
            let plan = Plan { state: interim_profiles.state(), ..settings.plan(0) };
            // It has been reported.
            drop(write_alone_after(of_world, measured, plan, &interrupted));
        });
    });
}

/// Leaves out a rank for which no profiler was started: that was the program's choice.
fn leave_out() {
    if !SETTLED.swap(true, Relaxed) {
        recorder::discard_segments();
    }
}
