//! Polled visits: they pause and continue, on any thread, and several of one callpath may be in
//! flight.
//!
//! The record of such a callpath is never open (its start stays 0): the time so far is in the
//! future.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::words::Line;

use super::super::node::SITE;
use super::super::site::Site;
use super::{Arena, Before, Entered, OpenRegion};

/// A visit between its first poll and its end.
#[derive(Debug)]
pub(crate) struct InFlight {
    /// The arena of the first poll, and the place of the callpath's record in it.
    first: &'static Arena,
    pub(super) place: OpenRegion,
    /// The site word of that record. It changes if a child process has left the arena's memory to
    /// its parent.
    pub(super) site: u64,
    ticks: u64,
}

impl Arena {
    /// Begins a visit of `site` under the innermost open region. Returns `None` if the region calls
    /// itself, which is only counted, or if there is no memory, which is counted as lost. Owner
    /// only.
    pub(crate) fn begin_polled(&'static self, site: &'static Site) -> Option<InFlight> {
        if self.enter_off().is_some() {
            return None;
        }
        let parent = self.current();
        let line = match self.find_or_insert(parent, site) {
            Entered::Node(line) => line,
            Entered::Recursion(line) => {
                self.count_recursion(line);
                return None;
            }
            Entered::Lost => return None,
        };
        let node = self.node(line);
        let execution = if parent.is_none() {
            let executions = node.completed_or_depth();
            // Done at the beginning, because visits in flight must not share a number.
            node.update(|| node.set_completed_or_depth(executions.saturating_add(1)));
            executions
        } else {
            self.execution()
        };
        add_one(&self.polled_begun);
        Some(InFlight {
            first: self,
            place: OpenRegion { line, execution },
            site: node.get(SITE),
            ticks: 0,
        })
    }

    /// Polls under the visit's callpath, and then restores this thread's place, even if `poll`
    /// panics. Owner only.
    #[inline]
    pub(crate) fn poll_in<T>(&self, visit: &mut InFlight, poll: impl FnOnce() -> T) -> T {
        let before =
            if visit.is_known() { self.enter_context(visit.first, visit.place) } else { None };
        let _poll = Poll { arena: self, visit, before, begin: self.now() };
        poll()
    }

    /// Adds the visit to this arena's event map. Owner only.
    pub(crate) fn end_polled(&self, visit: &InFlight) {
        add_one(&self.polled_ended);
        let Some(line) = self.line_of(visit) else {
            return self.lose_visits(1);
        };
        let (node, execution) = (self.node(line), visit.place.execution);
        let added = node.update(|| {
            self.add_ticks(node, visit.ticks, execution);
            self.add_unsampled(node);
            if node.parent().is_none() {
                let begun = node.completed_or_depth().max(execution.saturating_add(1));
                node.set_completed_or_depth(begun);
            }
        });
        if !added {
            self.keep_out_visit();
        }
    }

    /// Returns our record of the visit's callpath, or `None` if there is no memory for it.
    fn line_of(&self, visit: &InFlight) -> Option<Line> {
        if !visit.is_known() {
            return None;
        }
        if std::ptr::eq(self, visit.first) {
            return Some(visit.place.line);
        }
        self.same_callpath(visit.first, visit.place)
    }
}

impl InFlight {
    /// Returns whether the record of the visit's beginning still exists.
    fn is_known(&self) -> bool {
        self.first.node(self.place.line).get(SITE) == self.site
    }
}

/// One poll; dropping it ends it.
struct Poll<'a> {
    arena: &'a Arena,
    visit: &'a mut InFlight,
    before: Option<Before>,
    begin: u64,
}

impl Drop for Poll<'_> {
    fn drop(&mut self) {
        if !self.arena.is_switched_off() {
            let ticks = self.arena.ticks_between(self.begin, self.arena.now());
            self.visit.ticks = self.visit.ticks.saturating_add(ticks);
        }
        if let Some(before) = self.before {
            self.arena.step_back(before);
        }
    }
}

/// Increments a counter that only the owner changes.
fn add_one(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
}
