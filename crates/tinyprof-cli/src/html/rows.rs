//! The values of ranks x callpaths: the rows of a heat map.

use serde_json::{Value, json};
use tinyprof_format::model::CallpathIndex;
use tinyprof_report::Totals;

use super::columns::{Columns, USUAL};

/// The most callpaths whose values are in the page, chosen by inclusive time.
pub(super) const ROWS_MAX: usize = 200;

/// The most values in a page; with more, neighbouring ranks share one.
const VALUES_MAX: usize = 4_096 * 100;

/// The most rows, and columns, of a matrix; with more ranks, neighbouring ranks share one.
const MATRIX_BINS_MAX: usize = 512;
/// The number of pairs of ranks that are listed.
pub(super) const PAIRS_LISTED: usize = 10;

/// The assignment of ranks to the page's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bins {
    /// The number of ranks of the profile.
    pub(super) ranks: usize,
    /// The number of neighbouring ranks per bin: 1 if each has its own.
    pub(super) ranks_per_bin: usize,
}

impl Bins {
    /// Returns bins for the rows and columns of a matrix of ranks.
    pub(super) fn of_matrix(ranks: usize) -> Self {
        Self { ranks, ranks_per_bin: ranks.div_ceil(MATRIX_BINS_MAX).max(1) }
    }

    /// Returns bins of a size such that `rows` rows have at most `values_max` values.
    pub(super) fn fitting(ranks: usize, rows: usize, values_max: usize) -> Self {
        let bins_max = (values_max / rows.max(1)).max(1);
        Self { ranks, ranks_per_bin: ranks.div_ceil(bins_max).max(1) }
    }

    pub(super) fn count(self) -> usize {
        self.ranks.div_ceil(self.ranks_per_bin)
    }

    /// Returns the mean of each bin over the ranks that have a value; NaN if none has.
    #[expect(clippy::cast_precision_loss, reason = "the number of ranks of a bin fits 53 bits")]
    pub(super) fn means(self, value: impl Fn(usize) -> Option<f64>) -> Vec<f64> {
        let bin = |bin: usize| {
            let first = bin * self.ranks_per_bin;
            let ranks = first..(first + self.ranks_per_bin).min(self.ranks);
            let (sum, count) =
                ranks.filter_map(&value).fold((0.0, 0_usize), |(sum, n), v| (sum + v, n + 1));
            sum / count as f64
        };
        (0..self.count()).map(bin).collect()
    }
}

/// Returns the callpaths whose values are in the page, by descending inclusive time.
pub(super) fn costliest(totals: &Totals) -> Vec<CallpathIndex> {
    let mut by_time: Vec<(u128, CallpathIndex)> =
        totals.callpaths().iter().map(|(index, _)| (totals.total_ns(index), index)).collect();
    // Equal times keep the order of the table, so that equal profiles give equal pages.
    by_time.sort_by_key(|&(ns, index)| (std::cmp::Reverse(ns), index));
    by_time.truncate(ROWS_MAX);
    by_time.into_iter().map(|(_, index)| index).collect()
}

/// Returns the times and visits of the costliest callpaths on every rank.
#[expect(clippy::cast_precision_loss, reason = "what is shown in colours and three digits")]
pub(super) fn rows(totals: &Totals, callpaths: &[CallpathIndex], columns: &mut Columns) -> Value {
    let bins = Bins::fitting(totals.ranks().len(), callpaths.len(), VALUES_MAX);
    let exclusive_ns = totals.exclusive_ns();
    let children = totals.callpaths().children();
    let row = |&index: &CallpathIndex| {
        let mut add = |value: &dyn Fn(usize) -> u64| {
            let is_visited = |rank: usize| totals.visits(index, rank) > 0;
            let means = bins.means(|rank| is_visited(rank).then(|| value(rank) as f64));
            columns.add(&means, USUAL)
        };
        let inclusive = add(&|rank| totals.inclusive_ns(index, rank));
        // For a leaf, both times are equal.
        let has_children = !children[index.row()].is_empty();
        let exclusive = has_children.then(|| add(&|rank| exclusive_ns[index.row()][rank]));
        json!({
            "callpath": index.row(),
            "inclusive_ns": inclusive,
            "exclusive_ns": exclusive,
            "visits": add(&|rank| totals.visits(index, rank)),
        })
    };
    let rows: Vec<Value> = callpaths.iter().map(row).collect();
    json!({ "ranks_per_bin": bins.ranks_per_bin, "bins": bins.count(), "rows": rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_a_bin_only_where_there_are_too_many() {
        let check = |ranks, rows, per_bin, count| {
            let bins = Bins::fitting(ranks, rows, VALUES_MAX);
            assert_eq!(
                (bins.ranks_per_bin, bins.count()),
                (per_bin, count),
                "{ranks} ranks, {rows} rows"
            );
        };
        check(4_096, 100, 1, 4_096);
        check(4_096, 101, 2, 2_048);
        check(32_768, 200, 16, 2_048);
        check(1, 1, 1, 1);
        check(0, 0, 1, 0);
    }

    #[test]
    fn a_bin_is_the_mean_of_the_ranks_that_have_a_value() {
        let bins = Bins { ranks: 5, ranks_per_bin: 2 };
        let found = bins.means(|rank| {
            (rank != 1 && rank != 4).then(|| f64::from(u32::try_from(rank).expect("few")))
        });
        assert_eq!(found[..2], [0.0, 2.5]);
        assert!(found[2].is_nan());
    }
}
