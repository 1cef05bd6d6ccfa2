//! Copies of an arena's records, made by another thread while their owner changes them.

use std::sync::atomic::Ordering::Acquire;

use tinyprof_format::model::{CallpathId, MetricBucket, MetricSummary, MetricValues};
use tinyprof_format::ticks::OpenVisit;
use tinyprof_segment::layout::skipped;
use tinyprof_segment::sequence::retry;
use tinyprof_segment::words::{Line, high};

use super::super::element::{Element, PastExecution, SeriesElement};
use super::super::log;
use super::super::node::{Node, PARENT, START};
use super::super::site::Site;
use super::Arena;
use super::metric::live_values;
use super::sampling::live_estimate;

impl Arena {
    /// Returns every callpath's record, newest first, with `None` for one that changed in every
    /// attempt. Any thread.
    pub(crate) fn readings(&self) -> impl Iterator<Item = Option<Reading>> {
        let regions = self.nodes().filter(|node| !self.site(node.line()).is_metric());
        let mut ids = Ids::default();
        regions.map(move |node| retry(|| Reading::of(self, node, &mut ids, || ())))
    }

    /// Returns the records of all metrics in the same way. Any thread.
    pub(crate) fn metric_readings(&self) -> impl Iterator<Item = Option<MetricReading>> {
        let metrics = self.nodes().filter(|node| self.site(node.line()).is_metric());
        let mut ids = Ids::default();
        metrics.map(move |node| retry(|| MetricReading::of(self, node, &mut ids)))
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        let mut next = Line::from_number(self.last_node.load(Acquire));
        std::iter::from_fn(move || {
            let node = self.node((!next.is_none()).then_some(next)?);
            next = Line::from_number(high(node.get(PARENT)));
            Some(node)
        })
    }
}

/// A cache of callpath ids: neighbouring records have most of their parents in common.
#[derive(Debug)]
pub(super) struct Ids {
    /// The line of a node, and its callpath's id, indexed by the low bits of the line.
    lately: Vec<(Line, CallpathId)>,
    /// The nodes from a known one, or from the root, which comes last.
    way: Vec<Line>,
}

/// The number of cached ids: more than the deepest callpath has parents.
const IDS: usize = 2_048;

impl Default for Ids {
    fn default() -> Self {
        Self { lately: vec![(Line::NONE, CallpathId::from_bits(0)); IDS], way: Vec::new() }
    }
}

impl Ids {
    /// Returns the id of the callpath at `line`. Any thread.
    pub(super) fn of(&mut self, arena: &Arena, line: Line) -> CallpathId {
        let mut at = line;
        let mut id = None;
        while !at.is_none() && id.is_none() {
            let (known, known_id) = self.lately[slot(at)];
            if known == at {
                id = Some(known_id);
            } else {
                self.way.push(at);
                at = arena.node(at).parent();
            }
        }
        while let Some(at) = self.way.pop() {
            let site = arena.site(at).id();
            let own =
                id.map_or_else(|| CallpathId::root(site), |parent: CallpathId| parent.child(site));
            self.lately[slot(at)] = (at, own);
            id = Some(own);
        }
        id.expect("a callpath begins with its own record")
    }
}

/// Returns the cache index of a line: nodes are two lines apart.
const fn slot(line: Line) -> usize {
    (line.number() / 2) as usize % IDS
}

/// A consistent copy of one callpath's record, in ticks.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) id: CallpathId,
    pub(crate) parent: Option<CallpathId>,
    pub(crate) site: &'static Site,
    pub(crate) open: Option<OpenVisit>,
    pub(crate) executions: Vec<PastExecution>,
    pub(crate) series: Vec<SeriesElement>,
    /// Visits that were not timed, and are not yet included in the arena's count of them.
    pub(crate) visits_not_timed: u64,
}

impl Reading {
    /// Makes one attempt. `meanwhile` simulates what the owner may do between the first look and
    /// the copies.
    pub(super) fn of(
        arena: &Arena,
        node: Node<'_>,
        ids: &mut Ids,
        meanwhile: impl FnOnce(),
    ) -> Option<Self> {
        let live = |node: Node<'_>| {
            let start = node.get(START);
            (live_estimate(node, start), start)
        };
        let Copied { mut past, series, live: (live, start) } =
            Copied::<PastExecution, SeriesElement, _>::of(node, live, meanwhile)?;
        if live.visits > 0 {
            past.push(live);
        }
        let parent = node.parent();
        let open = start != 0 && start & skipped::MARK == 0;
        Some(Self {
            id: ids.of(arena, node.line()),
            parent: (!parent.is_none()).then(|| ids.of(arena, parent)),
            site: arena.site(node.line()),
            open: open.then(|| OpenVisit { since: start, execution: open_execution(arena, node) }),
            executions: past,
            series,
            visits_not_timed: skipped::passed(start),
        })
    }
}

/// A consistent copy of one metric of one callpath.
#[derive(Clone, Debug)]
pub(crate) struct MetricReading {
    pub(crate) callpath: CallpathId,
    pub(crate) key: &'static str,
    pub(crate) values: MetricValues,
}

impl MetricReading {
    fn of(arena: &Arena, node: Node<'_>, ids: &mut Ids) -> Option<Self> {
        let Copied { mut past, series, live } =
            Copied::<MetricSummary, MetricBucket, _>::of(node, live_values, || ())?;
        if live.values > 0 {
            past.push(live);
        }
        Some(Self {
            callpath: ids.of(arena, node.parent()),
            key: arena.site(node.line()).name(),
            values: MetricValues { executions: past, series },
        })
    }
}

/// A consistent copy of a record's lists and live numbers.
struct Copied<P, S, L> {
    past: Vec<P>,
    series: Vec<S>,
    live: L,
}

impl<P: Element, S: Element, L> Copied<P, S, L> {
    fn of(node: Node<'_>, live: impl Fn(Node<'_>) -> L, meanwhile: impl FnOnce()) -> Option<Self> {
        let segment = node.segment;
        let (past_at, series_at, live, last_past, last_visit) = node.try_read(|| {
            let (past, series) = (node.list(P::LIST), node.list(S::LIST));
            let last_past = log::last::<P>(segment, past);
            let last_visit = log::last::<S>(segment, series);
            (past, series, live(node), last_past, last_visit)
        })?;
        meanwhile();
        let mut past = log::copy::<P>(segment, past_at);
        let mut series = log::copy::<S>(segment, series_at);
        // The owner appends without moving existing elements, with two exceptions. It may add to
        // the last element, of which there is a consistent copy. It may also fold or move a list,
        // which changes its layout.
        let unmoved = node.try_read(|| {
            past_at.has_same_layout(node.list(P::LIST))
                && series_at.has_same_layout(node.list(S::LIST))
        })?;
        if !unmoved {
            return None;
        }
        if let (Some(last), Some(seen)) = (past.last_mut(), last_past) {
            *last = seen;
        }
        if let (Some(last), Some(seen)) = (series.last_mut(), last_visit) {
            *last = seen;
        }
        Some(Self { past, series, live })
    }
}

/// Returns the execution that a visit of `node` would belong to if it ended now.
fn open_execution(arena: &Arena, node: Node<'_>) -> u32 {
    let mut root = node;
    while !root.parent().is_none() {
        root = arena.node(root.parent());
    }
    root.completed_or_depth()
}
