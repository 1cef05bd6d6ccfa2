//! How another thread copies the records of an arena while their owner changes them.

use std::sync::atomic::Ordering::Acquire;

use tinyprof_format::model::CallpathId;
use tinyprof_format::ticks::OpenVisit;

use super::super::element::{PastExecution, SeriesElement};
use super::super::log::{self, Header};
use super::super::node::{EXECUTION, ID, Node, PARENT, START, high};
use super::super::segment::Line;
use super::super::site::Site;
use super::{Arena, live_execution};

/// How often another thread tries to copy a record that keeps changing.
const READ_TRIES: u32 = 10_000;

impl Arena {
    /// Every callpath's record, newest first, or none in place of one that changed in every try. Any thread.
    pub(crate) fn readings(&self) -> impl Iterator<Item = Option<Reading>> {
        let mut next = Line::from_number(self.last_node.load(Acquire));
        std::iter::from_fn(move || {
            let node = self.node((!next.is_none()).then_some(next)?);
            next = Line::from_number(high(node.get(PARENT)));
            Some((0..READ_TRIES).find_map(|_| Reading::of(self, node, || ())))
        })
    }
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
}

impl Reading {
    /// One try. `meanwhile` stands for what the owner may do between the first look and the copies.
    pub(super) fn of(arena: &Arena, node: Node<'_>, meanwhile: impl FnOnce()) -> Option<Self> {
        let segment = &arena.segment;
        let (past, series, live, last_past, last_visit, start) = node.try_read(|| {
            let (past, series) = (Header::of::<PastExecution>(node), Header::of::<SeriesElement>(node));
            let last_past = log::last::<PastExecution>(segment, past);
            let last_visit = log::last::<SeriesElement>(segment, series);
            (past, series, live_execution(node), last_past, last_visit, node.get(START))
        })?;
        meanwhile();
        let mut executions = log::copy::<PastExecution>(segment, past);
        let mut visits = log::copy::<SeriesElement>(segment, series);
        // The owner appends without moving what is there, except that it may add to the last element, of which
        // there is a consistent copy, and that it may fold or move a list, which changes its layout.
        let unmoved = node.try_read(|| {
            past.has_same_layout(Header::of::<PastExecution>(node))
                && series.has_same_layout(Header::of::<SeriesElement>(node))
        })?;
        if !unmoved {
            return None;
        }
        if let (Some(last), Some(seen)) = (executions.last_mut(), last_past) {
            *last = seen;
        }
        if let (Some(last), Some(seen)) = (visits.last_mut(), last_visit) {
            *last = seen;
        }
        if live.visits > 0 {
            executions.push(live);
        }
        let parent = node.parent();
        Some(Self {
            id: CallpathId::from_bits(node.get(ID)),
            parent: (!parent.is_none()).then(|| CallpathId::from_bits(arena.node(parent).get(ID))),
            site: arena.site(node.line),
            open: (start != 0).then(|| OpenVisit { since: start, execution: open_execution(arena, node) }),
            executions,
            series: visits,
        })
    }
}

/// The execution that a visit of `node` would belong to if it ended now.
fn open_execution(arena: &Arena, node: Node<'_>) -> u32 {
    let mut root = node;
    while !root.parent().is_none() {
        root = arena.node(root.parent());
    }
    high(root.get(EXECUTION))
}
