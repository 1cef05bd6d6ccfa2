//! The amounts of one run by callpath: always the amount per rank and execution, and the values
//! behind that mean.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use tinyprof_format::model::{CallpathIndex, CallpathValues};
use tinyprof_report::{Activity, ByCallpath, SortKey};

use super::batches::{Batches, Span};
use super::names::Names;
use super::options::Estimator;

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

impl Amounts {
    /// Returns the amount per rank of a typical execution; of the mean one if there is only one
    /// execution.
    pub(super) fn of_executions(&self, estimator: Estimator) -> f64 {
        let mut sorted = self.by_execution.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match (estimator, sorted.as_slice()) {
            (Estimator::Mean, _) | (_, []) => self.mean,
            (Estimator::Min, [least, ..]) => *least,
            (Estimator::Median, sorted) if sorted.len() % 2 == 1 => sorted[middle],
            (Estimator::Median, sorted) => f64::midpoint(sorted[middle - 1], sorted[middle]),
        }
    }
}

/// Sums that become amounts.
#[derive(Debug, Default)]
struct Sums {
    visited: Vec<bool>,
    by_rank: Vec<f64>,
    /// The sum of each first execution of a summary, in ascending order.
    by_execution: Vec<(u32, f64)>,
    /// The children's part, for metrics that exclude it.
    children_by_rank: Vec<f64>,
    children_by_execution: Vec<(u32, f64)>,
    variance: f64,
    /// The inclusive time, for the share.
    inclusive_ns: f64,
    /// The part of the exclusive time that is start-up.
    startup_ns: f64,
}

