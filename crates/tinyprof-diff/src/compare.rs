//! The comparison of two sides, callpath by callpath: the choice of samples, and the verdict.

use super::names::Names;
use super::options::{Estimator, Options};
use super::run::Run;
use super::statistics::{Comparison, Sample, Test, adjusted, compare, compare_pairs};
use super::values::Amounts;

/// The largest share of the marks that is expected to be wrong.
pub(super) const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// The smallest change, relative to the base, that two single runs can show. How runs differ from
/// each other is not in their values.
pub(super) const CHANGE_MIN_OF_ONE_RUN: f64 = 0.10;

/// The meaning of one value of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    /// A run.
    Runs,
    /// An execution of the only run of a side, or a batch of them.
    Executions,
    /// A rank of the only run of a side.
    Ranks,
    /// The mean of the only run of a side.
    Single,
}

/// The verdict on a callpath.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// Greater in the new runs, by more than chance explains.
    Up,
    /// Different, but with no spread to compare the difference with.
    Unjudged,
    /// Different, but by no more than chance explains.
    Unclear,
    /// Less in the new runs, by more than chance explains.
    Down,
    /// Equal in both.
    Equal,
    /// Only in the new runs.
    New,
    /// Only in the base runs.
    Gone,
}

/// The values of a callpath on one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SideValues {
    /// The mean per rank and execution, in the metric's unit; 0 if the callpath was never visited.
    pub(super) mean: f64,
    /// The number of values in the mean.
    pub(super) values: usize,
    /// The standard deviation of the values; `None` for fewer than two.
    pub(super) deviation: Option<f64>,
    /// The number of runs that visited it.
    pub(super) runs: usize,
    /// The variance of the mean due to visits that were not timed; 0 if all were.
    pub(super) estimate_variance: f64,
}

/// One callpath.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// Its row in the names.
    pub(super) callpath: usize,
    pub(super) verdict: Verdict,
    pub(super) unit: Unit,
    /// `true` if a value covers several executions.
    pub(super) folded: bool,
    /// `true` if each value of a side is compared with that of the same rank or execution on the
    /// other.
    pub(super) paired: bool,
    pub(super) base: SideValues,
    pub(super) new: SideValues,
    pub(super) difference: f64,
    pub(super) test: Option<Test>,
    /// The p value, adjusted by the method of Benjamini and Hochberg.
    pub(super) adjusted_p: Option<f64>,
    pub(super) hedges_g: Option<f64>,
    /// Its share of the inclusive time of the root regions, on the side where it is greater.
    pub(super) share: f64,
}

impl SideValues {
    /// Returns the standard error of the mean due to visits that were not timed; `None` if all
    /// were.
    pub(super) fn estimate_error(&self) -> Option<f64> {
        (self.estimate_variance > 0.0).then(|| self.estimate_variance.sqrt())
    }
}

impl Row {
    /// Returns the interval around the difference.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        self.test.map(|test| (self.difference - test.half_width, self.difference + test.half_width))
    }

    /// Returns the difference relative to the base; `None` if the base is 0 or only one side has
    /// the callpath.
    pub(super) fn change(&self) -> Option<f64> {
        let comparable =
            !matches!(self.verdict, Verdict::New | Verdict::Gone) && self.base.mean > 0.0;
        comparable.then(|| self.difference / self.base.mean)
    }

    /// Returns the smallest change that could have been told from chance, relative to the base;
    /// `None` if chance cannot be estimated.
    pub(super) fn smallest_change(&self) -> Option<f64> {
        let test = self.test.filter(|_| self.base.mean > 0.0)?;
        let of_runs = if self.unit.is_of_one_run() { CHANGE_MIN_OF_ONE_RUN } else { 0.0 };
        Some((test.half_width / self.base.mean).max(of_runs))
    }

    /// Returns `true` if it is greater by more than `part` of the base, and chance does not explain
    /// it where that can be judged.
    pub(super) fn exceeds(&self, part: f64) -> bool {
        matches!(self.verdict, Verdict::Up | Verdict::Unjudged)
            && self.difference > 0.0
            && self.change().is_none_or(|change| change > part)
    }
}

