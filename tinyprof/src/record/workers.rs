//! Threads that may never record anything, such as those of OpenMP: their samples are those of the
//! thread that has made them, in the region that it is in.
//!
//! Such a thread has no arena. It is sampled from its begin on, and the thread that has made it
//! takes its samples with its own, where it opens or closes a region: what a worker does meanwhile
//! is done for that region. A thread that begins to record takes its samples along.
//!
//! A thread that was made before, or that was not announced, is adopted when it is found: from then
//! on it is sampled. One thread at a time decides that another one is adopted, or itself records,
//! so that none is sampled twice.
//!
//! The table is in memory that children made by `fork` find empty: the events are not theirs.

use std::ffi::c_void;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

use super::site::Site;
use crate::sys::{NotSampled, Room, SampleRing, ThreadEnd, own_cpu_ns, pages, thread_number};

/// The most workers at a time. Further ones are counted as threads that are not sampled.
const WORKERS_MAX: usize = 1024;
/// For each worker, the least ticks between two looks at all of them: a look takes a few ns.
const TICKS_OF_A_WORKER: u64 = 500;
/// How often a thread that begins to record looks whether its samples are free.
const LOOKS_MAX: u32 = 10_000;

/// The states of an entry. Memory of the system is zeroed.
const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// The thread has ended. Who takes its samples frees the entry.
const ENDED: u32 = 2;
/// The thread is not sampled, and not counted yet.
const REFUSED: u32 = 3;
/// The thread records, and takes its samples itself.
const RECORDS: u32 = 4;

/// The function that a thread begins with. The thread may be ended from outside while it is there.
pub type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// A thread without an arena.
#[derive(Debug)]
struct Worker {
    state: AtomicU32,
    /// The number of the thread; 0 until it has begun.
    thread: AtomicU32,
    /// The address of the arena of the thread that has made it; 0 if that has none.
    maker: AtomicUsize,
    /// The memory with its samples, 0 if there is none or it is in use, and its sizes.
    samples: AtomicUsize,
    sizes: AtomicU64,
    period_ns: AtomicU64,
    /// The thread's processor time when its samples began; when it has ended, what it worked after
    /// the last one. In ns.
    cpu_ns: AtomicU64,
    start: AtomicUsize,
    argument: AtomicPtr<c_void>,
    /// The region that counts its samples; null if there was no memory. Threads that take one
    /// another's place have the same.
    site: AtomicPtr<Site>,
}

/// A page with everything that the region of a worker needs.
struct Page {
    name: [u8; NAME_BYTES],
    site: OnceLock<Site>,
}

/// The longest name of a worker: `[worker 1023]`.
const NAME_BYTES: usize = 16;

/// What is not in the samples of workers.
#[derive(Debug)]
pub(super) enum NotTaken {
    /// A thread is not sampled.
    Refused,
    /// Threads that have ended, the last of them one with this region, have worked for a period
    /// after their last samples, together.
    Ended(&'static Site),
}

/// All workers.
#[derive(Debug)]
struct Workers {
    /// One more than the index of the last entry that was ever taken.
    end: AtomicUsize,
    /// The number of entries that are taken.
    taken: AtomicUsize,
    /// Set while a thread that exists already becomes a worker, or begins to record.
    is_deciding: AtomicBool,
    /// The ticks at which they are looked at again.
    next_look: AtomicU64,
    /// What those that have ended worked after their last samples, less than a period, in ns.
    ended_ns: AtomicU64,
    all: [Worker; WORKERS_MAX],
}

static WORKERS: AtomicPtr<Workers> = AtomicPtr::new(ptr::null_mut());
static THREAD_END: ThreadEnd = ThreadEnd::new();
/// Set if all threads that are made are announced.
static ARE_ANNOUNCED: AtomicBool = AtomicBool::new(false);

fn workers() -> Option<&'static Workers> {
    // SAFETY: null, or memory of the system for this type, of which zeros are a value, and which
    // stays.
    unsafe { WORKERS.load(Acquire).as_ref() }
}

