//! How near one analysis is to another.

use std::collections::BTreeSet;
use std::fmt;

use crate::online::Verdict;
use crate::post_mortem::{Analysis, Causes};

/// The differences of two analyses of one program, as shares.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Difference {
    /// Of the total delay costs.
    pub(crate) total: f64,
    /// The part of the costs that is said of another cause.
    pub(crate) moved: f64,
    /// Of the part that is direct.
    pub(crate) direct: f64,
    pub(crate) is_top_one_equal: bool,
    pub(crate) is_top_five_equal: bool,
    /// The part of the critical path that is said of another cause, of the run time.
    pub(crate) path: f64,
    pub(crate) is_path_top_five_equal: bool,
    /// The part of the path of which the cause is in no list.
    pub(crate) path_other: f64,
    /// The part of the costs that are propagated.
    pub(crate) propagated: f64,
}

/// Compares what was found with the truth.
pub(crate) fn compare(verdict: &Verdict, truth: &Analysis) -> Difference {
    let found = &verdict.analysis;
    let (all, all_true) = (costs(found), costs(truth));
    let (sum, sum_true) = (total(&all), total(&all_true).max(1.0));
    let direct = total(&found.direct) / sum.max(1.0);
    let propagated = total(&truth.propagated) / sum_true;
    Difference {
        total: (sum - sum_true).abs() / sum_true,
        moved: distance(&all, &all_true) / sum_true,
        direct: (direct - (1.0 - propagated)).abs(),
        is_top_one_equal: largest(&all, 1) == largest(&all_true, 1),
        is_top_five_equal: largest(&all, 5) == largest(&all_true, 5),
        path: distance(&found.path, &truth.path) / total(&truth.path),
        is_path_top_five_equal: largest(&found.path, 5) == largest(&truth.path, 5),
        path_other: verdict.path_other_ns as f64 / total(&truth.path),
        propagated,
    }
}

fn costs(analysis: &Analysis) -> Causes {
    let mut all = analysis.direct.clone();
    for (cause, ns) in &analysis.propagated {
        *all.entry(*cause).or_default() += ns;
    }
    all
}

fn total(causes: &Causes) -> f64 {
    causes.values().sum()
}

/// Returns half of the sum of all differences: what would have to be moved.
fn distance(one: &Causes, other: &Causes) -> f64 {
    let keys: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let of = |causes: &Causes, key| causes.get(key).copied().unwrap_or(0.0);
    keys.into_iter().map(|key| (of(one, key) - of(other, key)).abs()).sum::<f64>() / 2.0
}

fn largest(causes: &Causes, count: usize) -> BTreeSet<(usize, u64)> {
    let mut sorted: Vec<_> = causes.iter().collect();
    sorted.sort_by(|one, other| other.1.total_cmp(one.1));
    sorted.into_iter().take(count).map(|(cause, _)| *cause).collect()
}

/// The mean of many differences.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Score {
    pub(crate) programs: u64,
    sums: Difference,
    worst_total: f64,
    pub(crate) worst_moved: f64,
    pub(crate) worst_path: f64,
    top_one: u64,
    top_five: u64,
    path_top_five: u64,
}

impl Score {
    pub(crate) fn add(&mut self, one: &Difference) {
        self.programs += 1;
        self.sums.total += one.total;
        self.sums.moved += one.moved;
        self.sums.direct += one.direct;
        self.sums.path += one.path;
        self.sums.propagated += one.propagated;
        self.sums.path_other += one.path_other;
        self.worst_total = self.worst_total.max(one.total);
        self.worst_moved = self.worst_moved.max(one.moved);
        self.worst_path = self.worst_path.max(one.path);
        self.top_one += u64::from(one.is_top_one_equal);
        self.top_five += u64::from(one.is_top_five_equal);
        self.path_top_five += u64::from(one.is_path_top_five_equal);
    }

    fn percent(&self, sum: f64) -> f64 {
        100.0 * sum / self.programs as f64
    }

    pub(crate) fn total(&self) -> f64 {
        self.percent(self.sums.total)
    }

    pub(crate) fn direct(&self) -> f64 {
        self.percent(self.sums.direct)
    }

    pub(crate) fn path(&self) -> f64 {
        self.percent(self.sums.path)
    }

    pub(crate) fn propagated(&self) -> f64 {
        self.percent(self.sums.propagated)
    }

    pub(crate) fn top_five(&self) -> f64 {
        self.percent(self.top_five as f64)
    }

    pub(crate) fn path_top_five(&self) -> f64 {
        self.percent(self.path_top_five as f64)
    }
}

/// A row of a table, in percent: the total and its worst, what is said of another cause, direct,
/// the largest and the five largest causes the same; the path, its worst, its part without a cause,
/// its five largest the same; and the part of the costs that is propagated.
impl fmt::Display for Score {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = [
            self.total(),
            100.0 * self.worst_total,
            self.percent(self.sums.moved),
            self.direct(),
            self.percent(self.top_one as f64),
            self.top_five(),
            self.path(),
            100.0 * self.worst_path,
            self.percent(self.sums.path_other),
            self.path_top_five(),
            self.propagated(),
        ];
        row.iter().try_for_each(|percent| write!(to, " {percent:6.2}"))
    }
}
