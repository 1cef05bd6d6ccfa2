//! A part of a run: what one rank has measured between two of its own snapshots.
//!
//! Counts, times and bytes are differences, and exact. The shortest and longest visit of an
//! execution of which an earlier part has some are those of both parts together.

use std::collections::{BTreeMap, HashMap};

use super::{
    CallpathId, CallpathIndex, CallpathValues, Edge, EventMap, ExecutionSummary, MetricSummary,
    MetricValues, SeriesBucket, Traffic,
};

/// The clock's rate is known better in the later snapshot. Time without a visit that is below this
/// part of what there was is that difference.
const SAME_CLOCK: u64 = 10_000;

impl EventMap {
    /// Returns what was measured after `earlier`, a snapshot of the same process. A callpath that
    /// took time of which no visit has ended has one visit. Facts about the rank are those of the
    /// whole run so far.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = self.rows_in(earlier);
        let none = CallpathValues::default();
        let values: Vec<CallpathValues> = self
            .values
            .iter()
            .zip(&before)
            .map(|(later, row)| later.since(row.map_or(&none, |row| &earlier.values[row.row()])))
            .collect();
        let mut is_wanted: Vec<bool> = values.iter().map(|values| !values.is_absent()).collect();
        // A parent is an earlier row.
        for (at, callpath) in self.callpaths.rows().iter().enumerate().rev() {
            if let Some(parent) = callpath.parent.filter(|_| is_wanted[at]) {
                is_wanted[parent.row()] = true;
            }
        }
        let rows = self.callpaths.rows();
        let records = rows.iter().zip(values).zip(is_wanted).filter(|(_, wanted)| *wanted);
        let records = records.map(|((callpath, values), _)| {
            let parent = callpath.parent.map(|parent| rows[parent.row()].id);
            (callpath.id, parent, callpath.region.clone(), values)
        });
        Self::from_records(records, self.facts.clone())
    }

    /// Returns the row of each callpath in `earlier`; none where it is new.
    fn rows_in(&self, earlier: &Self) -> Vec<Option<CallpathIndex>> {
        let mut known: HashMap<(Option<CallpathIndex>, CallpathId), Vec<CallpathIndex>> =
            HashMap::new();
        for (index, callpath) in earlier.callpaths.iter() {
            known.entry((callpath.parent, callpath.id)).or_default().push(index);
        }
        let mut found: Vec<Option<CallpathIndex>> = Vec::with_capacity(self.callpaths.len());
        for callpath in self.callpaths.rows() {
            let parent = callpath.parent.map(|parent| found[parent.row()]);
            let row = match parent {
                Some(None) => None,
                Some(parent @ Some(_)) => known.get(&(parent, callpath.id)),
                None => known.get(&(None, callpath.id)),
            };
            let is_same =
                |row: &&CallpathIndex| earlier.callpaths.get(**row).region == callpath.region;
            found.push(row.and_then(|rows| rows.iter().find(is_same).copied()));
        }
        found
    }
}

impl CallpathValues {
    /// Returns what was measured after `earlier`.
    fn since(&self, earlier: &Self) -> Self {
        let metric = |(key, later): (&String, &MetricValues)| {
            let none = MetricValues::default();
            let values = later.since(earlier.metrics.get(key).unwrap_or(&none));
            (!values.is_empty()).then(|| (key.clone(), values))
        };
        Self {
            executions: summaries_since(&self.executions, &earlier.executions),
            series: series_since(&self.series, &earlier.series),
            metrics: self.metrics.iter().filter_map(metric).collect(),
            messages: map_since(&self.messages, &earlier.messages, |later, earlier| {
                let count = later.count.saturating_sub(earlier.count);
                let bytes = later.bytes.saturating_sub(earlier.bytes);
                (count > 0 || bytes > 0).then_some(Traffic { count, bytes })
            }),
            edges: map_since(&self.edges, &earlier.edges, edge_since),
        }
    }
}

impl MetricValues {
    fn since(&self, earlier: &Self) -> Self {
        let values = self.values().saturating_sub(earlier.values());
        let (Some(first), true) = (self.executions.first(), values > 0) else {
            return Self::default();
        };
        let all = self.executions.iter().fold(*first, |mut all, next| {
            all.min = all.min.min(next.min);
            all.max = all.max.max(next.max);
            all
        });
        let squares = |of: &Self| of.executions.iter().map(|one| one.sum_squares).sum::<f64>();
        let end = self.executions.last().map_or(0, |last| last.execution + last.executions);
        let begin = earlier.executions.last().map_or(first.execution, |last| last.execution);
        let sum = self.sum() - earlier.sum();
        let summary = MetricSummary {
            execution: begin,
            executions: end.saturating_sub(begin).max(1),
            values,
            sum,
            min: all.min,
            max: all.max,
            sum_squares: (squares(self) - squares(earlier)).max(0.0),
        };
        let one = MetricSummary::of_one_value(begin, sum);
        let summary = if values == 1 && summary.executions == 1 { one } else { summary };
        Self { executions: vec![summary], series: Vec::new() }
    }
}

