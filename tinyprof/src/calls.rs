//! The interface for wrappers of MPI's functions (`tinyprof-pmpi`). Not for use by hand: it changes
//! without notice.

mod visited;

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, AtomicUsize};

pub use tinyprof_format::model::{
    Activity, CallpathId, ClockFacts, EdgeKey, EdgeKind, MessageEnd, MessageKind,
};
use tinyprof_segment::clock::Moment;
use tinyprof_segment::words::low;

pub use self::visited::{Callpath, Signature, Visited};
pub use crate::collect::causes::keep_causes;
use crate::collect::session::session;
use crate::collect::start::start_recording;
use crate::record::calibration::{in_discarded_arena, look, visit_cost, weigh_visits};
use crate::record::clock::rate_since;
use crate::record::thread;
use crate::record::{Arena, Line, Visit, call_site, has_regions, program};
pub use crate::record::{
    CALLERS_MAX, CallChain, CallPlace, EdgeInstance, Like, ScriptLine, Site, VISIT_UNITS,
};
use crate::sys::{ThreadTime, thread_number};

/// Sets recorders aside while measuring is switched off on their threads, or no longer: before any
/// thread but the calling one makes calls.
pub fn set_aside_switched_off(is_set_aside: bool) {
    thread::set_aside_for_calls(is_set_aside);
}

/// The recorder of the calling thread.
#[derive(Clone, Copy, Debug)]
pub struct Recorder {
    arena: &'static Arena,
    of_this_thread: PhantomData<*const ()>,
}

impl Recorder {
    const fn of(arena: &'static Arena) -> Self {
        Self { arena, of_this_thread: PhantomData }
    }

    /// Returns a callpath, if it is of this thread.
    #[must_use]
    #[inline]
    pub fn visited(self, callpath: Callpath) -> Option<Visited> {
        let here = Callpath::of(self.arena, Line::NONE);
        let is_here = callpath != Callpath::NONE && here.0 == callpath.0 >> 32 << 32;
        is_here.then(|| Visited { recorder: self, line: Line::from_number(low(callpath.0)) })
    }

    /// Returns the recorder, if the thread has one already, and it is not [set
    /// aside](set_aside_switched_off).
    #[inline(always)]
    #[must_use]
    pub fn current() -> Option<Self> {
        thread::arena_by_word().map(Self::of)
    }

    /// Returns the recorder, if it is set aside.
    #[inline]
    #[must_use]
    pub fn set_aside() -> Option<Self> {
        thread::arena_set_aside().map(Self::of)
    }

    /// Returns whether a recorder that is set aside has to look for a command: it does so where a
    /// visit is opened.
    #[inline]
    #[must_use]
    pub fn has_news(self) -> bool {
        self.arena.has_news_while_off()
    }

    /// Returns the recorder, and makes it if there is none yet. `None` if nothing can be recorded
    /// on this thread.
    #[cold]
    #[must_use]
    pub fn make() -> Option<Self> {
        thread::arena_or_attach(start_recording).map(Self::of)
    }

    /// Returns a word of the thread that is the wrappers' own; at first 0.
    #[inline(always)]
    #[must_use]
    pub fn word(self) -> &'static AtomicUsize {
        self.arena.call()
    }

    /// Returns the address of 32 bytes for the status of a call. They are valid while the thread
    /// runs.
    #[inline]
    #[must_use]
    pub fn place_of_status(self) -> usize {
        self.arena.status()
    }

    /// Returns the ticks of the thread's clock.
    #[inline(always)]
    #[must_use]
    pub fn ticks(self) -> u64 {
        self.arena.now()
    }

    /// Returns the ticks of the thread's clock, and the ns of `CLOCK_MONOTONIC` at that moment.
    ///
    /// # Cost
    /// Half a microsecond.
    #[must_use]
    pub fn moment(self) -> (u64, u64) {
        let Moment { ticks, monotonic_ns } = self.arena.moment();
        (ticks, monotonic_ns)
    }

    /// Returns the cost of all visits on the thread, in units of which a visit
    /// of a region within another takes [`VISIT_UNITS`].
    #[inline]
    #[must_use]
    pub fn visit_units(self) -> u64 {
        self.arena.visit_units()
    }

    /// Stores the facts of the clock as this thread knows them, in place of earlier ones. A profile
    /// adds up the numbers of events of a rank's threads, and has the largest of their times.
    ///
    /// # Cost
    /// Thirteen stores.
    pub fn store_clock(self, facts: &ClockFacts) {
        self.arena.store_clock(facts);
    }

    /// Returns words that survive the process if it is killed, 0 at first; `None` if there are
    /// none. Once for a process.
    #[cold]
    #[must_use]
    pub fn kept_words(self, count: usize) -> Option<&'static [AtomicU64]> {
        self.arena.kept_words(count)
    }

    /// Opens a visit of `function`, below the innermost open region.
    ///
    /// Outside of all regions, and in a program that has none, it is a visit of the function at its
    /// call site: `address` is what the call returns to, and `place` returns the one in the user's
    /// own code, where these differ. `index` is that of the function among all, below 2^16.
    ///
    /// # Cost
    /// As a region. `place` is called where `address` was not seen below the same region before, or
    /// is not the place.
    #[inline(always)]
    pub fn open(
        self,
        function: &'static Site,
        index: usize,
        address: usize,
        place: impl FnOnce() -> CallPlace,
    ) -> Open {
        let visit = if has_regions() && !self.arena.is_outside_of_regions() {
            self.arena.enter(function)
        } else {
            // An address has 48 bits.
            let key = |address: usize| address as u64 ^ (index as u64 + 1) << 48;
            self.arena.enter_call(key(address), || {
                let place = place();
                (key(place.word()), move || call_site(function, place))
            })
        };
        Open { recorder: self, visit }
    }

    /// Runs `work` on the thread, of which no samples are kept: it is the profiler's own.
    pub fn without_samples(self, work: impl FnOnce()) {
        self.arena.without_samples(work);
    }

    /// Opens the region of the whole program, which stays open to its end, if the program has no
    /// regions of its own.
    pub fn open_program(self) {
        if !has_regions()
            && self.arena.is_outside_of_regions()
            && let Some(program) = program()
        {
            self.arena.enter(program);
        }
    }
}

