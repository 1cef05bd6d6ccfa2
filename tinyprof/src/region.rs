//! Guards that the macros hold while a region is open.

use std::marker::PhantomData;

use crate::collect::start::start_recording;
use crate::metric::{Number, record_in};
use crate::record::thread::{self, Current};
use crate::record::{Arena, Line, Site, Visit};

/// An open region, made by [`scope!`](macro@crate::scope). Dropping it ends the visit, also when a
/// panic unwinds.
///
/// A guard belongs to the thread that opened it: it is not `Send`.
#[derive(Debug)]
#[must_use = "a guard that is dropped at once measures nothing: `let phase = ...`"]
pub struct Guard {
    visit: Visit,
    _not_send: PhantomData<*const ()>,
}

/// Opens a visit of `site` on the current thread.
///
/// # Cost
/// Two clock reads for entry and exit together; the bookkeeping hides behind their latency. No heap
/// allocation once the thread has seen the callpath.
#[inline]
pub fn enter(site: &'static Site) -> Guard {
    Guard { visit: open::<true>(site), _not_send: PhantomData }
}

impl Guard {
    /// Returns a guard without a region, for programs in which nothing is measured.
    #[doc(hidden)]
    #[inline]
    pub const fn of_nothing() -> Self {
        Self { visit: Visit::LOST, _not_send: PhantomData }
    }

    /// Adds a value of a varying metric to the region.
    #[doc(hidden)]
    #[inline]
    pub fn record(&self, metric: &'static Site, value: impl Number) {
        if let Some(line) = self.visit.node() {
            record_in(line, metric, value.to_f64());
        }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        // With the feature off, a guard is empty and leaves no instruction.
        if cfg!(feature = "enable")
            && let Some(line) = self.visit.to_leave()
        {
            close::<true>(line);
        }
    }
}

/// A loop whose iterations are visits: one clock read at each flush point between them.
#[derive(Debug)]
#[must_use = "a loop that is dropped at once measures nothing"]
pub struct LoopGuard {
    site: &'static Site,
    /// The arena in which an iteration is open.
    arena: Option<&'static Arena>,
    visit: Visit,
    /// Set if recording was off when the loop began, or the loop is filtered out; it stays set
    /// until the loop ends.
    is_off: bool,
    _not_send: PhantomData<*const ()>,
}

/// Prepares a loop over `site` on the current thread. Nothing is recorded before the first
/// iteration.
#[inline]
pub fn enter_loop(site: &'static Site) -> LoopGuard {
    let is_off = thread::current().is_off();
    LoopGuard { site, arena: None, visit: Visit::LOST, is_off, _not_send: PhantomData }
}

impl LoopGuard {
    /// Ends the previous iteration and begins the next one with a single clock read.
    #[inline]
    pub fn next_iteration(&mut self) {
        match (self.arena, self.visit.to_leave()) {
            (Some(arena), Some(line)) => arena.next_iteration(line),
            _ if self.is_off => {}
            _ => self.begin_iteration_or_give_up(),
        }
    }

    /// Calls [`flush_point`](Self::flush_point) in a loop that may write an interim profile between
    /// its iterations.
    #[inline]
    pub fn next_iteration_at_flush_point(&mut self) {
        match (self.arena, self.visit.to_leave()) {
            (Some(arena), Some(line)) => arena.next_iteration_at_flush_point(line),
            _ if self.is_off => {}
            _ => self.begin_iteration_at_flush_point(),
        }
    }

    /// Begins the first iteration, and every iteration of a loop that calls itself or has no
    /// memory.
    fn begin_iteration(&mut self) {
        self.visit = open::<false>(self.site);
        self.is_off = thread::current().is_off();
        // A thread keeps its arena while a region in it is open.
        self.arena = thread::arena();
    }

    /// Begins the first iteration, and marks a loop that is filtered out so that later iterations
    /// skip the check.
    #[inline(never)]
    fn begin_iteration_or_give_up(&mut self) {
        self.begin_iteration();
        self.is_off |= self.visit == Visit::LOST
            && self.arena.is_some_and(|arena| arena.is_filtered(self.site));
    }

    #[inline(never)]
    fn begin_iteration_at_flush_point(&mut self) {
        let is_first = self.arena.is_none();
        self.begin_iteration();
        // All ranks count their flush points, even one that has no memory to record.
        if let (false, false, Some(arena)) = (is_first, self.is_off, self.arena) {
            arena.pass_flush_point();
        }
    }

    /// Adds a value of a varying metric to the open iteration.
    #[inline]
    pub fn record(&self, metric: &'static Site, value: impl Number) {
        if let Some(line) = self.visit.node() {
            record_in(line, metric, value.to_f64());
        }
    }
}

impl Drop for LoopGuard {
    #[inline]
    fn drop(&mut self) {
        if let Some(line) = self.visit.to_leave() {
            close::<true>(line);
        }
    }
}

/// Opens a visit of `site`.
///
/// It is out of line, as `close` is: annotated programs become smaller, and the call hides behind
/// the clock. It is generic so that it is compiled with the program, which then calls it directly
/// and not through a table.
#[inline(never)]
pub(crate) fn open<const IN_THE_PROGRAM: bool>(site: &'static Site) -> Visit {
    let current = thread::current();
    match current.measuring() {
        Some(arena) => arena.enter(site),
        None if current.is_off() => Visit::LOST,
        None => open_first(site, current),
    }
}

#[inline(never)]
fn close<const IN_THE_PROGRAM: bool>(line: Line) {
    match thread::current().measuring() {
        Some(arena) => arena.exit(line),
        None => close_while_off(line),
    }
}

/// Closes a visit that was open when measuring was switched off.
#[cold]
#[inline(never)]
fn close_while_off(line: Line) {
    if let Some(arena) = thread::arena() {
        arena.exit(line);
    }
}

/// Opens a visit where `open` found no arena: once for each thread, and on every visit where there
/// is no memory to record it, or measuring is switched off.
#[cold]
#[inline(never)]
fn open_first(site: &'static Site, current: Current) -> Visit {
    if current.stays_switched_off() {
        return Visit::LOST;
    }
    attach_and_open(site)
}

#[inline(never)]
fn attach_and_open(site: &'static Site) -> Visit {
    thread::arena_or_attach(start_recording).map_or(Visit::LOST, |arena| arena.enter(site))
}