/// Returns the amounts of `metric` in a profile on `ranks`, by row of `names`, to which the
/// profile's callpaths are added.
///
/// # Errors
/// If the profile cannot be read.
pub(super) fn amounts(
    profile: &dyn ByCallpath,
    metric: &SortKey,
    ranks: &[usize],
    names: &mut Names,
) -> Result<Vec<Amounts>, Box<dyn Error>> {
    let placed = names.place(profile.callpaths());
    let activities = Activity::of_callpaths(profile.callpaths());
    let is_setup = |at: CallpathIndex| activities[at.row()] == Some(Activity::Setup);
    let mut spans: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    let mut sums: Vec<Sums> = names.rows().iter().map(|_| Sums::default()).collect();
    profile.each(&mut |index, values| {
        let row = placed[index.row()];
        let spans = spans.entry(names.rows()[row].root).or_default();
        let caller = profile.callpaths().get(index).parent;
        let parent = caller.filter(|_| *metric == SortKey::Exclusive);
        for (position, &rank) in ranks.iter().enumerate() {
            let values = &values[rank];
            let of_times = values.executions.iter().map(|e| (e.execution, e.executions));
            of_times.enumerate().for_each(|(at, span)| add_span(spans, at, span));
            let of_metric = entries(values, metric).map(|entry| entry.span);
            of_metric.enumerate().for_each(|(at, span)| add_span(spans, at, span));
            sums[row].add((position, ranks.len()), values, metric);
            let inclusive_ns = number(values.inclusive_ns());
            if is_setup(index) {
                sums[row].startup_ns += inclusive_ns;
            }
            // Its exclusive time is without that of its callees.
            if let Some(above) = caller.filter(|above| is_setup(*above)) {
                sums[placed[above.row()]].startup_ns -= inclusive_ns;
            }
            if let Some(parent) = parent {
                sums[placed[parent.row()]].add_child((position, ranks.len()), values);
            }
        }
        Ok(())
    })?;
    let of_root = |(root, spans): (usize, Vec<Span>)| {
        (root, Batches::of(&spans.into_iter().collect::<BTreeSet<Span>>()))
    };
    let batches: BTreeMap<usize, Batches> = spans.into_iter().map(of_root).collect();
    let none = Batches::default();
    let mut startup_ns: Vec<f64> = sums.iter().map(|sums| sums.startup_ns).collect();
    for (row, named) in names.rows().iter().enumerate().rev() {
        if let Some(parent) = named.parent {
            startup_ns[parent] += startup_ns[row];
        }
    }
    // Start-up has no share, as in `TimeBase`.
    let worked_ns: Vec<f64> =
        sums.iter().zip(startup_ns).map(|(sums, ns)| (sums.inclusive_ns - ns).max(0.0)).collect();
    let of_roots = names.rows().iter().zip(&worked_ns).filter(|(row, _)| row.parent.is_none());
    let total_ns: f64 = of_roots.map(|(_, worked_ns)| worked_ns).sum();
    let finished = names.rows().iter().zip(sums).zip(worked_ns).map(|((row, sums), worked_ns)| {
        let share = if total_ns > 0.0 { worked_ns / total_ns } else { 0.0 };
        Amounts { share, ..sums.amounts(ranks.len(), batches.get(&row.root).unwrap_or(&none)) }
    });
    Ok(finished.collect())
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
    /// Adds the values of a rank: its position among the selected ones, and their number.
    fn add(&mut self, (rank, ranks): (usize, usize), values: &CallpathValues, metric: &SortKey) {
        self.inclusive_ns += number(values.inclusive_ns());
        for entry in entries(values, metric) {
            self.visited.resize(ranks, false);
            self.by_rank.resize(ranks, 0.0);
            self.visited[rank] = true;
            self.by_rank[rank] += entry.amount;
            add_at(&mut self.by_execution, entry.span.0, entry.amount);
            self.variance += entry.variance;
        }
    }

    fn add_child(&mut self, (rank, ranks): (usize, usize), values: &CallpathValues) {
        for entry in entries(values, &SortKey::Inclusive) {
            self.children_by_rank.resize(ranks, 0.0);
            self.children_by_rank[rank] += entry.amount;
            add_at(&mut self.children_by_execution, entry.span.0, entry.amount);
            // The variance of a difference is the sum of both variances.
            self.variance += entry.variance;
        }
    }

    fn amounts(self, ranks: usize, batches: &Batches) -> Amounts {
        let visited_ranks = self.visited.iter().filter(|visited| **visited).count();
        if visited_ranks == 0 {
            return Amounts::default();
        }
        let (ranks, executions) = (number(ranks as u64), number(batches.counts().sum()));
        // Children that ran on several threads may sum to more than the parent.
        let own = |sums: Vec<f64>, children: &[f64]| -> Vec<f64> {
            let below = children.iter().chain(std::iter::repeat(&0.0));
            let left =
                |(sum, &child): (f64, &f64)| if child > 0.0 { (sum - child).max(0.0) } else { sum };
            sums.into_iter().zip(below).map(left).collect()
        };
        let by_rank = own(self.by_rank, &self.children_by_rank);
        let by_batch = own(
            by_batch(&self.by_execution, batches),
            &by_batch(&self.children_by_execution, batches),
        );
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

/// Adds a span to an ascending list, in which it most likely is at `guess`.
fn add_span(spans: &mut Vec<Span>, guess: usize, span: Span) {
    if spans.get(guess) == Some(&span) {
        return;
    }
    if let Err(at) = spans.binary_search(&span) {
        spans.insert(at, span);
    }
}

/// Adds an amount to that of an execution. Most lists are made in the order of executions, rank
/// after rank.
fn add_at(sums: &mut Vec<(u32, f64)>, execution: u32, amount: f64) {
    let guess = execution as usize;
    let found = match sums.get(guess) {
        Some((found, _)) if *found == execution => Ok(guess),
        _ => sums.binary_search_by_key(&execution, |(execution, _)| *execution),
    };
    match found {
        Ok(at) => sums[at].1 += amount,
        Err(at) => sums.insert(at, (execution, amount)),
    }
}

/// Returns the sums of batches.
fn by_batch(by_execution: &[(u32, f64)], batches: &Batches) -> Vec<f64> {
    let mut sums = vec![0.0; batches.counts().count()];
    for (execution, amount) in by_execution {
        sums[batches.position(*execution)] += amount;
    }
    sums
}

/// Times and counts are exact up to 2^53, which is 104 days in nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "what is greater is rounded by one part in 2^53")]
const fn number(n: u64) -> f64 {
    n as f64
}
