//! The checkpoints of this thread, which MPI belongs to: what the recorder calls at each boundary,
//! and what the run does.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use mpi::Threading;
use mpi::topology::Communicator as Program;
use tinyprof::collect::{self, monotonic_ns};
use tinyprof_format::model::RunState;

use super::agreement::Agreement;
use super::checkpointer::{Agreed, Checkpointer};
use super::maxima::MpiMaxima;
use super::pace::Pace;
use crate::FlushError;
use crate::communicator::{Communicator, Rsmpi, run_to_end};
use crate::phases::Workplace;
use crate::settings::Settings;

thread_local! {
    static HOT: Hot = const { Hot { boundary: Cell::new(0), look_ns: Cell::new(u64::MAX), look_at: Cell::new(u64::MAX) } };
    // Never dropped by the end of the thread, at which MPI may be gone.
    static INSTALLED: Place = const { RefCell::new(None) };
    /// What began with MPI and made way for a profiler of the program.
    static RETIRED: Place = const { RefCell::new(None) };
}

type Place = RefCell<Option<ManuallyDrop<Checkpointer>>>;

/// What a boundary looks at where nothing is due.
struct Hot {
    /// The boundaries of this thread so far.
    boundary: Cell<u64>,
    /// The moment and the boundary from which on there may be something to do.
    look_ns: Cell<u64>,
    look_at: Cell<u64>,
}

/// What the recorder calls.
fn at_boundary() {
    // None of this allocates, as a region of the program's allocator may be what ends here.
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
    // Regions of an allocator or of a signal handler that end meanwhile are not recorded, and are
    // no boundaries.
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
    place: &'static std::thread::LocalKey<Place>,
    use_it: impl FnOnce(Option<&mut Checkpointer>) -> T,
) -> Option<T> {
    place.with(|place| Some(use_it(place.try_borrow_mut().ok()?.as_deref_mut())))
}

fn boundary() -> u64 {
    HOT.with(|hot| hot.boundary.get())
}

/// Begins the checkpoints of `program`'s ranks, if rank 0 has an interval. Collective over it.
///
/// `communicator` is ours, of the same ranks.
pub(crate) fn begin(program: &impl Program, communicator: &Rsmpi, settings: &Settings) {
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
    let agreed = Agreed {
        communicator: Rsmpi::duplicate_of(program),
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

/// Why a rank cannot take part.
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

/// Makes way for a profiler of the program, before that waits for any other rank: some may wait for
/// us to keep a promise.
pub(crate) fn retire() {
    let Some(mut checkpointer) = take(&INSTALLED) else { return };
    checkpointer.retire(boundary());
    RETIRED.set(Some(checkpointer));
}

fn take(place: &'static std::thread::LocalKey<Place>) -> Option<ManuallyDrop<Checkpointer>> {
    place.with(|place| place.try_borrow_mut().ok()?.take())
}

/// Writes a checkpoint now. Collective over `communicator`, which has the ranks of the checkpoints
/// of this thread.
pub(crate) fn by_hand(
    communicator: &Rsmpi,
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
        // The time to look is later now.
        HOT.with(|hot| hot.look_at.set(0));
        written
    })
}

/// What is left of the checkpoints when the final profile is about to be written.
pub(crate) struct Closed(Option<Checkpointer>);

impl Closed {
    /// What the final profile says of them.
    pub(crate) fn state(&self) -> RunState {
        let checkpoints = self.0.as_ref().map(Checkpointer::times).unwrap_or_default();
        RunState { checkpoints, precision: collect::precision(), ..RunState::default() }
    }

    /// The final profile is written.
    pub(crate) fn remove_all(self, workplace: &Workplace) {
        if let Some(checkpointer) = self.0 {
            checkpointer.remove_all(workplace);
        }
    }
}

/// Ends the checkpoints of this thread. Collective over their ranks; MPI must still be there.
pub(crate) fn close() -> Closed {
    settle_for_good(&INSTALLED);
    Closed(take(&INSTALLED).map(ManuallyDrop::into_inner))
}

/// MPI ends: leaves nothing pending behind. To be called before this rank waits for any other in
/// another way, as some may wait for it to keep a promise. Collective over the ranks of the
/// checkpoints.
pub(crate) fn settle_all() {
    settle_for_good(&INSTALLED);
    settle_for_good(&RETIRED);
}

fn settle_for_good(place: &'static std::thread::LocalKey<Place>) {
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
