//! The times of one row over all ranks, with the assignment of values to ranks in damaged rows.

use std::collections::BTreeMap;

use super::salvage::{Problem, ProblemKind, excerpt};
use super::times::{self, EXECUTIONS, RANKS, RankUsage, VISITS, rank_times};
use crate::model::CallpathValues;

/// The contents of a row.
#[derive(Debug)]
pub(super) struct RowTimes {
    /// The values of each rank.
    pub(super) values: Vec<CallpathValues>,
    /// The problems found, without the row's line and id.
    pub(super) problems: Vec<Problem>,
}

/// Reads the column `times` of a row that should have `ranks` ranks.
///
/// `each` is true if single values are visits, `cut` if the text is truncated.
pub(super) fn row_times(text: &[u8], ranks: usize, each: bool, cut: bool) -> RowTimes {
    let mut row = RowTimes { values: Vec::with_capacity(ranks), problems: Vec::new() };
    let text = if cut { row.without_last_value(text) } else { text };
    let commas = text.iter().filter(|&&b| b == b',').count();
    // Two ranks joined by a comma count as two if that gives the expected number of ranks: then the
    // assignment is unambiguous.
    let split_at_commas = commas > 0 && times::ranks(text) + commas == ranks;
    let places: Vec<&[u8]> = text.split(|&b| b == RANKS || split_at_commas && b == b',').collect();
    if split_at_commas {
        row.name_commas(text);
    }
    let complete = places.len() == ranks;
    let mut executions = Vec::with_capacity(ranks);
    for (rank, place) in places.iter().enumerate().take(ranks) {
        let read = rank_times(place, each);
        if read.lost > 0 && !complete {
            // A rank is missing or extra, probably here. From here on, values cannot be assigned to
            // ranks.
            row.lose_ranks_from(rank, &places[rank..], ranks, &read.broken, places.len());
            break;
        }
        executions.push(read.executions);
        row.add(rank, read);
    }
    if !complete && row.values.len() == places.len().min(ranks) {
        row.name_wrong_ranks(&places, ranks);
    }
    row.values.resize_with(ranks, CallpathValues::default);
    row.name_unequal_executions(&executions);
    row
}

impl RowTimes {
    fn add(&mut self, rank: usize, read: RankUsage) {
        if read.lost > 0 {
            self.push(Some(rank), ProblemKind::BadValue, read.lost, read.broken);
        }
        self.values.push(read.values);
    }

    fn push(&mut self, rank: Option<usize>, kind: ProblemKind, values_lost: u64, found: String) {
        let rank = rank.map(|rank| u32::try_from(rank).unwrap_or(u32::MAX));
        self.problems.push(Problem { line: 0, id: String::new(), rank, kind, values_lost, found });
    }

