//! One thread's tree of callpaths: a plain value, of which `thread` holds one for each thread.

mod call;
mod context;
mod edges;
mod events;
mod execution;
mod flush_points;
mod fold;
mod hot;
mod in_file;
mod insert;
mod live;
mod messages;
mod metric;
mod off;
mod polled;
mod processor;
mod reading;
mod reset;
mod sampled;
mod sampling;
mod steered;
#[cfg(test)]
mod tests;
mod unwind;
mod usual;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use tinyprof_segment::clock::Moment;
use tinyprof_segment::layout::skipped;
use tinyprof_segment::words::{Line, high, low};

pub(crate) use context::{Before, OpenRegion};
pub use edges::EdgeInstance;
pub(crate) use events::EventReading;
pub use messages::Like;
pub(crate) use polled::InFlight;
pub(crate) use processor::begin_processor_time;
pub(crate) use reading::{MetricReading, Reading};
pub(crate) use sampled::{HeldSamples, install_sampling};
pub use usual::VISIT_UNITS;
pub(super) use usual::{weigh_counted, weigh_roots};

use super::clock::{Clock, now};
use super::log;
use super::lookup::Lookup;
use super::node::{EXECUTION, Node, SAMPLES, SERIES, START, VISITS, kind};
use super::reentrancy::ReentrancyGuard;
use super::segment::Segment;
use super::site::Site;
use events::ArenaEvents;
use hot::{FILTERED, Hot};
use live::{add_to_live, clear_live, complete_execution, live_execution, restart_live};
use off::Off;
use processor::LastReading;
use sampling::Sampler;
use steered::Obedience;

/// The most callpaths of a thread; visits of further ones go to `[other]`.
const NODES_MAX: u32 = if cfg!(test) { 512 } else { 1 << 20 };

/// The most occurrences of a region on a callpath. Regions that call each other in cycles do not
/// make a callpath for each depth: deeper visits are folded onto the innermost one, like those of a
/// region that calls itself.
const TIMES_ON_PATH_MAX: usize = 4;

/// The deepest callpath; regions entered inside of it go to `[other]`. Following a path costs its
/// depth.
const DEPTH_MAX: u32 = if cfg!(test) { 400 } else { 1024 };

/// A bit in the key of a cache entry: visits of the callpath cannot take the shortest path.
const NOT_USUAL: u32 = 1 << 31;

/// The result of [`Arena::enter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// The region is open; this node must be left.
    Node(Line),
    /// The region calls itself: only the visit is counted, because the time is in the outer visit.
    Recursion(Line),
    /// The visit is not recorded: a filter excludes the region, or there is no memory and the visit
    /// was counted as lost.
    Lost,
}

/// An [`Entered`] in one register. Functions that return an enum cannot be tail-called, and save
/// registers for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visit(u64);

impl Visit {
    /// The visit that does not have to be left.
    pub(crate) const LOST: Self = Self(0);
    const RECURSION: u64 = 1 << 63;

    /// Returns the node that must be left, if there is one.
    #[inline(always)]
    pub(crate) fn to_leave(self) -> Option<Line> {
        (self.0.cast_signed() > 0).then_some(Line::from_number(low(self.0)))
    }

    /// Returns the node that values belong to, if there is one.
    #[inline]
    pub(crate) fn node(self) -> Option<Line> {
        (self.0 != 0).then_some(Line::from_number(low(self.0)))
    }

    /// Returns the visit as an enum.
    #[cfg(any(test, feature = "tracing"))]
    pub(crate) fn entered(self) -> Entered {
        match (self.to_leave(), self.node()) {
            (Some(line), _) => Entered::Node(line),
            (None, Some(line)) => Entered::Recursion(line),
            (None, None) => Entered::Lost,
        }
    }

    #[inline(always)]
    const fn of_node(line: Line) -> Self {
        Self(line.number() as u64)
    }
}

impl From<Entered> for Visit {
    #[inline]
    fn from(entered: Entered) -> Self {
        match entered {
            Entered::Node(line) => Self::of_node(line),
            Entered::Recursion(line) => Self(Self::RECURSION | u64::from(line.number())),
            Entered::Lost => Self::LOST,
        }
    }
}