/// A comparison of two sides.
#[derive(Debug)]
pub struct Diff {
    pub(super) base: Vec<Run>,
    pub(super) new: Vec<Run>,
    pub(super) options: Options,
    pub(super) names: Names,
    pub(super) rows: Vec<Row>,
}

impl Diff {
    /// Returns `true` if a callpath is up by more than the limit of the options.
    #[must_use]
    pub fn is_above_limit(&self) -> bool {
        self.rows.iter().any(|row| self.fails(row))
    }

    /// Returns `true` if there is a limit and the callpath is above it.
    pub(super) fn fails(&self, row: &Row) -> bool {
        row.share >= self.options.min_share
            && self.options.fail_above.is_some_and(|limit| row.exceeds(limit))
    }

    /// Returns `true` if the callpath could not have exceeded the limit by just above it: such a
    /// change does not differ from chance.
    pub(super) fn is_powerless(&self, row: &Row) -> bool {
        let above = |limit| row.smallest_change().is_some_and(|change| change > limit);
        row.share >= self.options.min_share
            && self.options.fail_above.is_some_and(above)
            && !self.fails(row)
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.base.iter().chain(&self.new)
    }
}

impl Verdict {
    /// Returns the word for the unit in reports.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Unjudged => "unjudged",
            Self::Unclear => "unclear",
            Self::Down => "down",
            Self::Equal => "equal",
            Self::New => "new",
            Self::Gone => "gone",
        }
    }
}

impl Unit {
    /// Returns the word for the verdict in reports.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Runs => "run",
            Self::Executions => "execution",
            Self::Ranks => "rank",
            Self::Single => "value",
        }
    }

    /// Returns `true` if the values are parts of one run.
    const fn is_of_one_run(self) -> bool {
        matches!(self, Self::Executions | Self::Ranks)
    }
}

/// Compares the runs of two sides. Regressions come first, then uncertain differences by their
/// size, improvements, and callpaths of one side only.
pub(super) fn rows(callpaths: usize, base: &[Run], new: &[Run], estimator: Estimator) -> Vec<Row> {
    let both: Vec<(Row, Option<Comparison>)> =
        (0..callpaths).filter_map(|callpath| row(callpath, base, new, estimator)).collect();
    let tested: Vec<f64> =
        both.iter().filter_map(|(_, found)| Some(found.as_ref()?.test?.p)).collect();
    let mut adjusted = adjusted(&tested).into_iter();
    let mut rows: Vec<Row> = both
        .into_iter()
        .map(|(row, found)| {
            let Some(found) = found else { return row };
            let adjusted_p = found.test.and_then(|_| adjusted.next());
            let verdict = verdict(&row, &found, adjusted_p);
            Row { verdict, adjusted_p, test: found.test, hedges_g: found.hedges_g, ..row }
        })
        .collect();
    rows.sort_by(|left, right| {
        let group = |row: &Row| match row.verdict {
            Verdict::Unjudged | Verdict::Unclear => Verdict::Unclear,
            other => other,
        };
        let size =
            |row: &Row| if row.verdict == Verdict::Down { -row.difference } else { row.difference };
        group(left).cmp(&group(right)).then(size(right).total_cmp(&size(left)))
    });
    rows
}

fn verdict(row: &Row, found: &Comparison, adjusted_p: Option<f64>) -> Verdict {
    let is_small = found.difference.abs() < CHANGE_MIN_OF_ONE_RUN * row.base.mean;
    match adjusted_p {
        _ if found.difference == 0.0 => Verdict::Equal,
        None => Verdict::Unjudged,
        Some(p) if p >= FALSE_DISCOVERY_RATE => Verdict::Unclear,
        Some(_) if row.unit.is_of_one_run() && is_small => Verdict::Unclear,
        // A test of ratios may leave out a difference of 0 that the interval of amounts holds.
        Some(_) if found.test.is_some_and(|test| test.half_width >= found.difference.abs()) => {
            Verdict::Unclear
        }
        Some(_) if found.difference > 0.0 => Verdict::Up,
        Some(_) => Verdict::Down,
    }
}