/// Makes threads that begin from now on be workers.
pub(super) fn install() {
    THREAD_END.handle(end);
    if let Some(place) = pages(size_of::<Workers>(), true) {
        WORKERS.store(place.as_ptr().cast(), Release);
    }
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

/// Returns the region of the worker with this index; null if there is no memory.
fn new_site(index: usize) -> *mut Site {
    let mut page = Page { name: [0; NAME_BYTES], site: OnceLock::new() };
    let mut rest = &mut page.name[..];
    // It fits: there are fewer than 10,000.
    if write!(rest, "[worker {index}]").is_err() {
        return ptr::null_mut();
    }
    let length = NAME_BYTES - rest.len();
    let Some(room) = Room::new() else { return ptr::null_mut() };
    let page: &'static Page = room.fill(page);
    let name = str::from_utf8(&page.name[..length]).unwrap_or_default();
    ptr::from_ref(page.site.get_or_init(|| Site::of_workers(name))).cast_mut()
}

/// Begins a worker. Nothing here needs to be dropped when the thread is ended from outside.
unsafe extern "C-unwind" fn run(worker: *mut c_void) -> *mut c_void {
    // SAFETY: `NewWorker::start` has passed an entry of the table, which stays.
    let worker = unsafe { &*worker.cast::<Worker>() };
    let start = worker.start.load(Relaxed);
    let argument = worker.argument.load(Relaxed);
    worker.begin();
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

impl Worker {
    /// Begins to sample the calling thread.
    fn begin(&'static self) {
        let ring = SampleRing::of_this_thread(self.period_ns.load(Relaxed)).ok();
        self.thread.store(thread_number(), Relaxed);
        let Some(ring) = ring.filter(|_| THREAD_END.call_for_this_thread(self)) else {
            return self.state.store(REFUSED, Release);
        };
        self.cpu_ns.store(own_cpu_ns().unwrap_or(u64::MAX), Relaxed);
        self.give(ring);
    }

    /// Notes what the calling thread, which ends, has worked after its last sample.
    fn note_rest(&self) {
        let worked_ns = own_cpu_ns().unwrap_or(0).saturating_sub(self.cpu_ns.load(Relaxed));
        self.cpu_ns.store(worked_ns % self.period_ns.load(Relaxed).max(1), Relaxed);
    }

    fn give(&self, ring: SampleRing) {
        let (base, sizes) = ring.into_words();
        self.sizes.store(sizes, Relaxed);
        self.samples.store(base, Release);
    }

    fn site(&self) -> Option<&'static Site> {
        // SAFETY: null, or a region of `new_site`, which stays.
        unsafe { self.site.load(Acquire).as_ref() }
    }

    /// Takes the memory with the samples, if there is some and nobody has it. It has to be put back
    /// or dropped.
    fn take(&self) -> Option<ManuallyDrop<SampleRing>> {
        let base = self.samples.swap(0, Acquire);
        // SAFETY: the words are of `begin`, and nobody else has them now.
        unsafe { SampleRing::from_words(base, self.sizes.load(Relaxed)) }.map(ManuallyDrop::new)
    }

    /// Takes the samples from whoever has them, which is not for long.
    fn take_soon(&self) -> Option<SampleRing> {
        (0..LOOKS_MAX).find_map(|_| {
            let ring = self.take();
            if ring.is_none() {
                std::thread::yield_now();
            }
            ring.map(ManuallyDrop::into_inner)
        })
    }

    /// Returns whether the thread existed before it was a worker: we do not see its end.
    fn is_adopted(&self) -> bool {
        self.start.load(Relaxed) == 0
    }

    fn put_back(&self, ring: ManuallyDrop<SampleRing>) {
        let (base, _) = ManuallyDrop::into_inner(ring).into_words();
        self.samples.store(base, Release);
    }

    fn free(&self) {
        if let Some(workers) = workers()
            && self.state.load(Relaxed) != RECORDS
        {
            workers.taken.fetch_sub(1, Relaxed);
        }
        self.thread.store(0, Relaxed);
        self.state.store(FREE, Release);
    }

    /// Returns whether the thread of an arena takes the samples: the one that has made the worker,
    /// or any if that has ended or never recorded.
    fn is_of(&self, arena: usize) -> bool {
        let maker = self.maker.load(Relaxed);
        maker == 0 || maker == arena
    }
}

impl Workers {
    fn of(&'static self, arena: usize) -> impl Iterator<Item = &'static Worker> {
        let has_samples = |worker: &&Worker| !matches!(worker.state.load(Acquire), FREE | RECORDS);
        self.ever_taken().filter(has_samples).filter(move |worker| worker.is_of(arena))
    }

    fn ever_taken(&'static self) -> impl Iterator<Item = &'static Worker> {
        self.all[..self.end.load(Acquire).min(WORKERS_MAX)].iter()
    }

    /// Returns the entry of a thread that was not seen to end.
    fn of_thread(&'static self, thread: u32) -> Option<&'static Worker> {
        self.ever_taken().find(|worker| {
            worker.thread.load(Relaxed) == thread
                && matches!(worker.state.load(Acquire), TAKEN | REFUSED | RECORDS)
        })
    }

    /// Takes a free entry; `None` if there is none.
    fn claim(&'static self, state: u32, thread: u32, maker: usize) -> Option<&'static Worker> {
        let take =
            |worker: &Worker| worker.state.compare_exchange(FREE, state, Acquire, Relaxed).is_ok();
        let index = self.all.iter().position(take)?;
        let worker = &self.all[index];
        worker.thread.store(thread, Relaxed);
        worker.maker.store(maker, Relaxed);
        if state != RECORDS {
            if worker.site().is_none() {
                worker.site.store(new_site(index), Release);
            }
            self.taken.fetch_add(1, Relaxed);
        }
        self.end.fetch_max(index + 1, AcqRel);
        Some(worker)
    }

    /// Calls `decide` while no other thread does; `None` if one does for long.
    fn alone<T>(&'static self, decide: impl FnOnce() -> T) -> Option<T> {
        let is_free = || self.is_deciding.compare_exchange(false, true, Acquire, Relaxed).is_ok();
        let begun = (0..LOOKS_MAX).any(|look| {
            if look > 0 {
                std::thread::yield_now();
            }
            is_free()
        });
        begun.then(|| {
            let done = decide();
            self.is_deciding.store(false, Release);
            done
        })
    }

    /// Returns how many samples what threads have worked after their last ones makes, with that of
    /// one that has ended now.
    fn periods_after(&self, worker: &Worker) -> u64 {
        let period_ns = worker.period_ns.load(Relaxed).max(1);
        let rest_ns = worker.cpu_ns.load(Relaxed) % period_ns;
        let with_rest = |all_ns: u64| Some((all_ns + rest_ns) % period_ns);
        let before = self.ended_ns.fetch_update(Relaxed, Relaxed, with_rest);
        (before.unwrap_or(0) + rest_ns) / period_ns
    }

    /// Returns whether it is time to look at the workers at these ticks: looks take at most a
    /// hundredth of the thread's time.
    fn is_time(&self, ticks: u64) -> bool {
        if ticks < self.next_look.load(Relaxed) {
            return false;
        }
        let until = self.taken.load(Relaxed) as u64 * TICKS_OF_A_WORKER;
        self.next_look.store(ticks.saturating_add(until), Relaxed);
        true
    }
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

/// Has a thread that exists already be a worker, made by the thread of an arena (its address, 0 if
/// it is not known), unless it is one or records. Returns false if there can be no further ones.
pub(super) fn adopt(thread: u32, maker: usize, period_ns: u64) -> bool {
    let Some(workers) = workers() else { return false };
    let adopted = workers.alone(|| {
        if workers.of_thread(thread).is_some() {
            return true;
        }
        let Some(worker) = workers.claim(TAKEN, thread, maker) else { return false };
        worker.start.store(0, Relaxed);
        match SampleRing::of_thread(thread, period_ns) {
            Ok(ring) => worker.give(ring),
            // It has ended already.
            Err(NotSampled::Event(libc::ESRCH)) => worker.free(),
            Err(_) => worker.state.store(REFUSED, Release),
        }
        true
    });
    adopted.unwrap_or(true)
}

/// Begins the recording of the calling thread, which is no worker from now on. Returns its samples
/// if it was one: none if they cannot be had.
pub(super) fn begin_recording() -> Option<Option<SampleRing>> {
    let workers = workers()?;
    let thread = thread_number();
    let left = leave();
    let decided = workers.alone(|| {
        let adopted = workers.of_thread(thread).filter(|_| left.is_none() && thread != 0);
        let samples = adopted.map(|worker| {
            let ring = worker.take().map(ManuallyDrop::into_inner);
            // A thread that is taking its samples puts them back.
            let ring = ring.or_else(|| worker.take_soon());
            match ring {
                Some(_) => worker.free(),
                None => worker.state.store(ENDED, Release),
            }
            ring
        });
        // So that nobody adopts it.
        if thread != 0 {
            workers.claim(RECORDS, thread, 0);
        }
        samples
    });
    left.or(decided.flatten())
}

/// Ends the recording of the calling thread.
pub(super) fn end_recording() {
    let thread = thread_number();
    let own = workers().and_then(|workers| workers.of_thread(thread));
    if let Some(own) = own.filter(|own| own.state.load(Relaxed) == RECORDS) {
        own.free();
    }
}

/// Returns the samples of the calling thread if it was made as a worker: none if they cannot be
/// had.
fn leave() -> Option<Option<SampleRing>> {
    let worker = ptr::with_exposed_provenance::<Worker>(THREAD_END.take_of_this_thread()?.addr());
    // SAFETY: `begin` has passed an entry of the table, which stays.
    let worker = unsafe { worker.as_ref() }?;
    if worker.state.load(Acquire) != TAKEN {
        // It was a worker of the process that has made this one by `fork`.
        return None;
    }
    let ring = worker.take_soon();
    match ring {
        Some(_) => worker.free(),
        // Its samples stay with the one that has made it.
        None => worker.state.store(ENDED, Release),
    }
    Some(ring)
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