/// One thread's event map.
#[derive(Debug)]
pub(crate) struct Arena {
    segment: Segment,
    clock: Clock,
    sampler: Sampler,
    /// The words that the thread itself uses in each visit.
    hot: Hot,
    lookup: Lookup,
    message_lookup: Lookup,
    edge_lookup: Lookup,
    nodes: AtomicU32,
    last_node: AtomicU32,
    messages: AtomicU32,
    last_message: AtomicU32,
    edges: AtomicU32,
    last_edge: AtomicU32,
    /// Guards the creation and look-up of records.
    reentrancy: ReentrancyGuard,
    pub(crate) visits_lost: AtomicU64,
    /// Visits by a signal handler to a record or table that was being changed.
    pub(crate) visits_kept_out: AtomicU64,
    pub(crate) visits_in_other: AtomicU64,
    pub(crate) visits_too_deep: AtomicU64,
    pub(crate) visits_without_key: AtomicU64,
    pub(crate) visits_unbalanced: AtomicU64,
    pub(crate) clock_steps_back: AtomicU64,
    /// Visits that the budget leaves untimed, without those that a record has not added up yet.
    pub(crate) visits_not_timed: AtomicU64,
    pub(crate) values_not_recorded: AtomicU64,
    /// Messages that are counted without their partner, or not at all.
    pub(crate) messages_lost: AtomicU64,
    /// Edges that are counted without their partner and origin, or not at all.
    pub(crate) edges_lost: AtomicU64,
    /// Polled visits: the number whose first poll was on this thread, and the number that ended on
    /// it.
    pub(crate) polled_begun: AtomicU64,
    pub(crate) polled_ended: AtomicU64,
    processor: LastReading,
    events: ArenaEvents,
    obedience: Obedience,
    off: Off,
}

impl Arena {
    /// Returns an empty event map in anonymous memory, or `None` if the system gives no memory.
    pub(crate) fn new(clock: Clock) -> Option<Self> {
        Self::with_segment(Segment::reserve()?, clock)
    }

    /// Returns an empty event map in `segment`, or `None` if the system gives no memory beside it.
    pub(super) fn with_segment(segment: Segment, clock: Clock) -> Option<Self> {
        let Some(hot) = Hot::new(Site::count()) else {
            segment.remove_file();
            return None;
        };
        Self::prepare_execution(&segment, clock);
        Some(Self {
            hot,
            segment,
            clock,
            sampler: Sampler::new(clock),
            lookup: Lookup::new(),
            message_lookup: Lookup::new(),
            edge_lookup: Lookup::new(),
            nodes: AtomicU32::new(0),
            last_node: AtomicU32::new(0),
            messages: AtomicU32::new(0),
            last_message: AtomicU32::new(0),
            edges: AtomicU32::new(0),
            last_edge: AtomicU32::new(0),
            reentrancy: ReentrancyGuard::new(),
            visits_lost: AtomicU64::new(0),
            visits_kept_out: AtomicU64::new(0),
            visits_in_other: AtomicU64::new(0),
            visits_too_deep: AtomicU64::new(0),
            visits_without_key: AtomicU64::new(0),
            visits_unbalanced: AtomicU64::new(0),
            clock_steps_back: AtomicU64::new(0),
            visits_not_timed: AtomicU64::new(0),
            values_not_recorded: AtomicU64::new(0),
            messages_lost: AtomicU64::new(0),
            edges_lost: AtomicU64::new(0),
            polled_begun: AtomicU64::new(0),
            polled_ended: AtomicU64::new(0),
            processor: LastReading::default(),
            events: ArenaEvents::default(),
            obedience: Obedience::default(),
            off: Off::default(),
        })
    }