/// Returns the row of a callpath, and the comparison of its samples if both sides have it.
fn row(
    callpath: usize,
    base: &[Run],
    new: &[Run],
    estimator: Estimator,
) -> Option<(Row, Option<Comparison>)> {
    let (base_amounts, new_amounts) = (of_callpath(base, callpath), of_callpath(new, callpath));
    let unit = unit(&base_amounts, &new_amounts);
    let samples = [&base_amounts, &new_amounts].map(|runs| sample(runs, unit, estimator));
    let [base, new] =
        [(&base_amounts, &samples[0]), (&new_amounts, &samples[1])].map(|(a, s)| side(a, s));
    let all = || base_amounts.iter().chain(&new_amounts).flatten();
    let verdict = match (base.runs, new.runs) {
        (0, 0) => return None,
        (0, _) => Verdict::New,
        (_, 0) => Verdict::Gone,
        _ => Verdict::Unjudged,
    };
    let folded = unit == Unit::Executions && all().any(|amounts| amounts.folded);
    let paired = verdict == Verdict::Unjudged
        && unit.is_of_one_run()
        && !folded
        && samples[0].values.len() == samples[1].values.len();
    let found = match verdict {
        Verdict::Unjudged if paired => compare_pairs(&samples[0], &samples[1]),
        Verdict::Unjudged => compare(&samples[0], &samples[1]),
        _ => None,
    };
    let row = Row {
        callpath,
        verdict,
        unit,
        folded,
        paired,
        difference: new.mean - base.mean,
        test: None,
        adjusted_p: None,
        hedges_g: None,
        share: all().map(|amounts| amounts.share).fold(0.0, f64::max),
        base,
        new,
    };
    Some((row, found))
}

/// Returns the amounts of a callpath by run; `None` for a run that never visited it.
fn of_callpath(runs: &[Run], callpath: usize) -> Vec<Option<&Amounts>> {
    let of = |run| Run::amounts(run, callpath);
    runs.iter().map(of).collect()
}

impl Run {
    fn amounts(&self, callpath: usize) -> Option<&Amounts> {
        self.rows.get(callpath).filter(|amounts| amounts.visited_ranks > 0)
    }
}

/// Chooses runs if there are several, else executions, else ranks.
fn unit(base: &[Option<&Amounts>], new: &[Option<&Amounts>]) -> Unit {
    let ([base], [new]) = (base, new) else { return Unit::Runs };
    let several = |count: fn(&Amounts) -> usize| {
        // A callpath on one side only is described by that side alone.
        [base, new].into_iter().flatten().all(|amounts| count(amounts) > 1)
    };
    if several(|amounts| amounts.by_execution.len()) {
        Unit::Executions
    } else if several(|amounts| amounts.by_rank.len()) {
        Unit::Ranks
    } else {
        Unit::Single
    }
}

/// Returns the values of a side. A run that never visited the callpath spent no time there: its
/// value is 0.
fn sample(runs: &[Option<&Amounts>], unit: Unit, estimator: Estimator) -> Sample {
    let of_run = |amounts: &Amounts| match unit {
        Unit::Runs => amounts.of_executions(estimator),
        _ => amounts.mean,
    };
    let value = |run: &Option<&Amounts>| run.map_or(0.0, of_run);
    let values = match (unit, runs) {
        (Unit::Executions, [Some(only)]) => only.by_execution.clone(),
        (Unit::Ranks, [Some(only)]) => only.by_rank.clone(),
        _ => runs.iter().map(value).collect(),
    };
    let variance: f64 = runs.iter().flatten().map(|amounts| amounts.variance).sum();
    #[expect(clippy::cast_precision_loss, reason = "there are few runs")]
    Sample { values, estimate_variance: variance / (runs.len() as f64).powi(2) }
}

fn side(runs: &[Option<&Amounts>], sample: &Sample) -> SideValues {
    let visited = runs.iter().flatten().count();
    SideValues {
        mean: sample.mean().unwrap_or(0.0),
        values: if visited > 0 { sample.values.len() } else { 0 },
        deviation: sample.deviation().filter(|_| visited > 0),
        runs: visited,
        estimate_variance: sample.estimate_variance,
    }
}
