//! One thread's tree of callpaths: a plain value; `thread` merely holds one for each thread.

mod handover;
mod in_file;
mod metric;
mod polled;
mod reading;
#[cfg(feature = "tracing")]
mod span;
#[cfg(test)]
mod tests;

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64, fence};

use tinyprof_format::model::{CallpathId, Mode};
use tinyprof_format::segment::layout::header;

pub(crate) use handover::{Before, Place};
pub(crate) use polled::InFlight;
pub(crate) use reading::Reading;

use super::clock::Clock;
use super::element::{PastExecution, SeriesElement};
use super::log;
use super::lookup::Lookup;
use super::node::{
    EXECUTION, ID, MAX, MIN, NODE_CLASS, NODE_WORDS, Node, PARENT, SERIES, SITE, SQUARES, START, SUM, VISITS,
    high, low, pack,
};
use super::segment::{Line, Segment};
use super::site::{OTHER, Site};

/// The most callpaths of a thread; the rest goes to `[other]`.
const NODES_MAX: u32 = if cfg!(test) { 512 } else { 1 << 20 };

/// The deepest callpath; what is entered inside of it goes to `[other]`. Regions that call each other in
/// circles make a callpath for each depth, and a path costs its depth whenever somebody follows it.
const DEPTH_MAX: u32 = if cfg!(test) { 400 } else { 1024 };

/// What [`Arena::enter`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// The region is open; this node must be left.
    Node(Line),
    /// The region calls itself: its time is in the outer visit, only the visit counts.
    Recursion(Line),
    /// There is no memory for it; the visit was counted as lost.
    Lost,
}

/// One thread's event map.
#[derive(Debug)]
pub(crate) struct Arena {
    segment: Segment,
    clock: Clock,
    /// The node of the innermost open region; none outside of all.
    current: AtomicU32,
    /// The execution of the root region that was entered last.
    execution: AtomicU32,
    /// For each site of the executable its last (parent, child): answers all but the first look-ups.
    cache: Box<[AtomicU64]>,
    lookup: Lookup,
    /// For each site of the executable whether the segment describes it, one bit each.
    described: Box<[AtomicU64]>,
    nodes: AtomicU32,
    last_node: AtomicU32,
    pub(crate) visits_lost: AtomicU64,
    pub(crate) visits_in_other: AtomicU64,
    pub(crate) visits_unbalanced: AtomicU64,
    pub(crate) clock_steps_back: AtomicU64,
    /// Visits that are made of polls: those whose first poll was on this thread, and those that ended on it.
    pub(crate) polled_begun: AtomicU64,
    pub(crate) polled_ended: AtomicU64,
}

impl Arena {
    /// An empty event map in anonymous memory; none where the system gives no memory.
    pub(crate) fn new(clock: Clock) -> Option<Self> {
        Some(Self::with_segment(Segment::reserve()?, clock))
    }

    /// An empty event map in `segment`.
    pub(super) fn with_segment(segment: Segment, clock: Clock) -> Self {
        let zeros = |words: usize| (0..words).map(|_| AtomicU64::new(0)).collect();
        Self {
            segment,
            clock,
            current: AtomicU32::new(0),
            execution: AtomicU32::new(0),
            cache: zeros(Site::count()),
            described: zeros(Site::count().div_ceil(64)),
            lookup: Lookup::new(),
            nodes: AtomicU32::new(0),
            last_node: AtomicU32::new(0),
            visits_lost: AtomicU64::new(0),
            visits_in_other: AtomicU64::new(0),
            visits_unbalanced: AtomicU64::new(0),
            clock_steps_back: AtomicU64::new(0),
            polled_begun: AtomicU64::new(0),
            polled_ended: AtomicU64::new(0),
        }
    }

