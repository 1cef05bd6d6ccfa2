//! Samples of the program's own code: a callpath for each place below the region that was open.
//!
//! The kernel samples the thread. Before the thread opens or closes a region, it takes what has
//! come since it did so last: all of that was in the region that is still open. For that, no visit
//! takes a path that is short: each is looked up in the table of all callpaths.

use std::mem::ManuallyDrop;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use tinyprof_format::model::{
    CYCLES, CallpathId, INSTRUCTIONS, KERNEL_SAMPLES, SAMPLES_AT_END, SAMPLES_IN_KERNEL,
    SAMPLES_UNKNOWN, THREADS_NOT_SAMPLED,
};
use tinyprof_segment::words::Line;

use super::super::call_site::sample_site;
use super::super::site::Site;
use super::super::workers::{self, HeldWorkers, NotTaken};
use super::reading::Ids;
use super::{Arena, Entered};
use crate::sys::{Counted, Sample, SampleRing, is_own_thread, other_threads};

/// Cycles and instructions between samples, where the processor counts them.
static CYCLES_OF_SAMPLES: Site = Site::metric(CYCLES);
static INSTRUCTIONS_OF_SAMPLES: Site = Site::metric(INSTRUCTIONS);

/// The samples of a place that the thread was in the kernel for.
static SAMPLES_OF_KERNEL: Site = Site::metric(KERNEL_SAMPLES);

/// The region that counts the samples of workers at a place.
static WORKERS: Site = Site::of_workers("[workers]");

/// How often an ending thread looks whether its samples are free again, while a snapshot counts
/// them.
const LOOKS_MAX: u32 = 10_000;

/// How threads are sampled.
#[derive(Debug)]
struct Sampling {
    period_ns: u64,
    /// The regions of samples whose place is not known, and why.
    unknown: Site,
    in_kernel: Site,
    at_end: Site,
    /// The region that counts threads that are not sampled.
    not_sampled: Site,
    is_allowed: bool,
    /// Threads do not begin as workers by themselves, but are found when they have been made.
    are_threads_found: bool,
}

static SAMPLING: OnceLock<Sampling> = OnceLock::new();

/// Makes threads that begin to record from now on be sampled, each time they have had `period_ns`
/// of processor time; if that is not allowed, they are only counted. `constants` are those of the
/// callpaths of samples.
///
/// Threads that are there already are sampled, too, as workers of whoever looks for samples.
pub(crate) fn install_sampling(
    period_ns: u64,
    constants: &'static [(&'static str, &'static str)],
    is_allowed: bool,
) {
    SAMPLING.get_or_init(|| {
        if is_allowed {
            // Those that are made from now on begin as workers by themselves, or are found.
            let there = other_threads();
            workers::install();
            let mut found = there.into_iter().filter(|&thread| !is_own_thread(thread));
            found.all(|thread| workers::adopt(thread, 0, period_ns));
        }
        Sampling {
            are_threads_found: !workers::are_announced(),
            period_ns,
            unknown: Site::sample(SAMPLES_UNKNOWN, constants),
            in_kernel: Site::sample(SAMPLES_IN_KERNEL, constants),
            at_end: Site::sample(SAMPLES_AT_END, constants),
            not_sampled: Site::sample(THREADS_NOT_SAMPLED, &[]),
            is_allowed,
        }
    });
}

/// Returns whether threads are sampled.
pub(super) fn is_sampling() -> bool {
    SAMPLING.get().is_some_and(|sampling| sampling.is_allowed)
}

/// Samples of a thread that has not taken them yet. It does not take them while this exists.
#[derive(Debug)]
pub(crate) struct HeldSamples<'a> {
    arena: &'a Arena,
    base: usize,
    /// The callpath of the samples, and that of the region that is open.
    pub(crate) id: CallpathId,
    pub(crate) parent: Option<CallpathId>,
    pub(crate) site: &'static Site,
    pub(crate) execution: u32,
    pub(crate) number: u64,
    /// Their samples are in that number.
    _workers: HeldWorkers,
}

impl Drop for HeldSamples<'_> {
    fn drop(&mut self) {
        if self.base != 0 {
            self.arena.hot.samples().store(self.base, Release);
        }
    }
}

impl Arena {
    /// Begins to sample the calling thread, which has just taken over the arena.
    pub(in crate::record) fn begin_samples(&self) {
        let Some(sampling) = SAMPLING.get() else { return };
        // A worker has some already.
        let begin = || SampleRing::of_this_thread(sampling.period_ns).ok();
        let ring = sampling.is_allowed.then(|| workers::begin_recording().unwrap_or_else(begin));
        match ring.flatten() {
            Some(ring) => {
                let (base, sizes) = ring.into_words();
                self.hot.sample_sizes().store(sizes, Relaxed);
                self.hot.samples().store(base, Release);
            }
            None => self.add_not_sampled(sampling),
        }
    }

