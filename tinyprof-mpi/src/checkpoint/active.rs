//! The checkpoints of this thread, to which MPI belongs: the recorder's call at each boundary, and
//! the operations of the run.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use mpi::Threading;
use mpi::topology::Communicator as Program;
use tinyprof::collect::{self, monotonic_ns};
use tinyprof_format::model::RunState;

use super::agreement::Agreement;
use super::checkpointer::{AgreedWriting, Checkpointer};
use super::maxima::MpiMaxima;
use super::pace::Pace;
use crate::communicator::{Communicator, MpiCommunicator, run_to_end};
use crate::error::FlushError;
use crate::phases::Workplace;
use crate::settings::Settings;

thread_local! {
    static HOT: Hot = const { Hot { boundary: Cell::new(0), look_ns: Cell::new(u64::MAX), look_at: Cell::new(u64::MAX) } };
    // Never dropped at the end of the thread, when MPI may be gone.
    static INSTALLED: ActiveSlot = const { RefCell::new(None) };
    /// The checkpoints that began with MPI and made way for a profiler of the program.
    static RETIRED: ActiveSlot = const { RefCell::new(None) };
}

type ActiveSlot = RefCell<Option<ManuallyDrop<Checkpointer>>>;

/// The values that a boundary reads when nothing is due.
struct Hot {
    /// The number of boundaries of this thread so far.
    boundary: Cell<u64>,
    /// The time and the boundary from which on an action may be due.
    look_ns: Cell<u64>,
    look_at: Cell<u64>,
}

/// Handles a boundary. Called by the recorder.
fn at_boundary() {
    // None of this allocates, because a region of the program's allocator may be ending here.
    HOT.with(|hot| {
        let boundary = hot.boundary.get() + 1;
        hot.boundary.set(boundary);
        if boundary >= hot.look_at.get() || monotonic_ns() >= hot.look_ns.get() {
            look(hot, boundary);
        }
    });
}

#[cold]
#[inline(never)]
fn look(hot: &Hot, boundary: u64) {
    // Regions of an allocator or of a signal handler that end meanwhile are not recorded and do not
    // count as boundaries.
    let looked = collect::unrecorded(|| {
        catch_unwind(AssertUnwindSafe(|| {
            with(&INSTALLED, |installed| match installed {
                Some(checkpointer) if !checkpointer.is_of_another_process() => {
                    checkpointer.at_boundary(boundary)
                }
                _ => (u64::MAX, u64::MAX),
            })
        }))
    });
    let (look_ns, look_at) = match looked {
        Ok(Some(next)) => next,
        Ok(None) => return,
        Err(_) => {
            collect::warn("an internal error: there are no more checkpoints; please report it");
            (u64::MAX, u64::MAX)
        }
    };
    hot.look_ns.set(look_ns);
    hot.look_at.set(look_at);
}

/// Uses a place, unless it is in use.
fn with<T>(
    place: &'static std::thread::LocalKey<ActiveSlot>,
    use_it: impl FnOnce(Option<&mut Checkpointer>) -> T,
) -> Option<T> {
    place.with(|place| Some(use_it(place.try_borrow_mut().ok()?.as_deref_mut())))
}

fn boundary() -> u64 {
    HOT.with(|hot| hot.boundary.get())
}

/// Begins the checkpoints of `program`'s ranks, if rank 0 has an interval. Collective over
/// `program`.
///
/// `communicator` is our own, with the same ranks.
pub(crate) fn begin(program: &impl Program, communicator: &MpiCommunicator, settings: &Settings) {
    let interval_ns = if communicator.rank() == 0 { settings.checkpoint_interval_ns() } else { 0 };
    let agreed = run_to_end(communicator.all_max(&[interval_ns, obstacle()]));
    let Ok(&[interval_ns, obstacle]) = agreed.as_deref() else { return };
    if interval_ns > 0 && obstacle == SERIALISED && communicator.rank() == 0 {
        collect::warn(
            "no checkpoints are written: MPI was initialised with MPI_THREAD_SERIALIZED, where the profiler cannot \
             know when it may call MPI; ask for MPI_THREAD_FUNNELED or MPI_THREAD_MULTIPLE",
        );
    }
    if interval_ns == 0 || obstacle > 0 {
        return;
    }
    let agreed = AgreedWriting {
        communicator: MpiCommunicator::duplicate_of(program),
        agreement: Agreement::new(MpiMaxima::over(program)),
        pace: Pace::new(interval_ns, boundary()),
    };
    let checkpointer = Checkpointer::new(communicator, settings, Some(agreed));
    INSTALLED.set(Some(ManuallyDrop::new(checkpointer)));
    HOT.with(|hot| {
        hot.look_at.set(u64::MAX);
        hot.look_ns.set(monotonic_ns().saturating_add(interval_ns));
    });
    // A rank that records nothing has no boundaries: it settles with the others.
    let _ = collect::watch_boundaries(at_boundary);
}

