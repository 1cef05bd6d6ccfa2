//! Threads that may never record anything, such as those of OpenMP: their samples are those of the
//! thread that has made them, in the region that it is in.
//!
//! Such a thread has no arena. It is sampled from its begin on, and the thread that has made it
//! takes its samples with its own, where it opens or closes a region: what a worker does meanwhile
//! is done for that region. A thread that begins to record takes its samples along.
//!
//! A thread that was made before, or that was not announced, is adopted when it is found: from then
//! on it is sampled.

mod deciding;
mod table;

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::site::Site;
use crate::sys::{SampleRing, undisturbed};
use table::{ENDED, REFUSED, TAKEN, THREAD_END, Worker, Workers, workers};

pub(super) use deciding::{adopt, begin_recording, end_recording};

/// The function that a thread begins with. The thread may be ended from outside while it is there.
pub type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// What is not in the samples of workers.
#[derive(Debug)]
pub(super) enum NotTaken {
    /// A thread is not sampled.
    Refused,
    /// Threads that have ended, the last of them one with this region, have worked for a period
    /// after their last samples, together.
    Ended(&'static Site),
}

/// Set if all threads that are made are announced.
static ARE_ANNOUNCED: AtomicBool = AtomicBool::new(false);

/// Makes threads that begin from now on be workers.
pub(super) fn install() {
    THREAD_END.handle(end);
    table::make();
}

/// Promises that `new` is called for each thread of the program that is made after its recording
/// has begun.
pub fn announce_threads() {
    ARE_ANNOUNCED.store(true, Relaxed);
}

/// Returns whether all threads that are made are announced.
pub(super) fn are_announced() -> bool {
    ARE_ANNOUNCED.load(Relaxed)
}

/// A thread that is about to begin.
#[derive(Debug)]
pub struct NewWorker(&'static Worker);

impl NewWorker {
    /// Returns what the thread begins with, and its argument, in place of those of the program.
    #[must_use]
    pub fn start(&self) -> (Start, *mut c_void) {
        (run, ptr::from_ref(self.0).cast_mut().cast())
    }

    /// Forgets the thread, which was not made.
    pub fn forget(self) {
        self.0.free();
    }
}

/// Returns whether there can be workers.
pub(super) fn are_there() -> bool {
    workers().is_some()
}

/// Takes an entry for a thread that is about to begin, made by the thread of an arena (its address,
/// 0 if that has none); `None` if there is none left.
pub(super) fn new(
    maker: usize,
    period_ns: u64,
    start: Start,
    argument: *mut c_void,
) -> Option<NewWorker> {
    let worker = workers()?.claim(TAKEN, 0, maker)?;
    worker.period_ns.store(period_ns, Relaxed);
    worker.start.store(start as usize, Relaxed);
    worker.argument.store(argument, Relaxed);
    Some(NewWorker(worker))
}

/// Begins a worker. Nothing here needs to be dropped when the thread is ended from outside.
unsafe extern "C-unwind" fn run(worker: *mut c_void) -> *mut c_void {
    // SAFETY: `NewWorker::start` has passed an entry of the table, which stays.
    let worker = unsafe { &*worker.cast::<Worker>() };
    let start = worker.start.load(Relaxed);
    let argument = worker.argument.load(Relaxed);
    undisturbed(|| worker.begin());
    // SAFETY: the number of a function of this type.
    let start = unsafe { std::mem::transmute::<usize, Start>(start) };
    // SAFETY: what the program wants its thread to do.
    unsafe { start(argument) }
}

unsafe extern "C" fn end(worker: *mut c_void) {
    // SAFETY: `begin` has passed an entry of the table, which stays.
    let worker = unsafe { &*worker.cast::<Worker>() };
    worker.note_rest();
    worker.state.store(ENDED, Release);
}

/// Passes the samples of the workers of the thread of an arena to `each`, with the region that
/// counts those of a worker; if it is not `at_once`, only now and then. `tell` hears of the rest.
/// Owner only.
#[inline]
pub(super) fn take(
    arena: usize,
    at_once: bool,
    ticks: impl FnOnce() -> u64,
    each: impl FnMut(&SampleRing, Option<&'static Site>),
    tell: impl FnMut(NotTaken),
) {
    let Some(workers) = workers() else { return };
    if workers.taken.load(Relaxed) != 0 && (at_once || workers.is_time(ticks())) {
        take_of(workers, arena, each, tell);
    }
}

#[inline(never)]
fn take_of(
    workers: &'static Workers,
    arena: usize,
    mut each: impl FnMut(&SampleRing, Option<&'static Site>),
    mut tell: impl FnMut(NotTaken),
) {
    for worker in workers.of(arena) {
        if worker.state.compare_exchange(REFUSED, TAKEN, AcqRel, Relaxed).is_ok() {
            tell(NotTaken::Refused);
            worker.free();
            continue;
        }
        let Some(ring) = worker.take() else { continue };
        // Read before the samples are taken: a thread that has ended leaves no further ones. Nobody
        // else frees the entry meanwhile.
        let was_seen = worker.state.load(Acquire) == ENDED;
        let has_ended = was_seen || (worker.is_adopted() && ring.has_ended());
        if ring.has_more() {
            each(&ring, worker.site());
        }
        if was_seen && let Some(site) = worker.site() {
            (0..workers.periods_after(worker)).for_each(|_| tell(NotTaken::Ended(site)));
        }
        if has_ended {
            drop(ManuallyDrop::into_inner(ring));
            worker.free();
        } else {
            worker.put_back(ring);
        }
    }
}

/// Leaves the workers of a thread that ends, and its arena, to whoever opens or closes a region.
pub(super) fn leave_workers_of(arena: usize) {
    let Some(workers) = workers() else { return };
    for worker in workers.of(arena) {
        worker.maker.store(0, Relaxed);
    }
}

/// The samples of the workers of a thread, which are not taken while this exists.
#[derive(Debug, Default)]
pub(super) struct HeldWorkers {
    held: Vec<(&'static Worker, ManuallyDrop<SampleRing>)>,
}

impl HeldWorkers {
    /// Holds the samples of the workers of the thread of an arena. Any thread.
    pub(super) fn of(arena: usize) -> Self {
        let held = workers().map(|workers| {
            let held = workers.of(arena).filter_map(|worker| Some((worker, worker.take()?)));
            held.collect()
        });
        Self { held: held.unwrap_or_default() }
    }

    /// Returns the number of samples.
    pub(super) fn number(&self) -> u64 {
        self.held.iter().map(|(_, ring)| ring.waiting()).sum()
    }
}

impl Drop for HeldWorkers {
    fn drop(&mut self) {
        self.held.drain(..).for_each(|(worker, ring)| worker.put_back(ring));
    }
}
