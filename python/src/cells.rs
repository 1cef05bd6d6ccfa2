//! Cells: the values of a callpath on a rank over all executions. Most readers need nothing else of
//! a wide profile.
//!
//! The columns of a wide profile are long, and touching memory for the first time costs as much as
//! decoding the values for it. So cells are counted first, and then written to their final place at
//! once.

use crate::summaries::{Detail, Summaries};

/// The unit in which times are returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanoseconds,
    /// Floats in seconds, of which the columns hold the bits.
    Seconds,
}

/// The columns over the cells of a profile, callpath by callpath, then rank by rank.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    /// The rank of each cell. Empty if every rank has a cell of every callpath.
    pub(crate) ranks: &'a mut [u64],
    pub(crate) visits: &'a mut [u64],
    /// The inclusive times.
    pub(crate) sums: &'a mut [u64],
    /// The exclusive times: without the callpath's children on the same rank.
    pub(crate) exclusive: &'a mut [u64],
    /// The minima of one visit, in nanoseconds. This and the following columns are empty unless
    /// requested.
    pub(crate) minima: &'a mut [u64],
    pub(crate) maxima: &'a mut [u64],
    /// The bits of the variances of the sums, which are floats, in square nanoseconds.
    pub(crate) variances: &'a mut [u64],
}

impl<'a> Columns<'a> {
    /// Returns the number of columns.
    pub(crate) const fn count(has_ranks: bool, detail: Detail) -> usize {
        3 + has_ranks as usize + if matches!(detail, Detail::All) { 3 } else { 0 }
    }

    /// Splits `values` into columns of `cells` cells each; it must have room for all of them.
    pub(crate) fn within(
        mut values: &'a mut [u64],
        cells: usize,
        has_ranks: bool,
        detail: Detail,
    ) -> Self {
        let mut next = |wanted: bool| {
            let (column, rest) =
                std::mem::take(&mut values).split_at_mut(if wanted { cells } else { 0 });
            values = rest;
            column
        };
        let all = detail == Detail::All;
        Self {
            visits: next(true),
            sums: next(true),
            exclusive: next(true),
            ranks: next(has_ranks),
            minima: next(all),
            maxima: next(all),
            variances: next(all),
        }
    }

    /// Writes the ranks of a section from cell `at` on. Returns the next cell after them. A rank
    /// without a visit has a cell, of zeros, only if all ranks have one: then there is no column of
    /// ranks.
    ///
    /// `children_ns` is the time of the callpath's children, rank by rank of the section, or empty.
    pub(crate) fn put(
        &mut self,
        mut at: usize,
        first_rank: u32,
        summaries: &Summaries<u64>,
        children_ns: &[u64],
        unit: Unit,
    ) -> usize {
        if self.minima.is_empty()
            && self.ranks.is_empty()
            && summaries.counts.iter().all(|&count| count == 1)
        {
            return self.put_one_each(at, summaries, children_ns, unit);
        }
        let mut next = 0;
        for (index, &count) in summaries.counts.iter().enumerate() {
            // No count is above the number of summaries, which are in memory.
            let here = next..next + usize::try_from(count).unwrap_or(0);
            next = here.end;
            if here.is_empty() {
                at += usize::from(self.ranks.is_empty());
                continue;
            }
            let sum_ns = sum(&summaries.sums[here.clone()]);
            // Children may take longer than their parent, because they ran on several threads or
            // the clock jumped. The exclusive time is 0 then.
            let exclusive_ns = sum_ns.saturating_sub(children_ns.get(index).copied().unwrap_or(0));
            self.visits[at] = sum(&summaries.visits[here.clone()]);
            self.sums[at] = unit.of_ns(sum_ns);
            self.exclusive[at] = unit.of_ns(exclusive_ns);
            if let Some(rank) = self.ranks.get_mut(at) {
                *rank = u64::from(first_rank) + index as u64;
            }
            if let Some(minimum) = self.minima.get_mut(at) {
                *minimum = summaries.minima[here.clone()].iter().copied().min().unwrap_or(0);
                self.maxima[at] = summaries.maxima[here.clone()].iter().copied().max().unwrap_or(0);
                self.variances[at] = summaries.variances[here].iter().sum::<f64>().to_bits();
            }
            at += 1;
        }
        at
    }

    /// Writes the cells of ranks with one execution each, as in the usual run, by copying whole
    /// columns.
    fn put_one_each(
        &mut self,
        at: usize,
        summaries: &Summaries<u64>,
        children_ns: &[u64],
        unit: Unit,
    ) -> usize {
        let here = at..at + summaries.counts.len();
        self.visits[here.clone()].copy_from_slice(&summaries.visits);
        let exclusive = &mut self.exclusive[here.clone()];
        exclusive.copy_from_slice(&summaries.sums);
        exclusive
            .iter_mut()
            .zip(children_ns)
            .for_each(|(to, &children)| *to = to.saturating_sub(children));
        exclusive.iter_mut().for_each(|ns| *ns = unit.of_ns(*ns));
        for (to, &sum_ns) in self.sums[here.clone()].iter_mut().zip(&summaries.sums) {
            *to = unit.of_ns(sum_ns);
        }
        here.end
    }
}

impl Unit {
    #[expect(clippy::cast_precision_loss, reason = "seconds are for tools that know no other unit")]
    fn of_ns(self, ns: u64) -> u64 {
        match self {
            Self::Nanoseconds => ns,
            // A signed integer is converted to a float in one instruction; only times above 292
            // years need the other way.
            Self::Seconds => (i64::try_from(ns).map_or(ns as f64, |ns| ns as f64) * 1e-9).to_bits(),
        }
    }
}

fn sum(values: &[u64]) -> u64 {
    match values {
        // The usual run has one execution.
        [one] => *one,
        more => more.iter().fold(0, |sum, &n| sum.saturating_add(n)),
    }
}
