//! The amounts of one run by callpath: always the amount per rank and execution, and the values
//! behind that mean.

use std::collections::{BTreeMap, BTreeSet};

use tinyprof_format::model::{CallpathValues, Profile};
use tinyprof_report::SortKey;

use super::batches::{Batches, Span};
use super::names::Names;

/// The amounts of one callpath in one run, in the metric's unit. Ranks and executions without a
/// visit count as 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Amounts {
    /// The number of ranks with any value.
    pub(super) visited_ranks: usize,
    /// The mean over all ranks and executions.
    pub(super) mean: f64,
    /// The variance of the mean due to visits that were not timed.
    pub(super) variance: f64,
    /// The mean over executions, by rank; empty for a single rank.
    pub(super) by_rank: Vec<f64>,
    /// The mean over ranks, by execution, or by batch if executions were folded; empty for a single
    /// one.
    pub(super) by_execution: Vec<f64>,
    /// `true` if a value of `by_execution` covers several executions.
    pub(super) folded: bool,
    /// Its share of the inclusive time of the run's root regions.
    pub(super) share: f64,
}

/// Sums that become amounts.
struct Sums {
    visited: Vec<bool>,
    by_rank: Vec<f64>,
    by_batch: Vec<f64>,
    /// The children's part, for metrics that exclude it.
    children_by_rank: Vec<f64>,
    children_by_batch: Vec<f64>,
    variance: f64,
}

/// Returns the amounts of `metric` in a profile on `ranks`, by row of `names`, to which the
/// profile's callpaths are added.
pub(super) fn amounts(
    profile: &Profile,
    metric: &SortKey,
    ranks: &[usize],
    names: &mut Names,
) -> Vec<Amounts> {
    let placed = names.place(&profile.callpaths);
    let batches = batches(profile, metric, ranks, &placed, names);
    let none = Batches::default();
    let batches_of = |row: usize| batches.get(&names.rows()[row].root).unwrap_or(&none);
    let new_sums = |row| Sums::new(ranks.len(), batches_of(row).counts().count());
    let mut sums: Vec<Sums> = (0..names.rows().len()).map(new_sums).collect();
    for (index, callpath) in profile.callpaths.iter() {
        let row = placed[index.row()];
        for (position, &rank) in ranks.iter().enumerate() {
            let values = profile.values(index, rank);
            sums[row].add(position, values, metric, batches_of(row));
            if let (SortKey::Exclusive, Some(parent)) = (metric, callpath.parent) {
                sums[placed[parent.row()]].add_child(position, values, batches_of(row));
            }
        }
    }
    let shares = shares(profile, ranks, &placed, names);
    let finished = sums.into_iter().enumerate().zip(shares);
    finished
        .map(|((row, sums), share)| Amounts { share, ..sums.amounts(batches_of(row)) })
        .collect()
}

/// Returns the executions of each root region, by its row in the names.
fn batches(
    profile: &Profile,
    metric: &SortKey,
    ranks: &[usize],
    placed: &[usize],
    names: &Names,
) -> BTreeMap<usize, Batches> {
    let mut spans: BTreeMap<usize, BTreeSet<Span>> = BTreeMap::new();
    for (index, _) in profile.callpaths.iter() {
        let spans = spans.entry(names.rows()[placed[index.row()]].root).or_default();
        for &rank in ranks {
            let values = profile.values(index, rank);
            spans.extend(values.executions.iter().map(|e| (e.execution, e.executions)));
            spans.extend(entries(values, metric).map(|entry| entry.span));
        }
    }
    spans.into_iter().map(|(root, spans)| (root, Batches::of(&spans))).collect()
}

/// Returns each callpath's share of the inclusive time of all root regions, by row of the names.
fn shares(profile: &Profile, ranks: &[usize], placed: &[usize], names: &Names) -> Vec<f64> {
    let mut sums = vec![0.0; names.rows().len()];
    for (index, _) in profile.callpaths.iter() {
        for &rank in ranks {
            sums[placed[index.row()]] += number(profile.values(index, rank).inclusive_ns());
        }
    }
    let roots = names.rows().iter().zip(&sums).filter(|(row, _)| row.parent.is_none());
    let total: f64 = roots.map(|(_, sum)| sum).sum();
    sums.into_iter().map(|sum| if total > 0.0 { sum / total } else { 0.0 }).collect()
}

