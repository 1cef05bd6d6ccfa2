//! The interim profiles of this thread, to which MPI belongs: the recorder's call at each flush
//! point, and the operations of the run.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use tinyprof::__mpi as recorder;
use tinyprof::collect::{self, monotonic_ns};
use tinyprof_flush::agreement::Agreement;
use tinyprof_flush::agreement::pace::Pace;
use tinyprof_flush::communicator::Communicator;
use tinyprof_flush::phases::Workplace;
use tinyprof_format::model::RunState;

use super::interim_writer::{AgreedWriting, InterimWriter};
use super::maxima::MpiMaxima;
use crate::communicator::{MpiCommunicator, run_to_end};
use crate::error::FlushError;
use crate::settings::Settings;
use crate::sys::{self, ProgramCommunicator};

thread_local! {
    static HOT: Hot = const { Hot { flush_point: Cell::new(0), look_ns: Cell::new(u64::MAX), look_at: Cell::new(u64::MAX) } };
    // Never dropped at the end of the thread, when MPI may be gone.
    static INSTALLED: ActiveSlot = const { RefCell::new(None) };
    /// The interim profiles that began with MPI and made way for a profiler of the program.
    static RETIRED: ActiveSlot = const { RefCell::new(None) };
}

type ActiveSlot = RefCell<Option<ManuallyDrop<InterimWriter>>>;

/// The values that a flush point reads when nothing is due.
struct Hot {
    /// The number of flush points of this thread so far.
    flush_point: Cell<u64>,
    /// The time and the flush point from which on an action may be due.
    look_ns: Cell<u64>,
    look_at: Cell<u64>,
}

/// Handles a flush point. Called by the recorder.
fn at_flush_point() {
    // None of this allocates, because a region of the program's allocator may be ending here.
    HOT.with(|hot| {
        let flush_point = hot.flush_point.get() + 1;
        hot.flush_point.set(flush_point);
        if flush_point >= hot.look_at.get() || monotonic_ns() >= hot.look_ns.get() {
            look(hot, flush_point);
        }
    });
}

#[cold]
#[inline(never)]
fn look(hot: &Hot, flush_point: u64) {
    // Regions of an allocator or of a signal handler that end meanwhile are not recorded and do not
    // count as flush points.
    let looked = recorder::unrecorded(|| {
        let look = || {
            with(&INSTALLED, |installed| match installed {
                Some(interim_writer) if !interim_writer.is_of_another_process() => {
                    interim_writer.at_flush_point(flush_point)
                }
                _ => (u64::MAX, u64::MAX),
            })
        };
        catch_unwind(AssertUnwindSafe(|| recorder::undisturbed(look)))
    });
    recorder::obey_filter();
    let (look_ns, look_at) = match looked {
        Ok(Some(next)) => next,
        Ok(None) => return,
        Err(_) => {
            recorder::warn(
                "an internal error: there are no more interim profiles; please report it",
            );
            (u64::MAX, u64::MAX)
        }
    };
    hot.look_ns.set(look_ns);
    hot.look_at.set(look_at);
}

/// Uses a place, unless it is in use.
fn with<T>(
    place: &'static std::thread::LocalKey<ActiveSlot>,
    use_it: impl FnOnce(Option<&mut InterimWriter>) -> T,
) -> Option<T> {
    place.with(|place| Some(use_it(place.try_borrow_mut().ok()?.as_deref_mut())))
}

fn flush_point() -> u64 {
    HOT.with(|hot| hot.flush_point.get())
}

/// Returns what a rank proposes: the interval of rank 0, and the interval of any rank, in ns, as
/// words whose maxima all ranks are to get.
pub(crate) fn proposal(rank: u32, settings: &Settings) -> [u64; 2] {
    // MPICH 4.0 compares words as signed numbers.
    let own = settings.interim_interval_ns().min(i64::MAX.unsigned_abs());
    [if rank == 0 { own } else { 0 }, own]
}

/// Begins the interim profiles of a profiler of the program, if rank 0 has an interval. Collective
/// over `program`.
///
/// `communicator` is our own, with the same ranks.
pub(crate) fn begin_of_profiler(
    program: ProgramCommunicator,
    communicator: &MpiCommunicator,
    settings: &Settings,
) {
    let [interval_ns, _] = proposal(communicator.rank(), settings);
    let agreed = run_to_end(communicator.all_max(&[interval_ns, obstacle()]));
    let Ok(&[interval_ns, obstacle]) = agreed.as_deref() else { return };
    if interval_ns > 0
        && let Some(why) = begin(program, settings, (interval_ns, obstacle), false)
        && communicator.rank() == 0
    {
        recorder::warn(format_args!("no interim profiles are written: {why}"));
    }
}

