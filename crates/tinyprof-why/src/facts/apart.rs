//! The time between two tests of a loop: what a rank does between two calls of the same test.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, Edge};

/// Between two tests of a loop that does nothing else there is at most this much, in ns.
pub(crate) const IDLE_NS: f64 = 20_000.0;
/// The part of the time before a test that has to be between two tests of a loop.
const LOOP_PART: f64 = 0.5;

/// The time between two calls of the same test, by test and rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Apart(BTreeMap<(CallpathIndex, u32), Between>);

/// The times between two calls of a test on a rank.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Between {
    pub(crate) count: u64,
    pub(crate) ns: u64,
}

impl Between {
    /// Returns the mean time, in ns: a rank notices so much later at most what has come.
    pub(crate) fn each_ns(self) -> f64 {
        crate::ns(self.ns.into()) / crate::ns(self.count.max(1).into())
    }

    /// Returns whether a rank does something there, and that is most of the `gap_ns` before its
    /// tests.
    pub(crate) fn is_most_of(self, gap_ns: f64) -> bool {
        self.each_ns() > IDLE_NS && crate::ns(self.ns.into()) >= LOOP_PART * gap_ns
    }
}

impl Apart {
    /// Adds the gaps from a test to the next call of it.
    pub(crate) fn add(&mut self, test: CallpathIndex, rank: u32, gaps: &Edge) {
        let between = self.0.entry((test, rank)).or_default();
        between.count = between.count.saturating_add(gaps.count);
        between.ns = between.ns.saturating_add(gaps.sum_ns);
    }

    /// Returns the time of a rank between two calls of a test.
    pub(crate) fn of(&self, test: CallpathIndex, rank: u32) -> Option<Between> {
        self.0.get(&(test, rank)).copied()
    }
}