    /// Returns the node at `line`, which must be that of a record of this arena. Any thread.
    ///
    /// Lines come from words of the arena, where `insert` has put those of records, and go out in
    /// [`Visit`]s, whose holders give them back to the same arena.
    #[inline]
    fn node(&self, line: Line) -> Node<'_> {
        // SAFETY: such a line was handed out for a node, and is never released.
        unsafe { Node::at(&self.segment, line) }
    }

    #[inline]
    fn current(&self) -> Line {
        Line::from_number(self.hot.current().load(Relaxed))
    }

    /// Opens a visit of `site` under the innermost open region. A visit of the region inside of
    /// itself is counted at once. Owner only.
    ///
    /// It handles only the usual visit and one that is not timed: saving registers would be
    /// measurable.
    #[inline]
    pub(crate) fn enter(&self, site: &'static Site) -> Visit {
        let parent = self.current();
        let cached = self.hot.cached(site.dense_index());
        let line = Line::from_number(high(cached));
        let key = low(cached) ^ parent.number();
        if !parent.is_none() {
            if key == 0 {
                // Stored first: a region in a signal handler that arrives now is inside of this
                // one.
                self.hot.current().store(line.number(), Relaxed);
                self.node(line).set(START, self.usual_ticks());
                return Visit::of_node(line);
            }
            if key == NOT_USUAL {
                let start = self.node(line).word(START);
                if let Some(left) = skipped::one_less(start.load(Relaxed)) {
                    self.hot.current().store(line.number(), Relaxed);
                    start.store(left, Relaxed);
                    return Visit::of_node(line);
                }
            }
        }
        enter_unusual(site, self)
    }

    /// Closes the visit that `enter` opened. Owner only.
    #[inline(always)]
    pub(crate) fn exit(&self, line: Line) {
        if !self.exit_usual(line, || self.usual_ticks()) {
            self.exit_unusual(line);
        }
    }

    /// Closes the visit that `enter` opened, which has ended at `now`. Owner only.
    #[inline(always)]
    pub(crate) fn exit_at(&self, line: Line, now: u64) {
        if !self.exit_usual(line, || now) {
            self.exit_unusual_at(line, now);
        }
    }

    /// Closes a visit that takes the shortest path, or is not timed. Returns false, with nothing
    /// done, for all others.
    #[inline(always)]
    fn exit_usual(&self, line: Line, now: impl FnOnce() -> u64) -> bool {
        let node = self.node(line);
        let parent = node.parent();
        if self.current() != line {
            return false;
        }
        let is_closed = if node.get(EXECUTION) == self.regular_execution() {
            self.add_usual_visit(node, now)
        } else {
            // The end of a root region is a flush point, timed or not, so it takes the other path.
            node.get(START) & skipped::MARK != 0 && !parent.is_none()
        };
        if is_closed {
            self.hot.current().store(parent.number(), Relaxed);
        }
        is_closed
    }

    /// Like `enter`, it only finds out which visit it is: saving registers would be measurable.
    #[inline(never)]
    fn exit_unusual(&self, line: Line) {
        if !self.watches_visits() {
            self.exit_root(line);
        } else if !self.exit_kept(line, || self.usual_ticks()) {
            self.exit_slowly(line, None);
        }
    }

    #[inline(never)]
    fn exit_root(&self, line: Line) {
        if !self.exit_usual_root(line, || self.usual_ticks()) {
            self.exit_slowly(line, None);
        }
    }

    #[inline(never)]
    fn exit_unusual_at(&self, line: Line, now: u64) {
        let is_closed = if self.watches_visits() {
            self.exit_kept(line, || now)
        } else {
            self.exit_usual_root(line, || now)
        };
        if !is_closed {
            self.exit_slowly(line, Some(now));
        }
    }

    #[inline(always)]
    fn exit_usual_root(&self, line: Line, now: impl FnOnce() -> u64) -> bool {
        let is_closed = self.current() == line && self.add_usual_root(self.node(line), now);
        if is_closed {
            self.hot.current().store(0, Relaxed);
            self.pass_flush_point();
        }
        is_closed
    }

    /// Closes a visit that is usual but for that its thread keeps events, which must be so. Returns
    /// false, with nothing done, for all others.
    #[inline(always)]
    fn exit_kept(&self, line: Line, now: impl FnOnce() -> u64) -> bool {
        let node = self.node(line);
        if self.current() != line || node.get(EXECUTION) != self.execution_unwatched() {
            return false;
        }
        let (begin, now) = (node.get(START), now());
        let is_closed = self.add_usual_visit(node, || now);
        if is_closed {
            self.hot.current().store(node.parent().number(), Relaxed);
            self.note_event_of(node, line, begin, now);
        }
        is_closed
    }

    /// Closes a visit that has ended at `known`, or else ends now.
    #[inline(never)]
    fn exit_slowly(&self, line: Line, known: Option<u64>) {
        self.take_samples();
        let node = self.node(line);
        if node.get(START) & skipped::MARK == 0 {
            let now = known.unwrap_or_else(|| self.clock.ticks());
            if self.current() != line && !self.unwind_to(line) {
                return;
            }
            let begin = node.get(START);
            self.add_visit(node, now, 0);
            self.hot.current().store(node.parent().number(), Relaxed);
            // The last, as a command may leave nothing open.
            self.note_event(node, line, begin, now);
        } else {
            if self.current() != line && !self.unwind_to(line) {
                return;
            }
            self.hot.current().store(node.parent().number(), Relaxed);
        }
        if node.parent().is_none() {
            self.pass_flush_point();
        }
    }

    /// Closes an iteration of the loop at `line` and opens the next, with a single clock read.
    /// Owner only.
    #[inline]
    pub(crate) fn next_iteration(&self, line: Line) {
        let node = self.node(line);
        if self.current() == line {
            let (own, usual) = (node.get(EXECUTION), self.regular_execution());
            if own == usual {
                if self.add_usual_iteration(node) {
                    return;
                }
            } else if own == usual | usual::ONE_OF_SERIES {
                return self.next_iteration_of_series(line);
            }
        }
        self.next_iteration_unusual(line);
    }

    /// Moves to the next iteration of a loop that is usual but for that its thread keeps events,
    /// which must be so.
    #[inline(always)]
    fn next_iteration_kept(&self, node: Node<'_>, line: Line) -> bool {
        let (own, usual) = (node.get(EXECUTION), self.execution_unwatched());
        let begin = node.get(START);
        let is_moved = self.current() == line
            && (own == usual && self.add_usual_iteration(node)
                || own == usual | usual::ONE_OF_SERIES && self.add_usual_iteration_of_series(node));
        if is_moved {
            self.note_event_of(node, line, begin, node.get(START));
        }
        is_moved
    }

    /// Moves to the next iteration of the innermost region, a loop in mode `each`, in its thread's
    /// execution. Owner only.
    #[inline(never)]
    fn next_iteration_of_series(&self, line: Line) {
        if !self.add_usual_iteration_of_series(self.node(line)) {
            self.next_iteration_unusual(line);
        }
    }

    #[inline(never)]
    fn next_iteration_unusual(&self, line: Line) {
        let node = self.node(line);
        if self.watches_visits() && self.next_iteration_kept(node, line) {
            return;
        }
        let timed = node.get(START) & skipped::MARK == 0;
        let now = if timed { self.clock.ticks() } else { 0 };
        if self.current() != line && !self.unwind_to_iteration(line) {
            return;
        }
        if !timed {
            return self.next_iteration_not_timed(node);
        }
        let begin = node.get(START);
        self.add_visit(node, now, now);
        self.note_event(node, line, begin, now);
        if node.parent().is_none() {
            self.take_samples();
            self.set_execution(node.completed_or_depth());
        }
    }

    /// Counts a visit whose time is part of the open visit.
    fn count_recursion(&self, line: Line) {
        let node = self.node(line);
        let execution = self.execution();
        let counted = node.update(|| {
            self.begin_execution(node, execution);
            node.set(VISITS, node.get(VISITS) + 1);
            self.add_unsampled(node);
        });
        if !counted {
            self.keep_out_visit();
        }
    }

    /// Adds the visit from the node's start to `now`; `start` is the beginning of the next visit,
    /// or 0.
    #[inline(always)]
    fn add_visit(&self, node: Node<'_>, now: u64, start: u64) {
        self.count_cost(VISIT_UNITS);
        let ticks = self.ticks_between(node.get(START), now);
        let execution = self.execution();
        if low(node.get(SAMPLES)) != 0 {
            return self.add_sampled_visit(node, ticks, execution, start);
        }
        if !node.begin_update() {
            return self.keep_out_visit();
        }
        self.add_ticks(node, ticks, execution);
        complete_execution(node);
        node.set(START, start);
        node.end_update();
    }

    /// Returns the time from `begin` to `now`; 0 if the clock went back, which is counted.
    #[inline]
    fn ticks_between(&self, begin: u64, now: u64) -> u64 {
        now.checked_sub(begin).unwrap_or_else(|| {
            self.clock_steps_back.fetch_add(1, Relaxed);
            self.publish_losses();
            0
        })
    }

    /// Adds a visit of `ticks` in `execution`, inside of [`Node::update`].
    #[inline(always)]
    fn add_ticks(&self, node: Node<'_>, ticks: u64, execution: u32) {
        if low(node.get(EXECUTION)) == execution {
            add_to_live(node, ticks);
        } else if low(node.get(SAMPLES)) != 0 {
            self.close_execution(node, execution);
            add_to_live(node, ticks);
        } else {
            self.keep_live(node);
            restart_live(node, execution, ticks);
        }
        if low(node.get(SERIES + 1)) != 0 && !log::push_visit(node, execution, ticks) {
            self.lose_visits(1);
        }
    }

    /// Starts the live numbers of `execution`; those of another execution go to the log.
    #[inline(always)]
    fn begin_execution(&self, node: Node<'_>, execution: u32) {
        if low(node.get(EXECUTION)) != execution {
            self.close_execution(node, execution);
        }
    }

    #[inline]
    fn close_execution(&self, node: Node<'_>, execution: u32) {
        if low(node.get(SAMPLES)) != 0 {
            self.close_samples(node, execution);
        } else {
            self.keep_live(node);
        }
        clear_live(node, execution);
    }

    /// Appends the live numbers, if there are any, to the log. Inside of [`Node::update`].
    #[inline]
    fn keep_live(&self, node: Node<'_>) {
        if node.get(VISITS) > 0 && !log::push(node, live_execution(node)) {
            self.lose_visits(node.get(VISITS));
        }
    }

    /// Returns whether no region is open. Owner only.
    #[inline]
    pub(crate) fn is_outside_of_regions(&self) -> bool {
        self.current().is_none()
    }

    /// Returns when the open visit of the record at `line` has begun, in ticks; now, if it is not
    /// timed. Owner only.
    #[inline]
    pub(crate) fn begun(&self, line: Line) -> u64 {
        match self.node(line).get(START) {
            start if start & skipped::MARK == 0 => start,
            _ => self.now(),
        }
    }

    /// Returns the current moment, on this arena's clock and in ns of `CLOCK_MONOTONIC`.
    pub(crate) fn moment(&self) -> Moment {
        now(self.clock)
    }

    /// Returns the ticks of this arena's clock.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.clock.ticks()
    }
}