/// Returns the reason why a rank cannot take part, as a number.
fn obstacle() -> u64 {
    if !collect::ENABLED || !collect::config().recording {
        return OFF;
    }
    match mpi::environment::threading_support() {
        Threading::Serialized => SERIALISED,
        Threading::Single | Threading::Funneled | Threading::Multiple => 0,
    }
}

const OFF: u64 = 1;
const SERIALISED: u64 = 2;

/// Makes way for a profiler of the program. To be called before the profiler waits for any other
/// rank, as some may wait for us to keep a promise.
pub(crate) fn retire() {
    let Some(mut checkpointer) = take(&INSTALLED) else { return };
    checkpointer.retire(boundary());
    RETIRED.set(Some(checkpointer));
}

fn take(place: &'static std::thread::LocalKey<ActiveSlot>) -> Option<ManuallyDrop<Checkpointer>> {
    place.with(|place| place.try_borrow_mut().ok()?.take())
}

/// Writes a checkpoint now. Collective over `communicator`, which has the same ranks as the
/// checkpoints of this thread.
pub(crate) fn by_hand(
    communicator: &MpiCommunicator,
    settings: &Settings,
) -> Result<Option<PathBuf>, FlushError> {
    collect::unrecorded(|| {
        let mut checkpointer = take(&INSTALLED)
            .unwrap_or_else(|| ManuallyDrop::new(Checkpointer::new(communicator, settings, None)));
        checkpointer.settle(boundary());
        let written = checkpointer.write(communicator, (boundary() > 0).then(boundary));
        if let Some(agreed) = &mut checkpointer.agreed {
            agreed.pace.begin(boundary());
        }
        INSTALLED.set(Some(checkpointer));
        // The next look is later now.
        HOT.with(|hot| hot.look_at.set(0));
        written
    })
}

/// The rest of the checkpoints, when the final profile is about to be written.
pub(crate) struct Closed(Option<Checkpointer>);

impl Closed {
    /// Returns the state that the final profile contains about the checkpoints.
    pub(crate) fn state(&self) -> RunState {
        let checkpoints = self.0.as_ref().map(Checkpointer::times).unwrap_or_default();
        RunState { checkpoints, precision: collect::precision(), ..RunState::default() }
    }

    /// Removes the checkpoints after the final profile has been written.
    pub(crate) fn remove_all(self, workplace: &Workplace) {
        if let Some(checkpointer) = self.0 {
            checkpointer.remove_all(workplace);
        }
    }
}

/// Ends the checkpoints of this thread. Collective over their ranks; MPI must still be initialised.
pub(crate) fn close() -> Closed {
    settle_for_good(&INSTALLED);
    Closed(take(&INSTALLED).map(ManuallyDrop::into_inner))
}

/// Completes everything pending before MPI ends. To be called before this rank waits for any other
/// in another way, as some may wait for it to keep a promise. Collective over the ranks of the
/// checkpoints.
pub(crate) fn settle_all() {
    settle_for_good(&INSTALLED);
    settle_for_good(&RETIRED);
}

fn settle_for_good(place: &'static std::thread::LocalKey<ActiveSlot>) {
    collect::unrecorded(|| {
        with(place, |checkpointer| {
            if let Some(checkpointer) = checkpointer {
                checkpointer.settle_for_good(boundary());
            }
        });
    });
    HOT.with(|hot| {
        hot.look_ns.set(u64::MAX);
        hot.look_at.set(u64::MAX);
    });
}
