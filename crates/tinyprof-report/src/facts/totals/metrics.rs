//! The varying metrics of a run: one row for each key at each callpath, over all ranks.

use std::collections::BTreeMap;

use tinyprof_format::model::{
    CallpathIndex, CallpathValues, EventMap, MetricSummary, MetricValues,
};

/// The values recorded under one key at one callpath, on all ranks together.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The callpath.
    pub callpath: CallpathIndex,
    /// The key. Untrusted, as all names are.
    pub key: String,
    /// The number of values.
    pub values: u64,
    /// Their sum.
    pub sum: f64,
    /// The least of them.
    pub min: f64,
    /// The greatest of them.
    pub max: f64,
}

impl Metric {
    /// Returns the mean; none if there are no values, which only happens in a damaged profile.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean needs no more than 53 bits of its divisor"
    )]
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.values > 0).then(|| self.sum / self.values as f64)
    }
}

/// The metrics of a run, in the order of the callpath table, then of keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    rows: Vec<Metric>,
}

impl Metrics {
    /// Returns the metrics of a rank.
    pub(crate) fn of_event_map(map: &EventMap) -> Self {
        let rows = map.callpaths.iter().zip(&map.values);
        let of_row = |((index, _), values)| metrics_of(index, std::slice::from_ref(values));
        Self::of_rows(rows.flat_map(of_row).collect())
    }

    /// Creates the metrics of these rows, which are in order.
    pub(crate) const fn of_rows(rows: Vec<Metric>) -> Self {
        Self { rows }
    }

    /// Returns all rows.
    #[must_use]
    pub fn rows(&self) -> &[Metric] {
        &self.rows
    }

    /// Returns the metrics of one callpath.
    #[must_use]
    pub fn of_callpath(&self, callpath: CallpathIndex) -> &[Metric] {
        let start = self.rows.partition_point(|metric| metric.callpath < callpath);
        let rest = &self.rows[start..];
        &rest[..rest.partition_point(|metric| metric.callpath == callpath)]
    }

    /// Returns the sums over all callpaths with the same row in another table.
    #[must_use]
    pub fn by(&self, row_of_callpath: &[CallpathIndex]) -> Self {
        let mut sums: BTreeMap<(CallpathIndex, &str), Metric> = BTreeMap::new();
        for metric in &self.rows {
            let callpath = row_of_callpath[metric.callpath.row()];
            let add = |sum: &mut Metric| {
                sum.values = sum.values.saturating_add(metric.values);
                sum.sum += metric.sum;
                sum.min = sum.min.min(metric.min);
                sum.max = sum.max.max(metric.max);
            };
            sums.entry((callpath, &metric.key))
                .and_modify(add)
                .or_insert_with(|| Metric { callpath, ..metric.clone() });
        }
        Self { rows: sums.into_values().collect() }
    }
}

/// Sums up the values of a callpath, given rank by rank. The order of ranks makes the sums the same
/// in every report of a profile.
pub(crate) fn metrics_of(callpath: CallpathIndex, ranks: &[CallpathValues]) -> Vec<Metric> {
    let mut by_key: BTreeMap<&str, MetricSummary> = BTreeMap::new();
    for (key, values) in ranks.iter().flat_map(|values| &values.metrics) {
        let Some(one) = total(values) else { continue };
        by_key.entry(key).and_modify(|sum| sum.absorb(&one)).or_insert(one);
    }
    let metric = |(key, total): (&str, MetricSummary)| Metric {
        callpath,
        key: key.to_owned(),
        values: total.values,
        sum: total.sum,
        min: total.min,
        max: total.max,
    };
    by_key.into_iter().map(metric).collect()
}

fn total(values: &MetricValues) -> Option<MetricSummary> {
    values.executions.iter().copied().reduce(|mut sum, next| {
        sum.absorb(&next);
        sum
    })
}