    /// Ends the sampling of the calling thread, which leaves the arena.
    pub(in crate::record) fn end_samples(&self) {
        let sizes = self.hot.sample_sizes().load(Relaxed);
        if sizes == 0 {
            return;
        }
        self.take_all_samples();
        workers::leave_workers_of(self.address());
        for _ in 0..LOOKS_MAX {
            let base = self.hot.samples().swap(0, Acquire);
            if base != 0 {
                self.hot.sample_sizes().store(0, Relaxed);
                workers::end_recording();
                // SAFETY: the words are of `begin_samples`, and nobody has them any more.
                return drop(unsafe { SampleRing::from_words(base, sizes) });
            }
            std::thread::yield_now();
        }
        // They stay where they are, and so does the memory.
        self.keep_out_visit();
    }

    /// Runs `work`, of which no samples are kept: it is the profiler's own. Owner only.
    pub(crate) fn without_samples(&self, work: impl FnOnce()) {
        self.take_all_samples();
        let (samples, sizes) = (self.hot.samples(), self.hot.sample_sizes().load(Relaxed));
        let base = samples.swap(0, Acquire);
        work();
        // SAFETY: the words are of `begin_samples`; this does not drop it.
        if let Some(ring) = unsafe { SampleRing::from_words(base, sizes) }.map(ManuallyDrop::new) {
            ring.take(|_| {});
            samples.store(base, Release);
        }
    }

    /// Takes the samples since the last region was opened or closed. Owner only.
    #[inline(always)]
    pub(crate) fn take_samples(&self) {
        if self.hot.samples().load(Relaxed) != 0 {
            self.take_waiting_samples();
        }
    }

    /// Takes the samples until now, also of all threads that this one has made. Owner only.
    pub(crate) fn take_all_samples(&self) {
        self.take_samples();
        if self.hot.samples().load(Relaxed) != 0 {
            self.take_samples_of_workers(true);
        }
    }

    #[inline(never)]
    fn take_waiting_samples(&self) {
        self.take_samples_of_workers(false);
        let (samples, sizes) = (self.hot.samples(), self.hot.sample_sizes().load(Relaxed));
        // SAFETY: the words are of `begin_samples`; this does not drop it.
        let ring = unsafe { SampleRing::from_words(samples.load(Relaxed), sizes) };
        let Some(ring) = ring.map(ManuallyDrop::new).filter(|ring| ring.has_more()) else { return };
        // A region in a signal handler, and a snapshot, find none meanwhile.
        let base = samples.swap(0, Acquire);
        let Some(sampling) = SAMPLING.get().filter(|_| base != 0) else { return };
        self.take_samples_of(&ring, &sampling.unknown);
        samples.store(base, Release);
    }

    pub(super) fn take_samples_of(&self, ring: &SampleRing, unknown: &'static Site) {
        let parent = self.current();
        if self.has_samples(parent) {
            self.add_samples(ring, unknown, parent, None);
        } else {
            ring.take(|_| {});
        }
    }

