//! What the macros hold while a region is open.

use std::marker::PhantomData;

use crate::collect::start::start_recording;
use crate::metric::{Number, record_in};
use crate::record::thread::{self, Current};
use crate::record::{Entered, Line, Site};

/// An open region; dropping it ends the visit, also when a panic unwinds.
///
/// Belongs to the thread that opened it: it is not `Send`.
#[derive(Debug)]
#[must_use = "a guard that is dropped at once measures nothing"]
pub struct Guard {
    visit: Entered,
    _not_send: PhantomData<*const ()>,
}

/// Opens a visit of `site` on the current thread.
///
/// # Cost
/// Two clock reads for enter and exit together; the bookkeeping hides behind their latency. No heap allocation
/// once the thread has seen the callpath.
#[inline]
pub fn enter(site: &'static Site) -> Guard {
    let current = thread::current();
    let visit = if current.is_off() { Entered::Lost } else { open::<true>(current, site) };
    Guard { visit, _not_send: PhantomData }
}

impl Guard {
    /// Adds a value of a varying metric to the region.
    #[inline]
    pub fn record(&self, metric: &'static Site, value: impl Number) {
        if let Entered::Node(line) | Entered::Recursion(line) = self.visit {
            record_in(line, metric, value.to_f64());
        }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        if let Entered::Node(line) = self.visit {
            close::<true>(line);
        }
    }
}

/// A loop whose iterations are visits: one clock read at each boundary between them.
#[derive(Debug)]
#[must_use = "a loop that is dropped at once measures nothing"]
pub struct LoopGuard {
    site: &'static Site,
    iteration: Iteration,
    _not_send: PhantomData<*const ()>,
}

/// Where a loop is.
#[derive(Clone, Copy, Debug)]
enum Iteration {
    /// Recording was off when the loop began: it stays off to its end.
    Off,
    /// Before the first.
    None,
    Open(Entered),
}

/// Prepares a loop over `site` on the current thread; nothing is recorded before its first iteration.
#[inline]
pub fn enter_loop(site: &'static Site) -> LoopGuard {
    let iteration = if thread::current().is_off() { Iteration::Off } else { Iteration::None };
    LoopGuard { site, iteration, _not_send: PhantomData }
}

impl LoopGuard {
    /// Begins an iteration, and ends the one before with the same look at the clock.
    #[inline]
    pub fn boundary(&mut self) {
        match self.iteration {
            Iteration::Off => {}
            Iteration::Open(Entered::Node(line)) => next_iteration(line),
            Iteration::None | Iteration::Open(_) => self.iteration = first_iteration(self.site),
        }
    }

    /// The same for a loop between whose iterations are boundaries, at which a checkpoint may be written.
    #[inline]
    pub fn checkpoint_boundary(&mut self) {
        match self.iteration {
            Iteration::Off => {}
            Iteration::Open(Entered::Node(line)) => next_iteration_and_checkpoint(line),
            Iteration::None => self.iteration = first_iteration(self.site),
            Iteration::Open(_) => {
                self.iteration = first_iteration(self.site);
                // Ranks count their boundaries, whatever this one has memory to record.
                if let Some(arena) = thread::arena() {
                    arena.pass_boundary();
                }
            }
        }
    }

    /// Adds a value of a varying metric to the iteration that is open.
    #[inline]
    pub fn record(&self, metric: &'static Site, value: impl Number) {
        if let Iteration::Open(Entered::Node(line) | Entered::Recursion(line)) = self.iteration {
            record_in(line, metric, value.to_f64());
        }
    }
}

impl Drop for LoopGuard {
    #[inline]
    fn drop(&mut self) {
        if let Iteration::Open(Entered::Node(line)) = self.iteration {
            close::<true>(line);
        }
    }
}

/// Compiled with the program, which makes it shorter than it would be here.
#[inline]
fn next_iteration(line: Line) {
    if let Some(arena) = thread::arena() {
        arena.boundary(line);
    }
}

#[inline]
fn next_iteration_and_checkpoint(line: Line) {
    if let Some(arena) = thread::arena() {
        arena.checkpoint_boundary(line);
    }
}

#[inline(never)]
fn first_iteration(site: &'static Site) -> Iteration {
    let first = open::<true>(thread::current(), site);
    if thread::current().is_off() { Iteration::Off } else { Iteration::Open(first) }
}

/// Out of line, as `close` is: that makes annotated programs smaller, and hides behind the clock. Generic, so that it is
/// compiled with the program, which then calls it directly and not through a table.
#[inline(never)]
pub(crate) fn open<const IN_THE_PROGRAM: bool>(current: Current, site: &'static Site) -> Entered {
    match current.arena() {
        Some(arena) => arena.enter(site),
        None => open_first(site),
    }
}

#[inline(never)]
fn close<const IN_THE_PROGRAM: bool>(line: Line) {
    if let Some(arena) = thread::arena() {
        arena.exit(line);
    }
}

/// Once for each thread, and on every visit where there is no memory to record it.
#[cold]
#[inline(never)]
fn open_first(site: &'static Site) -> Entered {
    thread::arena_or_attach(start_recording).map_or(Entered::Lost, |arena| arena.enter(site))
}
