//! What a comparison says above and below its table: the samples, and notes on the numbers.

use std::collections::BTreeSet;

use tinyprof_report::cells::{counted, percent_cell};
use tinyprof_report::escaped;

use super::compare::{Diff, Row, Unit, Verdict};
use super::options::Estimator;
use super::run::Run;

/// The number of kinds of samples that are named.
const NAMED: usize = 3;

/// The fewest executions whose minimum says more than their mean.
const MINIMUM_OF_EXECUTIONS: u32 = 5;

/// The smallest visible change, relative to the base, above which another estimator is suggested.
const MUCH_HIDDEN: f64 = 0.10;

/// The width of a path in a note, in columns.
const PATH_COLUMNS: usize = 60;

impl Diff {
    /// Returns a line such as `samples: 3 runs against 3`.
    #[must_use]
    pub fn samples(&self) -> String {
        let compared =
            self.rows.iter().filter(|row| !matches!(row.verdict, Verdict::New | Verdict::Gone));
        let kinds: BTreeSet<(Unit, bool, usize, usize)> =
            compared.map(|row| (row.unit, row.paired, row.base.values, row.new.values)).collect();
        let kind = |(unit, paired, base, new): &(Unit, bool, usize, usize)| {
            if *paired {
                return format!("{} in pairs", counted(*base as u64, unit.word()));
            }
            format!("{} against {new}", counted(*base as u64, unit.word()))
        };
        let told: Vec<String> = kinds.iter().take(NAMED).map(kind).collect();
        match (told.as_slice(), kinds.len() > NAMED) {
            ([], _) => "no callpath is on both sides".to_owned(),
            (_, more) => {
                format!("samples: {}{}", told.join(", "), if more { ", and others" } else { "" })
            }
        }
    }

    /// Returns the notes that are needed to read the numbers.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(limit) = self.options.fail_above {
            let above = self.rows.iter().filter(|row| self.fails(row)).count();
            let are = if above == 1 { "is" } else { "are" };
            notes.push(format!(
                "{} {are} up by more than {} (!)",
                counted(above as u64, "callpath"),
                percent_cell(limit)
            ));
            let powerless: Vec<&Row> =
                self.rows.iter().filter(|row| self.is_powerless(row)).collect();
            let smallest = powerless.iter().filter_map(|row| row.smallest_change());
            if let Some(smallest) = smallest.min_by(f64::total_cmp) {
                notes.push(format!(
                    "{} could not have failed at {}: less than {} cannot be told from chance there; compare more runs",
                    counted(powerless.len() as u64, "callpath"),
                    percent_cell(limit),
                    percent_cell(smallest),
                ));
            }
        }
        if let Some(smallest) = least_visible(self) {
            notes.push(format!(
                "less than {} of the time cannot be told from chance: tinyprof diff --estimator min ignores executions that \
                 other work slowed",
                percent_cell(smallest),
            ));
        }
        let has = |unit: Unit| {
            self.rows
                .iter()
                .any(|row| row.unit == unit && !matches!(row.verdict, Verdict::New | Verdict::Gone))
        };
        let mut note = |is: bool, what: &str| {
            if is {
                notes.push(what.to_owned());
            }
        };
        let alone = self.base.len() == 1 || self.new.len() == 1;
        note(
            has(Unit::Runs) && alone,
            "one side has one run only, which does not tell change from chance: compare several with several",
        );
        note(
            self.options.estimator != Estimator::Mean
                && self.base.len() == 1
                && self.new.len() == 1,
            "--estimator makes one value of each run: it has no effect on two single runs",
        );
        note(
            has(Unit::Executions),
            "a value is an execution of one run: what differs from run to run is not in the intervals; compare several runs",
        );
        note(
            has(Unit::Ranks),
            "a value is a rank of one run, and ranks wait for each other: intervals may be too narrow, compare several runs",
        );
        note(
            has(Unit::Single),
            "there is one value on a side, which does not tell change from chance: compare several runs",
        );
        note(
            self.rows.iter().any(|row| row.folded),
            "executions were folded: a value stands for several of them",
        );
        let differ = |of: fn(&Run) -> u64| {
            let found: BTreeSet<u64> = self.runs().map(of).collect();
            let told = found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            (found.len() > 1).then_some(told)
        };
        if let Some(ranks) = differ(|run| run.ranks as u64) {
            notes.push(format!(
                "the runs have different numbers of ranks ({ranks}): amounts are those of one rank"
            ));
        }
        if let Some(executions) = differ(|run| run.executions.into()) {
            notes.push(format!(
                "the runs have different numbers of executions ({executions}): amounts are those of one"
            ));
        }
        notes.extend(not_everywhere(self));
        for run in self.runs().filter(|run| run.incomplete) {
            notes.push(format!("{} is incomplete, see tinyprof info", escaped(&run.name)));
        }
        let estimated = |row: &Row| row.base.estimate_variance + row.new.estimate_variance > 0.0;
        if self.rows.iter().any(estimated) {
            notes.push(
                "~ is an estimate: of samples, or because a budget let only some visits be timed"
                    .to_owned(),
            );
        }
        notes
    }
}

/// Returns the smallest visible change of the callpath with the greatest share, if the means of
/// runs hide much and the runs have enough executions for a minimum.
fn least_visible(diff: &Diff) -> Option<f64> {
    let of_means = diff.options.estimator == Estimator::Mean
        && diff.runs().all(|run| run.executions >= MINIMUM_OF_EXECUTIONS);
    let runs = diff.rows.iter().filter(|row| of_means && row.unit == Unit::Runs);
    let largest = runs.max_by(|a, b| a.share.total_cmp(&b.share))?;
    largest.smallest_change().filter(|&change| change > MUCH_HIDDEN)
}

/// Returns a note on callpaths that some ranks never run, with the one of the greatest share: their
/// means are less than those of a report, which are over the ranks that run them.
fn not_everywhere(diff: &Diff) -> Option<String> {
    let visited = |row: &Row| {
        let of_run =
            |run: &Run| (run.rows.get(row.callpath).map_or(0, |a| a.visited_ranks), run.ranks);
        diff.runs().map(of_run).filter(|&(visited, ranks)| 0 < visited && visited < ranks).min()
    };
    let shown = diff.rows.iter().filter(|row| row.share >= diff.options.min_share);
    let found: Vec<(&Row, (usize, usize))> =
        shown.filter_map(|row| Some((row, visited(row)?))).collect();
    let (row, (visited, ranks)) =
        found.iter().max_by(|(a, _), (b, _)| a.share.total_cmp(&b.share))?;
    Some(format!(
        "ranks that never run a callpath count as 0 there: {}, such as {}, which {visited} of {ranks} ranks run",
        counted(found.len() as u64, "callpath"),
        diff.names.shown_path(row.callpath, PATH_COLUMNS),
    ))
}