/// Begins the interim profiles of `program`'s ranks, which have agreed on an interval above 0 and
/// know the greatest [`obstacle`]. If `has_calls`, blocking collective operations on the world are
/// flush points, too. Collective over `program`, unless it returns the reason why there are none.
pub(crate) fn begin(
    program: ProgramCommunicator,
    settings: &Settings,
    (interval_ns, obstacle): (u64, u64),
    has_calls: bool,
) -> Option<&'static str> {
    match obstacle {
        0 => {}
        SERIALISED => {
            return Some(
                "MPI was initialised with MPI_THREAD_SERIALIZED, where the profiler cannot know when it may call MPI; \
                 ask for MPI_THREAD_FUNNELED or MPI_THREAD_MULTIPLE",
            );
        }
        _ => return Some("recording is off on a rank"),
    }
    let agreed = AgreedWriting {
        communicator: MpiCommunicator::duplicate_of(program),
        agreement: Agreement::new(MpiMaxima::over(program)),
        pace: Pace::new(interval_ns, flush_point()),
    };
    let interim_writer = InterimWriter::new(program.rank(), settings, Some(agreed));
    INSTALLED.set(Some(ManuallyDrop::new(interim_writer)));
    HOT.with(|hot| {
        hot.look_at.set(u64::MAX);
        hot.look_ns.set(monotonic_ns().saturating_add(interval_ns));
    });
    recorder::begin_parts_by(ask_for_part);
    // A rank that records nothing has no flush points: it settles with the others.
    let _ = recorder::watch_flush_points(at_flush_point);
    if has_calls {
        tinyprof_pmpi::watch_collectives(at_flush_point);
    }
    None
}

/// Has this thread look at its next flush point, as a command asks for another part of the run.
/// Returns false if there are no flush points.
fn ask_for_part() -> bool {
    let is_possible = with(&INSTALLED, |installed| {
        installed.is_some_and(|writer| !writer.is_of_another_process() && writer.has_parts())
    });
    let is_possible = is_possible == Some(true);
    if is_possible {
        HOT.with(|hot| hot.look_at.set(0));
    }
    is_possible
}

/// Returns the reason why a rank cannot take part, as a number.
pub(crate) fn obstacle() -> u64 {
    if !collect::ENABLED || !recorder::config().is_recording() {
        return OFF;
    }
    if sys::is_serialised() { SERIALISED } else { 0 }
}

const OFF: u64 = 1;
const SERIALISED: u64 = 2;

/// Makes way for a profiler of the program. To be called before the profiler waits for any other
/// rank, as some may wait for us to keep a promise.
pub(crate) fn retire() {
    let Some(mut interim_writer) = take(&INSTALLED) else { return };
    interim_writer.retire(flush_point());
    RETIRED.set(Some(interim_writer));
}

fn take(place: &'static std::thread::LocalKey<ActiveSlot>) -> Option<ManuallyDrop<InterimWriter>> {
    place.with(|place| place.try_borrow_mut().ok()?.take())
}

/// Writes an interim profile now. Collective over `communicator`, which has the same ranks as the
/// interim profiles of this thread.
pub(crate) fn by_hand(
    communicator: &MpiCommunicator,
    settings: &Settings,
) -> Result<Option<PathBuf>, FlushError> {
    recorder::unrecorded(|| {
        let mut interim_writer = take(&INSTALLED).unwrap_or_else(|| {
            ManuallyDrop::new(InterimWriter::new(communicator.rank(), settings, None))
        });
        interim_writer.settle(flush_point());
        let written = interim_writer.write(communicator, (flush_point() > 0).then(flush_point));
        if let Some(agreed) = &mut interim_writer.agreed {
            agreed.pace.begin(flush_point());
        }
        INSTALLED.set(Some(interim_writer));
        // The next look is later now.
        HOT.with(|hot| hot.look_at.set(0));
        written
    })
}

/// The rest of the interim profiles, when the final profile is about to be written.
pub(crate) struct Closed(Option<InterimWriter>);

impl Closed {
    /// Returns the state that the final profile contains about the interim profiles.
    pub(crate) fn state(&self) -> RunState {
        let interim_profiles = self.0.as_ref().map(InterimWriter::times).unwrap_or_default();
        RunState { interim_profiles, precision: recorder::precision(), ..RunState::default() }
    }

    /// Removes the interim profiles after the final profile has been written.
    pub(crate) fn remove_all(self, workplace: &Workplace) {
        if let Some(interim_writer) = self.0 {
            interim_writer.remove_all(workplace);
        }
    }
}

/// Ends the interim profiles of this thread. Collective over their ranks; MPI must still be
/// initialised.
pub(crate) fn close() -> Closed {
    settle_for_good(&INSTALLED);
    Closed(take(&INSTALLED).map(ManuallyDrop::into_inner))
}

/// Completes everything pending before MPI ends. To be called before this rank waits for any other
/// in another way, as some may wait for it to keep a promise. Collective over the ranks of the
/// interim profiles.
pub(crate) fn settle_all() {
    settle_for_good(&INSTALLED);
    settle_for_good(&RETIRED);
}

fn settle_for_good(place: &'static std::thread::LocalKey<ActiveSlot>) {
    recorder::unrecorded(|| {
        with(place, |interim_writer| {
            if let Some(interim_writer) = interim_writer {
                interim_writer.settle_for_good(flush_point());
            }
        });
    });
    HOT.with(|hot| {
        hot.look_ns.set(u64::MAX);
        hot.look_at.set(u64::MAX);
    });
}