    /// Adds samples to those of an open region; those of a worker are counted by its region, too.
    pub(super) fn add_samples(
        &self,
        ring: &SampleRing,
        unknown: &'static Site,
        parent: Line,
        worker: Option<&'static Site>,
    ) {
        let add = |site: &'static Site, counted: Option<Counted>, is_in_kernel: bool| {
            let Some(place) = self.add_sample(parent, site) else { return };
            if is_in_kernel {
                self.record(place, &SAMPLES_OF_KERNEL, 1.0);
            }
            if let Some(counted) = counted {
                self.add_counted(place, counted);
            }
            self.add_worker(parent, place, worker);
        };
        let in_kernel = SAMPLING.get().map_or(unknown, |sampling| &sampling.in_kernel);
        ring.take(|sample| match sample {
            Sample::At(at, counted) => add(sample_site(unknown, at), counted, false),
            Sample::InKernel(at, counted) => add(sample_site(unknown, at), counted, true),
            Sample::Unseen(number) => (0..number).for_each(|_| add(in_kernel, None, true)),
            Sample::Lost(number) => (0..number).for_each(|_| add(unknown, None, false)),
            Sample::Made(thread) => self.adopt(thread),
            Sample::Ended => {}
        });
    }

    /// Begins to sample a thread that this one, or one of its workers, has made, unless all that
    /// are made begin so by themselves. Owner only.
    #[cold]
    fn adopt(&self, thread: u32) {
        let Some(sampling) = SAMPLING.get() else { return };
        if sampling.are_threads_found && !is_own_thread(thread) {
            workers::adopt(thread, self.address(), sampling.period_ns);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "2^53 cycles are a month")]
    fn add_counted(&self, place: Line, counted: Counted) {
        self.record(place, &CYCLES_OF_SAMPLES, counted.cycles as f64);
        self.record(place, &INSTRUCTIONS_OF_SAMPLES, counted.instructions as f64);
    }

    /// Returns the number by which workers know the thread that has made them.
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn take_samples_of_workers(&self, at_once: bool) {
        let Some(sampling) = SAMPLING.get() else { return };
        // While the thread is in a call of MPI, they work for the region around it.
        let mut parent = self.current();
        while !self.has_samples(parent) {
            parent = self.node(parent).parent();
        }
        let each = |ring: &SampleRing, worker: Option<&'static Site>| {
            self.add_samples(ring, &sampling.unknown, parent, worker);
        };
        let tell = |what: NotTaken| match what {
            NotTaken::Refused => self.add_not_sampled(sampling),
            NotTaken::Ended(worker) => {
                if let Some(place) = self.add_sample(parent, &sampling.at_end) {
                    self.add_worker(parent, place, Some(worker));
                }
            }
        };
        workers::take(self.address(), at_once, || self.clock.ticks(), each, tell);
    }

    /// Counts a sample that is one of a worker, beside its place and by the worker's region.
    fn add_worker(&self, parent: Line, place: Line, worker: Option<&'static Site>) {
        if let Some(worker) = worker.filter(|_| !parent.is_none()) {
            self.add_sample(place, &WORKERS);
            self.add_sample(parent, worker);
        }
    }

    /// Counts a thread that this one makes and that is not sampled. Owner only.
    pub(in crate::record) fn count_unsampled_thread(&self) {
        if let Some(sampling) = SAMPLING.get() {
            self.add_not_sampled(sampling);
        }
    }

    /// Returns the processor time between two samples of a worker that the thread of an arena is
    /// about to make, in ns; `None` if it is not to be sampled, as those that MPI makes.
    pub(in crate::record) fn worker_period_ns(maker: Option<&Self>) -> Option<u64> {
        let sampling = SAMPLING.get().filter(|sampling| sampling.is_allowed)?;
        maker.is_none_or(|maker| maker.has_samples(maker.current())).then_some(sampling.period_ns)
    }

    /// Returns the samples that the thread has not taken yet, if there are any. Any thread but the
    /// owner.
    pub(crate) fn hold_samples(&self) -> Option<HeldSamples<'_>> {
        let sampling = SAMPLING.get()?;
        let workers = HeldWorkers::of(self.address());
        let base = self.hot.samples().swap(0, Acquire);
        // SAFETY: the words are of `begin_samples`; this does not drop it.
        let ring = unsafe { SampleRing::from_words(base, self.hot.sample_sizes().load(Relaxed)) };
        let number = ring.map_or(0, |ring| ManuallyDrop::new(ring).waiting());
        let of_workers = workers.number();
        if base == 0 && of_workers == 0 {
            return None;
        }
        let (line, site) = (self.current(), &sampling.unknown);
        let parent = (!line.is_none()).then(|| Ids::default().of(self, line));
        let id = parent.map_or_else(|| CallpathId::root(site.id()), |id| id.child(site.id()));
        let execution = self.execution_of(line);
        let number = if self.has_samples(line) { number + of_workers } else { 0 };
        let _workers = workers;
        Some(HeldSamples { arena: self, base, id, parent, site, execution, number, _workers })
    }

    /// Returns whether samples of an open region are kept. What MPI does itself is known by the
    /// call.
    fn has_samples(&self, parent: Line) -> bool {
        parent.is_none() || !self.site(parent).is_call()
    }

    /// Outside of all regions samples belong to no execution, as calls of MPI do there.
    fn execution_of(&self, parent: Line) -> u32 {
        if parent.is_none() { 0 } else { self.execution() }
    }

    fn add_not_sampled(&self, sampling: &'static Sampling) {
        self.add_sample(Line::NONE, &sampling.not_sampled);
    }

    /// Adds a visit of a site below a callpath, and returns the callpath of it.
    fn add_sample(&self, parent: Line, site: &'static Site) -> Option<Line> {
        let Entered::Node(line) = self.find_or_insert_recorded(parent, site) else { return None };
        let (node, execution) = (self.node(line), self.execution_of(parent));
        let added = node.update(|| {
            self.add_ticks(node, 0, execution);
            self.add_unsampled(node);
        });
        if !added {
            self.keep_out_visit();
        }
        added.then_some(line)
    }
}