/// Returns what came after `earlier`. Executions that were folded since are kept as one.
fn summaries_since(
    later: &[ExecutionSummary],
    earlier: &[ExecutionSummary],
) -> Vec<ExecutionSummary> {
    let span = |one: &ExecutionSummary| (one.execution, one.executions);
    let is_begin = later.len() >= earlier.len()
        && later.iter().zip(earlier).all(|(later, earlier)| span(later) == span(earlier));
    if is_begin {
        let (both, new) = later.split_at(earlier.len());
        let of_both = both.iter().zip(earlier).filter_map(|(later, earlier)| minus(later, earlier));
        return of_both.chain(new.iter().copied()).collect();
    }
    let whole = |of: &[ExecutionSummary]| {
        let (first, rest) = of.split_first()?;
        Some(rest.iter().fold(*first, |mut all, next| {
            all.absorb(next);
            all
        }))
    };
    let open = earlier.last().map_or(0, |last| last.execution);
    let part = whole(later).zip(whole(earlier)).and_then(|(later, earlier)| {
        let end = later.execution.saturating_add(later.executions);
        let begin = open.max(later.execution);
        minus(&later, &earlier).map(|part| (part, begin, end.saturating_sub(begin).max(1)))
    });
    let spanned = part.map(|(part, execution, executions)| match (part.visits, executions) {
        (1, 1) => ExecutionSummary::of_one_visit(execution, part.sum_ns),
        _ => ExecutionSummary { execution, executions, ..part },
    });
    spanned.into_iter().collect()
}

/// Returns the visits of `later` that `earlier` does not have; `None` if there is nothing of them.
#[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
fn minus(later: &ExecutionSummary, earlier: &ExecutionSummary) -> Option<ExecutionSummary> {
    let visits = later.visits.saturating_sub(earlier.visits);
    let sum_ns = later.sum_ns.saturating_sub(earlier.sum_ns);
    if visits == 0 && sum_ns <= earlier.sum_ns / SAME_CLOCK {
        return None;
    }
    let visits = visits.max(1);
    if visits == 1 && later.executions == 1 {
        return Some(ExecutionSummary::of_one_visit(later.execution, sum_ns));
    }
    // The rest of a visit that was open may be shorter than any.
    let mean_ns = sum_ns / visits;
    let least = sum_ns as f64 * sum_ns as f64 / visits as f64;
    Some(ExecutionSummary {
        visits,
        sum_ns,
        min_ns: later.min_ns.min(mean_ns),
        max_ns: later.max_ns.max(mean_ns + 1).min(sum_ns.max(later.max_ns)),
        sum_squares_ns2: (later.sum_squares_ns2 - earlier.sum_squares_ns2).max(least),
        sum_variance_ns2: (later.sum_variance_ns2 - earlier.sum_variance_ns2).max(0.0),
        ..*later
    })
}

/// Returns the visits that came after `earlier`. One that was folded with some of them is left out.
fn series_since(later: &[SeriesBucket], earlier: &[SeriesBucket]) -> Vec<SeriesBucket> {
    let mut known = earlier.iter().fold(0_u64, |sum, bucket| sum + u64::from(bucket.visits));
    let is_known = |bucket: &&SeriesBucket| {
        let is_known = known > 0;
        known = known.saturating_sub(bucket.visits.into());
        is_known
    };
    later.iter().skip_while(is_known).copied().collect()
}

fn map_since<K: Ord + Copy, V>(
    later: &BTreeMap<K, V>,
    earlier: &BTreeMap<K, V>,
    minus: impl Fn(&V, &V) -> Option<V>,
) -> BTreeMap<K, V>
where
    V: Copy + Default,
{
    let none = V::default();
    let each = later.iter();
    each.filter_map(|(key, later)| Some((*key, minus(later, earlier.get(key).unwrap_or(&none))?)))
        .collect()
}

fn edge_since(later: &Edge, earlier: &Edge) -> Option<Edge> {
    let of = |word: fn(&Edge) -> u64| word(later).saturating_sub(word(earlier));
    let count = of(|edge| edge.count);
    if count == 0 {
        return None;
    }
    if earlier.count == 0 {
        return Some(*later);
    }
    Some(Edge {
        count,
        bytes: of(|edge| edge.bytes),
        sum_ns: of(|edge| edge.sum_ns),
        sum_squares_ns2: (later.sum_squares_ns2 - earlier.sum_squares_ns2).max(0.0),
        compensated_ns: of(|edge| edge.compensated_ns),
        transfer_ns: of(|edge| edge.transfer_ns),
        wrong_order_ns: of(|edge| edge.wrong_order_ns),
        late_receiver_ns: of(|edge| edge.late_receiver_ns),
        ..*later
    })
}

#[cfg(test)]
mod tests;
