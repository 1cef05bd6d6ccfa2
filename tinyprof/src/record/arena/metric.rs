//! Varying metrics: records beside those of regions, one level below their region.
//!
//! The words that hold a time in a region's record hold the bits of a float here.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_format::model::{MetricBucket, MetricSummary};
use tinyprof_segment::layout::header;
use tinyprof_segment::words::{Line, high, low};

use super::super::log;
use super::super::node::{EXECUTION, MAX, MIN, Node, SERIES, SQUARES, SUM, VISITS};
use super::super::site::Site;
use super::Arena;
use super::live::clear_live;

impl Arena {
    /// Adds a value of `metric` to the innermost open region. Owner only.
    pub(crate) fn record_innermost(&self, metric: &'static Site, value: f64) {
        self.record(self.current(), metric, value);
    }

    /// Adds a value of `metric` to the innermost open region; outside of all regions nothing is
    /// lost. Owner only.
    #[cfg(feature = "alloc")]
    #[expect(clippy::cast_precision_loss, reason = "sums of sizes are floats: 53 bits are 9 PB")]
    pub(crate) fn record_if_inside(&self, metric: &'static Site, value: usize) {
        let line = self.current();
        if !line.is_none() {
            self.record(line, metric, value as f64);
        }
    }

    /// Adds a value of `metric` to the region at `line`. Owner only.
    pub(crate) fn record(&self, line: Line, metric: &'static Site, value: f64) {
        if line.is_none() || !value.is_finite() || !self.add_value(line, metric, value) {
            self.lose_value(metric);
        }
    }

    /// Counts a value that is not recorded, unless nobody wants it. Rare.
    #[cold]
    fn lose_value(&self, metric: &'static Site) {
        if self.is_switched_off() || self.is_metric_taken_out(metric) {
            return;
        }
        let lost = self.values_not_recorded.load(Relaxed) + 1;
        self.values_not_recorded.store(lost, Relaxed);
        self.header(header::VALUES_NOT_RECORDED).store(lost, Relaxed);
    }

    fn add_value(&self, line: Line, metric: &'static Site, value: f64) -> bool {
        let cached = self.hot.cached(metric.dense_index());
        let known = (low(cached) == line.number()).then(|| Line::from_number(high(cached)));
        let Some(own) = known.or_else(|| self.find_or_insert_metric(line, metric)) else {
            return false;
        };
        let node = self.node(own);
        let execution = self.execution();
        let mut kept = true;
        node.update(|| {
            if low(node.get(EXECUTION)) != execution {
                kept &= node.get(VISITS) == 0 || log::push(node, live_values(node));
                clear_live(node, execution);
            }
            let live = live_values(node);
            let first = live.values == 0;
            node.set(VISITS, live.values + 1);
            node.set(SUM, (live.sum + value).to_bits());
            node.set(MIN, if first { value } else { live.min.min(value) }.to_bits());
            node.set(MAX, if first { value } else { live.max.max(value) }.to_bits());
            node.set(SQUARES, (live.sum_squares + value * value).to_bits());
            if low(node.get(SERIES + 1)) != 0 {
                let execution = low(node.get(EXECUTION));
                kept &= log::push(
                    node,
                    MetricBucket { execution, values: 1, sum: value, min: value, max: value },
                );
            }
        }) && kept
    }
}

/// Returns the live numbers of a metric's record.
pub(super) fn live_values(node: Node<'_>) -> MetricSummary {
    let float = |word| f64::from_bits(node.get(word));
    MetricSummary {
        execution: low(node.get(EXECUTION)),
        executions: 1,
        values: node.get(VISITS),
        sum: float(SUM),
        min: float(MIN),
        max: float(MAX),
        sum_squares: float(SQUARES),
    }
}
