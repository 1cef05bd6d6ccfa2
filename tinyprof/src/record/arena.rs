//! One thread's tree of callpaths: a plain value, of which `thread` holds one for each thread.

mod adding;
mod call;
mod context;
mod edges;
mod enter;
mod events;
mod execution;
mod flush_points;
mod fold;
mod hot;
mod in_file;
mod insert;
mod iterate;
mod leave;
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
mod visit;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use tinyprof_segment::clock::Moment;
use tinyprof_segment::layout::skipped;
use tinyprof_segment::words::Line;

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
pub(crate) use visit::{Entered, Visit};

use super::clock::{Clock, now};
use super::lookup::Lookup;
use super::node::{Node, START};
use super::reentrancy::ReentrancyGuard;
use super::segment::Segment;
use super::site::Site;
use events::ArenaEvents;
use hot::Hot;
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
