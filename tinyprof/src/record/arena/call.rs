//! Visits of MPI's functions at their call sites: found by the place of the call.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::words::{Line, high, low, pack};

use super::super::node::{EXECUTION, START};
use super::super::site::Site;
use super::{Arena, Visit};

impl Arena {
    /// Returns the word that the wrappers of MPI's functions keep; at first 0. Owner only.
    #[inline]
    pub(crate) fn call(&self) -> &AtomicUsize {
        self.hot.call()
    }

    /// Returns the cost of all visits, in units of which a usual one that is timed takes
    /// [`VISIT_UNITS`](super::VISIT_UNITS). Owner only.
    #[inline]
    pub(crate) fn visit_units(&self) -> u64 {
        self.hot.cost().load(Relaxed)
    }

    /// Returns the address of 32 bytes for the status of a call. Owner only.
    #[inline]
    pub(crate) fn status(&self) -> usize {
        self.hot.status()
    }

    /// Opens a visit of a call with this key (not 0). If it is not known below the open region,
    /// `place` returns the key of the place that it belongs to, which may be another one, and what
    /// returns the site of that place: the same for every call with its key. Owner only.
    ///
    /// # Cost
    /// As [`enter`](Self::enter) of a region in the usual case, if the call was made below the same
    /// region before.
    #[inline]
    pub(crate) fn enter_call<F: FnOnce() -> &'static Site>(
        &self,
        key: u64,
        place: impl FnOnce() -> (u64, F),
    ) -> Visit {
        let parent = self.current();
        match self.known_call(key, parent) {
            Some(visit) => visit,
            None => self.enter_unknown_call(key, place),
        }
    }

    fn enter_unknown_call<F: FnOnce() -> &'static Site>(
        &self,
        key: u64,
        place: impl FnOnce() -> (u64, F),
    ) -> Visit {
        // Before the place is looked up: this is cheap.
        match self.enter_off() {
            Some(visit) => visit,
            None => self.enter_call_of(key, self.current(), place()),
        }
    }

    #[inline(never)]
    fn enter_call_of<F: FnOnce() -> &'static Site>(
        &self,
        key: u64,
        parent: Line,
        (place, site): (u64, F),
    ) -> Visit {
        if place != key
            && let Some(visit) = self.known_call(place, parent)
        {
            return visit;
        }
        let visit = self.enter(site());
        self.remember_call(place, parent, visit);
        visit
    }

    /// Opens a visit of a call that was made below the open region before.
    #[inline]
    fn known_call(&self, key: u64, parent: Line) -> Option<Visit> {
        let cached = self.hot.cached_call(key);
        let callpath = cached.callpath.load(Relaxed);
        if cached.key.load(Relaxed) != key || low(callpath) != parent.number() {
            return None;
        }
        let line = Line::from_number(high(callpath));
        // Stored first: a region in a signal handler that arrives now is inside of this one.
        self.hot.current().store(line.number(), Relaxed);
        if parent.is_none() {
            self.set_execution(0);
        }
        self.node(line).set(START, self.usual_ticks());
        Some(Visit::of_node(line))
    }

    /// Remembers a call whose visits are all usual.
    #[cold]
    fn remember_call(&self, key: u64, parent: Line, visit: Visit) {
        let Some(line) = visit.to_leave() else { return };
        let kind = high(self.node(line).get(EXECUTION)) | self.kind_of_entries();
        if kind == 0 {
            let cached = self.hot.cached_call(key);
            cached.callpath.store(pack(parent.number(), line.number()), Relaxed);
            cached.key.store(key, Relaxed);
        }
    }
}
