//! Adding visits to the numbers of a record.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::words::{Line, low};

use super::live::{add_to_live, clear_live, complete_execution, live_execution, restart_live};
use super::{Arena, VISIT_UNITS};
use crate::record::log;
use crate::record::node::{EXECUTION, Node, SAMPLES, SERIES, START, VISITS};

impl Arena {
    /// Counts a visit whose time is part of the open visit.
    pub(super) fn count_recursion(&self, line: Line) {
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
    pub(super) fn add_visit(&self, node: Node<'_>, now: u64, start: u64) {
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
    pub(super) fn ticks_between(&self, begin: u64, now: u64) -> u64 {
        now.checked_sub(begin).unwrap_or_else(|| {
            self.clock_steps_back.fetch_add(1, Relaxed);
            self.publish_losses();
            0
        })
    }

    /// Adds a visit of `ticks` in `execution`, inside of [`Node::update`].
    #[inline(always)]
    pub(super) fn add_ticks(&self, node: Node<'_>, ticks: u64, execution: u32) {
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
    pub(super) fn begin_execution(&self, node: Node<'_>, execution: u32) {
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
}