/// A call that is open. Dropping it ends the visit.
#[derive(Debug)]
#[must_use = "a call that is dropped at once has no time"]
pub struct Open {
    recorder: Recorder,
    visit: Visit,
}

impl Open {
    /// Returns the callpath of the visit.
    #[inline(always)]
    #[must_use]
    pub fn visited(&self) -> Visited {
        Visited { recorder: self.recorder, line: self.visit.node().unwrap_or(Line::NONE) }
    }

    /// Returns when the visit has begun, in ticks; now, if it is not timed.
    #[inline]
    #[must_use]
    pub fn begun_ticks(&self) -> u64 {
        let arena = self.recorder.arena;
        self.visit.node().map_or_else(|| arena.now(), |line| arena.begun(line))
    }

    /// Ends the visit, and returns the callpath that it was of.
    #[inline(always)]
    #[must_use]
    pub fn end(self) -> Visited {
        // Left here, and not by dropping it.
        let open = ManuallyDrop::new(self);
        leave(open.recorder, open.visit);
        open.visited()
    }

    /// As [`end`](Self::end), at `ticks`: the clock was just read.
    #[inline]
    #[must_use]
    pub fn end_at(self, ticks: u64) -> Visited {
        let open = ManuallyDrop::new(self);
        if let Some(line) = open.visit.to_leave() {
            open.recorder.arena.exit_at(line, ticks);
        }
        open.visited()
    }
}

impl Drop for Open {
    #[inline]
    fn drop(&mut self) {
        leave(self.recorder, self.visit);
    }
}

#[inline(always)]
fn leave(recorder: Recorder, visit: Visit) {
    if let Some(line) = visit.to_leave() {
        recorder.arena.exit(line);
    }
}

/// The clock of this process, and the cost of a visit on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockRate {
    /// True if ticks are those of the processor's counter; otherwise they are ns of
    /// `CLOCK_MONOTONIC`.
    pub is_counter: bool,
    /// The ns of a tick, measured from the start of the recording until now.
    pub ns_per_tick: f64,
    /// The cost of a timed visit of a region within another, in ns.
    pub visit_ns: f64,
}

/// Returns the clock of this process.
///
/// # Cost
/// It measures the cost of a visit: about a millisecond.
#[must_use]
pub fn clock_rate() -> ClockRate {
    let session = session();
    let ns_per_tick = rate_since(session.started, session.clock).ns_per_tick();
    weigh_visits(session.clock);
    let visit = look(session.clock).map_or(visit_cost(session.clock).timed, |now| now.inner);
    let visit_ns = visit * ns_per_tick;
    ClockRate { is_counter: session.clock.is_counter(), ns_per_tick, visit_ns }
}

/// Measures what a timed visit of a region within another costs now, in ns; `None` if that is not
/// possible now.
///
/// # Cost
/// About 13 us.
#[must_use]
pub fn visit_ns_now() -> Option<f64> {
    let session = session();
    Some(look(session.clock)?.inner * rate_since(session.started, session.clock).ns_per_tick())
}

/// Returns how long the calling thread could have run, but had no processor, in ns, since it began;
/// `None` if the system does not say, or must not be asked in a sandbox.
///
/// # Cost
/// Five system calls: 5 us.
#[must_use]
pub fn no_processor_ns() -> Option<u64> {
    ThreadTime::of(thread_number()).map(|time| time.delay_ns)
}

/// Calls `work` with a recorder for this thread whose records are discarded then, to measure what
/// calls cost. `None` if there is no memory.
pub fn with_discarded_records(work: impl FnOnce(Recorder) -> u64) -> Option<u64> {
    in_discarded_arena(session().clock, |arena| work(Recorder::of(arena)))
}

/// Counts a message that cannot be recorded. Rare.
#[cold]
pub fn lose_message() {
    if let Some(arena) = thread::arena() {
        arena.lose_message();
    }
}
