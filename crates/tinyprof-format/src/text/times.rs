//! The column `times` of one row: the values of every rank, as far as they are readable.

use super::salvage::excerpt;
use super::seconds;
use crate::model::{CallpathValues, ExecutionSummary, SeriesBucket};

/// The separators of ranks, executions and visits.
pub(super) const RANKS: u8 = b'|';
pub(super) const EXECUTIONS: u8 = b'-';
pub(super) const VISITS: u8 = b'+';

/// The contents of one rank's place in a row.
#[derive(Debug, Default)]
pub(super) struct RankUsage {
    pub(super) values: CallpathValues,
    /// The number of executions that have a place, including those that the rank did not visit.
    pub(super) executions: u32,
    /// The number of unreadable values, and the text of the first of them.
    pub(super) lost: u64,
    pub(super) broken: String,
}

/// Returns the number of ranks that a row has places for.
pub(super) fn ranks(times: &[u8]) -> usize {
    1 + times.iter().filter(|&&b| b == RANKS).count()
}

/// Returns the number of values that a stretch of text has places for, however broken they are.
pub(super) fn values(text: &[u8]) -> u64 {
    let ends = text.iter().filter(|b| [RANKS, EXECUTIONS, VISITS, b','].contains(b)).count();
    if text.is_empty() { 0 } else { 1 + ends as u64 }
}

/// Reads one rank's place. `each` is true if single values are visits, which are then kept as a
/// series.
pub(super) fn rank_times(text: &[u8], each: bool) -> RankUsage {
    let mut rank = RankUsage::default();
    if text.is_empty() {
        return rank;
    }
    for (execution, place) in (0_u32..).zip(text.split(|&b| b == EXECUTIONS)) {
        rank.executions = execution.saturating_add(1);
        if !place.is_empty() {
            rank.add_execution(execution, place, each || place.contains(&VISITS));
        }
    }
    rank
}

impl RankUsage {
    fn add_execution(&mut self, execution: u32, text: &[u8], series: bool) {
        let mut summary: Option<ExecutionSummary> = None;
        for value in text.split(|&b| b == VISITS) {
            let Some(ns) = seconds::parse(value) else {
                if self.lost == 0 {
                    self.broken = excerpt(value);
                }
                self.lost += values(value).max(1);
                continue;
            };
            let visit = ExecutionSummary::of_one_visit(execution, ns);
            match &mut summary {
                Some(sum) => sum.absorb(&visit),
                None => summary = Some(visit),
            }
            if series {
                self.values.series.push(SeriesBucket::of_one_visit(execution, ns));
            }
        }
        self.values.executions.extend(summary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        text: &str,
        each: bool,
        executions: &[(u32, u64, u64)],
        series: &[(u32, u64)],
        lost: u64,
    ) -> RankUsage {
        let rank = rank_times(text.as_bytes(), each);
        let found: Vec<_> = rank
            .values
            .executions
            .iter()
            .map(|e| (e.execution, e.visits, e.sum_ns / 1_000))
            .collect();
        assert_eq!(found, executions, "{text}");
        let found: Vec<_> =
            rank.values.series.iter().map(|b| (b.execution, b.sum_ns / 1_000)).collect();
        assert_eq!(found, series, "{text}");
        assert_eq!(rank.lost, lost, "{text}");
        rank
    }

    #[test]
    fn executions_and_visits_are_told_apart() {
        check("0.000005", false, &[(0, 1, 5)], &[], 0);
        check("0.000005", true, &[(0, 1, 5)], &[(0, 5)], 0);
        check("0.000005--0.000007", false, &[(0, 1, 5), (2, 1, 7)], &[], 0);
        let two = check(
            "0.000001+0.000002-0.000004",
            false,
            &[(0, 2, 3), (1, 1, 4)],
            &[(0, 1), (0, 2)],
            0,
        );
        assert_eq!(two.executions, 2);
        assert_eq!(
            (two.values.executions[0].min_ns, two.values.executions[0].max_ns),
            (1_000, 2_000)
        );
        assert_eq!(check("", true, &[], &[], 0).executions, 0);
        assert_eq!(check("--", true, &[], &[], 0).executions, 3);
    }

    #[test]
    fn what_cannot_be_read_costs_itself_only() {
        let broken = check("0.000001+x+0.000003-y", true, &[(0, 2, 4)], &[(0, 1), (0, 3)], 2);
        assert_eq!(broken.broken, "x");
        check("0.000004,0.285482", false, &[], &[], 2);
        check("0.000001++0.000002", true, &[(0, 2, 3)], &[(0, 1), (0, 2)], 1);
    }
}