/// The contribution of a summary to a metric.
struct Entry {
    span: Span,
    amount: f64,
    variance: f64,
}

fn entries<'a>(
    values: &'a CallpathValues,
    metric: &SortKey,
) -> impl Iterator<Item = Entry> + use<'a> {
    let counts_visits = *metric == SortKey::Visits;
    let key = if let SortKey::Key(key) = metric { Some(values.metrics.get(key)) } else { None };
    let summaries = if key.is_some() { &[][..] } else { &values.executions };
    let builtin = summaries.iter().map(move |e| Entry {
        span: (e.execution, e.executions),
        amount: number(if counts_visits { e.visits } else { e.sum_ns }),
        variance: if counts_visits { 0.0 } else { e.sum_variance_ns2 },
    });
    let recorded = key.flatten().into_iter().flat_map(|key| &key.executions);
    builtin.chain(recorded.map(|e| Entry {
        span: (e.execution, e.executions),
        amount: e.sum,
        variance: 0.0,
    }))
}

impl Sums {
    fn new(ranks: usize, batches: usize) -> Self {
        Self {
            visited: vec![false; ranks],
            by_rank: vec![0.0; ranks],
            by_batch: vec![0.0; batches],
            children_by_rank: Vec::new(),
            children_by_batch: Vec::new(),
            variance: 0.0,
        }
    }

    fn add(&mut self, rank: usize, values: &CallpathValues, metric: &SortKey, batches: &Batches) {
        for entry in entries(values, metric) {
            self.visited[rank] = true;
            self.by_rank[rank] += entry.amount;
            self.by_batch[batches.position(entry.span.0)] += entry.amount;
            self.variance += entry.variance;
        }
    }

    fn add_child(&mut self, rank: usize, values: &CallpathValues, batches: &Batches) {
        self.children_by_rank.resize(self.by_rank.len(), 0.0);
        self.children_by_batch.resize(self.by_batch.len(), 0.0);
        for entry in entries(values, &SortKey::Inclusive) {
            self.children_by_rank[rank] += entry.amount;
            self.children_by_batch[batches.position(entry.span.0)] += entry.amount;
            // The variance of a difference is the sum of both variances.
            self.variance += entry.variance;
        }
    }

    fn amounts(self, batches: &Batches) -> Amounts {
        let (ranks, executions) =
            (number(self.by_rank.len() as u64), number(batches.counts().sum()));
        // Children that ran on several threads may sum to more than the parent.
        let own = |sums: Vec<f64>, children: Vec<f64>| -> Vec<f64> {
            if children.is_empty() {
                return sums;
            }
            let left =
                |(sum, child): (f64, f64)| if child > 0.0 { (sum - child).max(0.0) } else { sum };
            sums.into_iter().zip(children).map(left).collect()
        };
        let by_rank = own(self.by_rank, self.children_by_rank);
        let by_batch = own(self.by_batch, self.children_by_batch);
        let visited_ranks = self.visited.into_iter().filter(|visited| *visited).count();
        if visited_ranks == 0 {
            return Amounts::default();
        }
        let per_batch = |(sum, count): (f64, u64)| sum / (ranks * number(count));
        let mean = by_rank.iter().sum::<f64>() / (ranks * executions);
        // One value is no sample, and there may be a million callpaths of one rank.
        let several = |values: Vec<f64>| if values.len() > 1 { values } else { Vec::new() };
        Amounts {
            visited_ranks,
            mean,
            variance: self.variance / (ranks * executions).powi(2),
            by_rank: several(by_rank.into_iter().map(|sum| sum / executions).collect()),
            by_execution: several(
                by_batch.into_iter().zip(batches.counts()).map(per_batch).collect(),
            ),
            folded: batches.are_folded(),
            share: 0.0,
        }
    }
}

/// Times and counts are exact up to 2^53, which is 104 days in nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "what is greater is rounded by one part in 2^53")]
const fn number(n: u64) -> f64 {
    n as f64
}
