//! The table of threads without an arena, in memory that children made by `fork` find empty: the
//! events are not theirs.

use std::ffi::c_void;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

use crate::record::site::Site;
use crate::sys::{Room, SampleRing, ThreadEnd, own_cpu_ns, pages, thread_number};

/// The most workers at a time. Further ones are counted as threads that are not sampled.
const WORKERS_MAX: usize = 1024;
/// For each worker, the least ticks between two looks at all of them: a look takes a few ns.
const TICKS_OF_A_WORKER: u64 = 500;
/// How often a thread that begins to record looks whether its samples are free.
const LOOKS_MAX: u32 = 10_000;

/// The states of an entry. Memory of the system is zeroed.
const FREE: u32 = 0;
pub(super) const TAKEN: u32 = 1;
/// The thread has ended. Who takes its samples frees the entry.
pub(super) const ENDED: u32 = 2;
/// The thread is not sampled, and not counted yet.
pub(super) const REFUSED: u32 = 3;
/// The thread records, and takes its samples itself.
pub(super) const RECORDS: u32 = 4;

/// A thread without an arena.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) state: AtomicU32,
    /// The number of the thread; 0 until it has begun.
    thread: AtomicU32,
    /// The address of the arena of the thread that has made it; 0 if that has none.
    pub(super) maker: AtomicUsize,
    /// The memory with its samples, 0 if there is none or it is in use, and its sizes.
    samples: AtomicUsize,
    sizes: AtomicU64,
    pub(super) period_ns: AtomicU64,
    /// The thread's processor time when its samples began; when it has ended, what it worked after
    /// the last one. In ns.
    cpu_ns: AtomicU64,
    pub(super) start: AtomicUsize,
    pub(super) argument: AtomicPtr<c_void>,
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

/// All workers.
#[derive(Debug)]
pub(super) struct Workers {
    /// One more than the index of the last entry that was ever taken.
    end: AtomicUsize,
    /// The number of entries that are taken.
    pub(super) taken: AtomicUsize,
    /// Set while a thread that exists already becomes a worker, or begins to record.
    is_deciding: AtomicBool,
    /// The ticks at which they are looked at again.
    next_look: AtomicU64,
    /// The time that ended threads have worked after their last samples, modulo a period, in ns.
    ended_ns: AtomicU64,
    all: [Worker; WORKERS_MAX],
}

/// Calls for a worker that ends.
pub(super) static THREAD_END: ThreadEnd = ThreadEnd::new();
static WORKERS: AtomicPtr<Workers> = AtomicPtr::new(ptr::null_mut());

pub(super) fn workers() -> Option<&'static Workers> {
    // SAFETY: null, or memory of the system for this type, of which zeros are a value, and which
    // stays.
    unsafe { WORKERS.load(Acquire).as_ref() }
}