    /// Removes the last value: a truncated number still parses, but has the wrong value.
    fn without_last_value<'a>(&mut self, text: &'a [u8]) -> &'a [u8] {
        let end = text.iter().rposition(|b| [RANKS, EXECUTIONS, VISITS].contains(b));
        let (kept, last) = end.map_or((&[][..], text), |end| (&text[..end], &text[end + 1..]));
        // A truncated rank is counted with the missing ranks.
        let counted_elsewhere = last.is_empty() || end.is_some_and(|end| text[end] == RANKS);
        let rank = times::ranks(text) - 1;
        self.push(Some(rank), ProblemKind::CutOff, u64::from(!counted_elsewhere), excerpt(last));
        kept
    }

    /// Reports for each comma the ranks that it separates.
    fn name_commas(&mut self, text: &[u8]) {
        let mut rank = 0;
        for place in text.split(|&b| b == RANKS) {
            let commas = place.iter().filter(|&&b| b == b',').count();
            if commas > 0 {
                self.push(Some(rank), ProblemKind::RanksRunTogether, 0, excerpt(place));
            }
            rank += 1 + commas;
        }
    }

    fn lose_ranks_from(
        &mut self,
        rank: usize,
        places: &[&[u8]],
        ranks: usize,
        broken: &str,
        found: usize,
    ) {
        let lost: u64 = places.iter().map(|place| times::values(place)).sum();
        let lost = lost.max((ranks - rank) as u64);
        let reason = format!(
            "found {broken:?} and {found} ranks where {ranks} were expected, so that nobody knows whose the values \
             from here on are"
        );
        self.push(Some(rank), ProblemKind::WrongRanks, lost, reason);
    }

    fn name_wrong_ranks(&mut self, places: &[&[u8]], ranks: usize) {
        let found = places.len();
        if let Some(more) = places.get(ranks..).filter(|more| !more.is_empty()) {
            let lost = more.iter().map(|place| times::values(place)).sum();
            let reason = format!("{found} ranks, {ranks} were expected; those behind are lost");
            self.push(Some(ranks), ProblemKind::WrongRanks, lost, reason);
        } else {
            let reason =
                format!("{found} ranks, {ranks} were expected; the last are taken to be missing");
            self.push(Some(found), ProblemKind::WrongRanks, (ranks - found) as u64, reason);
        }
    }

    /// Reports ranks with unequal numbers of executions. `executions` has one number per rank; 0 is
    /// a rank without visits.
    fn name_unequal_executions(&mut self, executions: &[u32]) {
        let mut ranks_with: BTreeMap<u32, usize> = BTreeMap::new();
        for &count in executions.iter().filter(|&&count| count > 0) {
            *ranks_with.entry(count).or_default() += 1;
        }
        if ranks_with.len() < 2 {
            return;
        }
        let usual = ranks_with
            .iter()
            .max_by_key(|&(&count, &ranks)| (ranks, count))
            .map_or(0, |(&count, _)| count);
        let first = executions.iter().position(|&count| count > 0 && count != usual);
        let others: Vec<String> = ranks_with
            .iter()
            .take(4)
            .map(|(count, ranks)| format!("{count} executions on {ranks} ranks"))
            .collect();
        let more = if ranks_with.len() > others.len() { ", ..." } else { "" };
        let found = format!("unequal numbers of executions: {}{more}", others.join(", "));
        self.push(first, ProblemKind::UnequalExecutions, 0, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the sums by rank in microseconds (-1: absent), and kind, rank and lost values of each
    /// problem.
    fn check(
        text: &str,
        ranks: usize,
        cut: bool,
        sums: &[i64],
        problems: &[(ProblemKind, u32, u64)],
    ) {
        let row = row_times(text.as_bytes(), ranks, false, cut);
        let found: Vec<i64> =
            row.values
                .iter()
                .map(|v| {
                    if v.is_absent() {
                        -1
                    } else {
                        i64::try_from(v.inclusive_ns() / 1_000).unwrap()
                    }
                })
                .collect();
        assert_eq!(found, sums, "{text}");
        let found: Vec<_> =
            row.problems.iter().map(|p| (p.kind, p.rank.unwrap(), p.values_lost)).collect();
        assert_eq!(found, problems, "{text}");
    }

    #[test]
    fn a_whole_row_has_no_problems() {
        check("0.000001|0.000002||0.000004", 4, false, &[1, 2, -1, 4], &[]);
        check("0.000001-0.000001|0.000002-", 2, false, &[2, 2], &[]);
    }

    #[test]
    fn ranks_that_run_together_are_told_apart_where_the_number_is_right() {
        use ProblemKind::{BadValue, RanksRunTogether, WrongRanks};
        check(
            "0.000001|0.000002,0.000003|0.000004",
            4,
            false,
            &[1, 2, 3, 4],
            &[(RanksRunTogether, 1, 0)],
        );
        check("0.000001|0.000002,0.000003|0.000004", 3, false, &[1, -1, 4], &[(BadValue, 1, 2)]);
        check(
            "0.000001|0.000002,0.000003|0.000004",
            5,
            false,
            &[1, -1, -1, -1, -1],
            &[(WrongRanks, 1, 4)],
        );
    }

    #[test]
    fn a_broken_value_is_lost_and_what_is_behind_it_only_if_it_is_nobodys() {
        use ProblemKind::{BadValue, WrongRanks};
        check("0.000001|0.0x|0.000003", 3, false, &[1, -1, 3], &[(BadValue, 1, 1)]);
        check(
            "0.000001|0.0000020.000003|0.000004",
            4,
            false,
            &[1, -1, -1, -1],
            &[(WrongRanks, 1, 3)],
        );
    }

    #[test]
    fn too_few_and_too_many_ranks_are_said() {
        use ProblemKind::{CutOff, WrongRanks};
        check("0.000001|0.000002", 4, false, &[1, 2, -1, -1], &[(WrongRanks, 2, 2)]);
        check("0.000001|0.000002|0.000003-0.1", 2, false, &[1, 2], &[(WrongRanks, 2, 2)]);
        check(
            "0.000001|0.000002|0.00",
            4,
            true,
            &[1, 2, -1, -1],
            &[(CutOff, 2, 0), (WrongRanks, 2, 2)],
        );
        check("0.000001-0.00", 1, true, &[1], &[(CutOff, 0, 1)]);
        check("0.00", 1, true, &[-1], &[(CutOff, 0, 1)]);
        check("", 1, true, &[-1], &[(CutOff, 0, 0)]);
    }

    #[test]
    fn executions_of_unequal_number_are_said_and_kept() {
        use ProblemKind::UnequalExecutions;
        check(
            "0.000001-0.000001|0.000002|0.000003-0.000001||",
            5,
            false,
            &[2, 2, 4, -1, -1],
            &[(UnequalExecutions, 1, 0)],
        );
    }
}