    #[inline]
    fn node(&self, line: Line) -> Node<'_> {
        Node::at(&self.segment, line)
    }

    #[inline]
    fn current(&self) -> Line {
        Line::from_number(self.current.load(Relaxed))
    }

    /// Opens a visit of `site` under the innermost open region. Owner only.
    #[inline]
    pub(crate) fn enter(&self, site: &'static Site) -> Entered {
        let parent = self.current();
        let cached = self.cache.get(site.dense_index()).map_or(0, |entry| entry.load(Relaxed));
        let line = if high(cached) == parent.number() && cached != 0 {
            Line::from_number(low(cached))
        } else {
            match self.find_or_insert(parent, site) {
                Entered::Node(line) => line,
                other => return other,
            }
        };
        let node = self.node(line);
        if parent.is_none() {
            self.execution.store(high(node.get(EXECUTION)), Relaxed);
        }
        self.current.store(line.number(), Relaxed);
        node.set(START, self.clock.ticks());
        Entered::Node(line)
    }

    /// Closes the visit that `enter` opened. Owner only.
    #[inline]
    pub(crate) fn exit(&self, line: Line) {
        let now = self.clock.ticks();
        if self.current() != line && !self.unwind_to(line) {
            return;
        }
        let node = self.node(line);
        self.add_visit(node, now, 0);
        let parent = node.parent();
        self.current.store(parent.number(), Relaxed);
    }

    /// Closes an iteration of the loop at `line` and opens the next, with one look at the clock. Owner only.
    #[inline]
    pub(crate) fn boundary(&self, line: Line) {
        let now = self.clock.ticks();
        if self.current() != line && !self.unwind_to(line) {
            return;
        }
        let node = self.node(line);
        self.add_visit(node, now, now);
        if node.parent().is_none() {
            self.execution.store(high(node.get(EXECUTION)), Relaxed);
        }
    }

    /// Counts a visit whose time is part of the visit that is open. Owner only.
    pub(crate) fn count_recursion(&self, line: Line) {
        let node = self.node(line);
        let execution = self.execution.load(Relaxed);
        node.update(|| {
            self.begin_execution(node, execution);
            node.set(VISITS, node.get(VISITS) + 1);
        });
    }

    /// Adds the visit from the node's start to `now`; `start` is the beginning of the next, or 0.
    #[inline]
    fn add_visit(&self, node: Node<'_>, now: u64, start: u64) {
        let ticks = self.ticks_between(node.get(START), now);
        let execution = self.execution.load(Relaxed);
        node.update(|| {
            self.add_ticks(node, ticks, execution);
            if low(node.get(PARENT)) == 0 {
                let completed = node.get(EXECUTION);
                node.set(EXECUTION, pack(low(completed), high(completed).saturating_add(1)));
            }
            node.set(START, start);
        });
    }

    /// The time from `begin` to `now`; 0 and a count where the clock went back.
    #[inline]
    fn ticks_between(&self, begin: u64, now: u64) -> u64 {
        now.checked_sub(begin).unwrap_or_else(|| {
            self.clock_steps_back.fetch_add(1, Relaxed);
            self.publish_losses();
            0
        })
    }

    /// Adds a visit of `ticks` in `execution`, inside of [`Node::update`].
    #[inline]
    fn add_ticks(&self, node: Node<'_>, ticks: u64, execution: u32) {
        self.begin_execution(node, execution);
        node.set(VISITS, node.get(VISITS) + 1);
        node.set(SUM, node.get(SUM).wrapping_add(ticks));
        node.set(MIN, node.get(MIN).min(ticks));
        node.set(MAX, node.get(MAX).max(ticks));
        let square = u128::from(ticks) * u128::from(ticks);
        let (squares, carry) = node.get(SQUARES).overflowing_add(low_half(square));
        node.set(SQUARES, squares);
        node.set(SQUARES + 1, node.get(SQUARES + 1) + low_half(square >> 64) + u64::from(carry));
        if low(node.get(SERIES + 1)) != 0 {
            let element = SeriesElement { execution, visits: 1, sum: ticks, min: ticks, max: ticks };
            if !log::push(node, element) {
                self.visits_lost.fetch_add(1, Relaxed);
                self.publish_losses();
            }
        }
    }

    /// Makes the live numbers those of `execution`; what they held of an earlier one goes to the log.
    #[inline]
    fn begin_execution(&self, node: Node<'_>, execution: u32) {
        let live = node.get(EXECUTION);
        if low(live) == execution {
            return;
        }
        if node.get(VISITS) > 0 && !log::push(node, live_execution(node)) {
            self.visits_lost.fetch_add(node.get(VISITS), Relaxed);
            self.publish_losses();
        }
        // In this order: as long as the live numbers are those of an execution that the log covers, they count
        // once for who finds them after the thread's death.
        fence(Release);
        for (word, value) in
            [(VISITS, 0), (SUM, 0), (MIN, u64::MAX), (MAX, 0), (SQUARES, 0), (SQUARES + 1, 0)]
        {
            node.set(word, value);
        }
        fence(Release);
        node.set(EXECUTION, pack(execution, high(live)));
    }

    /// Rare: the first visit of a callpath on this thread, and a site that is visited from changing places.
    #[cold]
    #[inline(never)]
    fn find_or_insert(&self, parent: Line, site: &'static Site) -> Entered {
        let address = std::ptr::from_ref(site).addr() as u64;
        if !parent.is_none() && self.node(parent).get(SITE) == address {
            return Entered::Recursion(parent);
        }
        if let Some(line) = self.lookup.find(&self.segment, parent, site) {
            self.remember(parent, site, line);
            return Entered::Node(line);
        }
        let full = self.nodes.load(Relaxed) >= NODES_MAX || self.depth_below(parent) > DEPTH_MAX;
        if !full && let Some(line) = self.insert(parent, site) {
            self.remember(parent, site, line);
            return Entered::Node(line);
        }
        self.enter_other(parent)
    }

    #[cold]
    fn enter_other(&self, parent: Line) -> Entered {
        self.visits_in_other.fetch_add(1, Relaxed);
        self.publish_losses();
        if !parent.is_none() && self.node(parent).get(SITE) == std::ptr::from_ref(&OTHER).addr() as u64 {
            return Entered::Recursion(parent);
        }
        let known = self.lookup.find(&self.segment, parent, &OTHER);
        match known.or_else(|| self.insert(parent, &OTHER)) {
            Some(line) => Entered::Node(line),
            None => {
                self.visits_in_other.fetch_sub(1, Relaxed);
                self.visits_lost.fetch_add(1, Relaxed);
                self.publish_losses();
                Entered::Lost
            }
        }
    }

    fn remember(&self, parent: Line, site: &'static Site, line: Line) {
        if let Some(entry) = self.cache.get(site.dense_index()) {
            entry.store(pack(line.number(), parent.number()), Relaxed);
        }
    }

    /// The depth of the children of `parent`; that of a root is 1.
    fn depth_below(&self, parent: Line) -> u32 {
        if parent.is_none() {
            return 1;
        }
        let parent = self.node(parent);
        if parent.parent().is_none() { 2 } else { high(parent.get(EXECUTION)).saturating_add(1) }
    }

    fn insert(&self, parent: Line, site: &'static Site) -> Option<Line> {
        let line = self.segment.allocate(NODE_CLASS)?;
        let node = self.node(line);
        (0..NODE_WORDS).for_each(|word| node.set(word, 0));
        let id = if parent.is_none() {
            CallpathId::root(site.id())
        } else {
            CallpathId::from_bits(self.node(parent).get(ID)).child(site.id())
        };
        node.set(SITE, std::ptr::from_ref(site).expose_provenance() as u64);
        node.set(PARENT, pack(parent.number(), self.last_node.load(Relaxed)));
        if !parent.is_none() {
            node.set(EXECUTION, pack(0, self.depth_below(parent)));
        }
        node.set(MIN, u64::MAX);
        node.set(SERIES + 1, pack(u32::from(site.mode() == Mode::Each), 0));
        node.set(ID, id.to_bits());
        if !self.describe(site) || !self.lookup.insert(&self.segment, node) {
            self.segment.release(line, NODE_CLASS);
            return None;
        }
        self.nodes.fetch_add(1, Relaxed);
        self.last_node.store(line.number(), Release);
        if self.is_mapped() {
            self.header(header::LAST_NODE).store(line.number().into(), Release);
        }
        Some(line)
    }

    /// Makes `line` the innermost open region again where guards inside of it were forgotten; false if it is
    /// not open at all, because its own guard was dropped out of order.
    #[cold]
    fn unwind_to(&self, line: Line) -> bool {
        if self.node(line).get(START) == 0 {
            return false;
        }
        while self.current() != line && !self.current().is_none() {
            self.close_innermost();
        }
        self.current() == line
    }

    /// Closes what the last owner left open, before another thread takes the arena over.
    pub(super) fn close_all(&self) {
        while !self.current().is_none() {
            self.close_innermost();
        }
    }

    /// Closes the innermost open region whose guard will not do it.
    fn close_innermost(&self) {
        let node = self.node(self.current());
        // A region that was only stepped under is not open.
        if node.get(START) != 0 {
            node.update(|| node.set(START, 0));
            self.visits_unbalanced.fetch_add(1, Relaxed);
            self.publish_losses();
        }
        self.current.store(node.parent().number(), Relaxed);
    }

    /// The ticks of this arena's clock.
    pub(crate) fn now(&self) -> u64 {
        self.clock.ticks()
    }
}

#[inline]
fn live_execution(node: Node<'_>) -> PastExecution {
    PastExecution {
        execution: low(node.get(EXECUTION)),
        executions: 1,
        visits: node.get(VISITS),
        sum: node.get(SUM),
        min: node.get(MIN),
        max: node.get(MAX),
        squares: u128::from(node.get(SQUARES + 1)) << 64 | u128::from(node.get(SQUARES)),
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
const fn low_half(wide: u128) -> u64 {
    wide as u64
}