/// Makes the table, unless there is no memory for it.
pub(super) fn make() {
    if let Some(place) = pages(size_of::<Workers>(), true) {
        WORKERS.store(place.as_ptr().cast(), Release);
    }
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

impl Worker {
    /// Begins to sample the calling thread.
    pub(super) fn begin(&'static self) {
        let ring = SampleRing::of_this_thread(self.period_ns.load(Relaxed)).ok();
        self.thread.store(thread_number(), Relaxed);
        let Some(ring) = ring.filter(|_| THREAD_END.call_for_this_thread(self)) else {
            return self.state.store(REFUSED, Release);
        };
        self.cpu_ns.store(own_cpu_ns().unwrap_or(u64::MAX), Relaxed);
        self.give(ring);
    }

    /// Notes what the calling thread, which ends, has worked after its last sample.
    pub(super) fn note_rest(&self) {
        let worked_ns = own_cpu_ns().unwrap_or(0).saturating_sub(self.cpu_ns.load(Relaxed));
        self.cpu_ns.store(worked_ns % self.period_ns.load(Relaxed).max(1), Relaxed);
    }

    pub(super) fn give(&self, ring: SampleRing) {
        let (base, sizes) = ring.into_words();
        self.sizes.store(sizes, Relaxed);
        self.samples.store(base, Release);
    }

    pub(super) fn site(&self) -> Option<&'static Site> {
        // SAFETY: null, or a region of `new_site`, which stays.
        unsafe { self.site.load(Acquire).as_ref() }
    }

    /// Takes the memory with the samples, if there is some and nobody has it. It has to be put back
    /// or dropped.
    pub(super) fn take(&self) -> Option<ManuallyDrop<SampleRing>> {
        let base = self.samples.swap(0, Acquire);
        // SAFETY: the words are of `begin`, and nobody else has them now.
        unsafe { SampleRing::from_words(base, self.sizes.load(Relaxed)) }.map(ManuallyDrop::new)
    }

    /// Takes the samples from whoever has them, which is not for long.
    pub(super) fn take_soon(&self) -> Option<SampleRing> {
        (0..LOOKS_MAX).find_map(|_| {
            let ring = self.take();
            if ring.is_none() {
                std::thread::yield_now();
            }
            ring.map(ManuallyDrop::into_inner)
        })
    }

    /// Returns whether the thread existed before it was a worker: we do not see its end.
    pub(super) fn is_adopted(&self) -> bool {
        self.start.load(Relaxed) == 0
    }

    pub(super) fn put_back(&self, ring: ManuallyDrop<SampleRing>) {
        let (base, _) = ManuallyDrop::into_inner(ring).into_words();
        self.samples.store(base, Release);
    }

    pub(super) fn free(&self) {
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
    pub(super) fn is_of(&self, arena: usize) -> bool {
        let maker = self.maker.load(Relaxed);
        maker == 0 || maker == arena
    }
}

impl Workers {
    pub(super) fn of(&'static self, arena: usize) -> impl Iterator<Item = &'static Worker> {
        let has_samples = |worker: &&Worker| !matches!(worker.state.load(Acquire), FREE | RECORDS);
        self.ever_taken().filter(has_samples).filter(move |worker| worker.is_of(arena))
    }

    pub(super) fn ever_taken(&'static self) -> impl Iterator<Item = &'static Worker> {
        self.all[..self.end.load(Acquire).min(WORKERS_MAX)].iter()
    }

    /// Returns the entry of a thread that was not seen to end.
    pub(super) fn of_thread(&'static self, thread: u32) -> Option<&'static Worker> {
        self.ever_taken().find(|worker| {
            worker.thread.load(Relaxed) == thread
                && matches!(worker.state.load(Acquire), TAKEN | REFUSED | RECORDS)
        })
    }

    /// Takes a free entry; `None` if there is none.
    pub(super) fn claim(
        &'static self,
        state: u32,
        thread: u32,
        maker: usize,
    ) -> Option<&'static Worker> {
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
    pub(super) fn alone<T>(&'static self, decide: impl FnOnce() -> T) -> Option<T> {
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
    pub(super) fn periods_after(&self, worker: &Worker) -> u64 {
        let period_ns = worker.period_ns.load(Relaxed).max(1);
        let rest_ns = worker.cpu_ns.load(Relaxed) % period_ns;
        let with_rest = |all_ns: u64| Some((all_ns + rest_ns) % period_ns);
        let before = self.ended_ns.fetch_update(Relaxed, Relaxed, with_rest);
        (before.unwrap_or(0) + rest_ns) / period_ns
    }

    /// Returns whether it is time to look at the workers at these ticks: looks take at most a
    /// hundredth of the thread's time.
    pub(super) fn is_time(&self, ticks: u64) -> bool {
        if ticks < self.next_look.load(Relaxed) {
            return false;
        }
        let until = self.taken.load(Relaxed) as u64 * TICKS_OF_A_WORKER;
        self.next_look.store(ticks.saturating_add(until), Relaxed);
        true
    }
}