/// Opens a visit that is not usual: of a root region, a series, a callpath under a budget, the
/// first visit of a callpath, or one from another place than the last.
///
/// `site` is the first argument because the caller has it in the right register.
#[inline(never)]
fn enter_unusual(site: &'static Site, arena: &Arena) -> Visit {
    let parent = arena.current();
    let cached = arena.hot.cached(site.dense_index());
    if low(cached) == parent.number() | NOT_USUAL {
        return open_known(arena, parent, Line::from_number(high(cached)));
    }
    if cached == FILTERED {
        return Visit::LOST;
    }
    enter_unknown(site, arena)
}

/// Opens a visit of a callpath that is not in the cache.
#[inline(never)]
fn enter_unknown(site: &'static Site, arena: &Arena) -> Visit {
    let parent = arena.current();
    let cached = arena.cached_of_run_time(site);
    if cached == FILTERED {
        return Visit::LOST;
    }
    if low(cached) & !NOT_USUAL == parent.number() && cached != 0 {
        return open_known(arena, parent, Line::from_number(high(cached)));
    }
    enter_uncached(site, arena)
}

/// Opens a visit of a callpath that no cache knows. While measuring is off, all are such.
#[cold]
#[inline(never)]
fn enter_uncached(site: &'static Site, arena: &Arena) -> Visit {
    if let Some(visit) = arena.enter_off() {
        return visit;
    }
    let parent = arena.current();
    match arena.find_or_insert(parent, site) {
        Entered::Node(line) => open_known(arena, parent, line),
        Entered::Recursion(line) => {
            arena.count_recursion(line);
            Entered::Recursion(line).into()
        }
        Entered::Lost => Visit::LOST,
    }
}

/// Opens a visit of the record at `line` under `parent`.
#[inline(always)]
fn open_known(arena: &Arena, parent: Line, line: Line) -> Visit {
    let node = arena.node(line);
    // Stored first: a region in a signal handler that arrives now is inside of this one.
    arena.hot.current().store(line.number(), Relaxed);
    if parent.is_none() {
        arena.set_execution(node.completed_or_depth());
    }
    if high(node.get(EXECUTION)) & kind::SAMPLED == 0 || !arena.skips(node) {
        node.set(START, arena.clock.ticks());
    }
    Visit::of_node(line)
}
