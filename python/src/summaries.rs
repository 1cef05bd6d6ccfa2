//! Summaries of executions: the totals of a callpath's visits in each execution, rank by rank.

use crate::column;
use crate::cursor::{Cursor, Damage};
use crate::series::{Elements, Number, total};

/// Summaries of the ranks of one section, or of several one after the other.
#[derive(Debug, Default)]
pub(crate) struct Summaries<T> {
    /// The number of summaries of each rank.
    pub(crate) counts: Vec<u64>,
    /// True if no rank has more than one summary, and all begin with execution 0, as in the usual
    /// run.
    pub(crate) plain: bool,
    /// The first executions. May be empty if the summaries are plain.
    pub(crate) executions: Vec<u32>,
    pub(crate) covered: Vec<u64>,
    /// The number of visits, or of values of a metric.
    pub(crate) visits: Vec<u64>,
    pub(crate) sums: Vec<T>,
    pub(crate) minima: Vec<T>,
    pub(crate) maxima: Vec<T>,
    pub(crate) squares: Vec<f64>,
    pub(crate) variances: Vec<f64>,
}

/// The columns of summaries that are read. A wide profile loads faster without those that are not
/// requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Counts, visits and sums; the other columns stay empty.
    Sums,
    All,
}

impl<T: Number> Summaries<T> {
    pub(crate) fn clear(&mut self) {
        self.plain = false;
        self.counts.clear();
        self.executions.clear();
        self.covered.clear();
        self.visits.clear();
        self.sums.clear();
        self.minima.clear();
        self.maxima.clear();
        self.squares.clear();
        self.variances.clear();
    }

    /// Reads the number of summaries of each of `ranks` ranks, and the executions that they begin
    /// with. Returns the number of all summaries.
    pub(crate) fn read_places(
        &mut self,
        cursor: &mut Cursor<'_>,
        ranks: usize,
        detail: Detail,
    ) -> Result<usize, Damage> {
        let start = cursor.clone();
        let first = self.counts.len();
        column::integers(cursor, ranks, "the numbers of summaries", &mut self.counts)?;
        let count = total(&start, &self.counts[first..], "the numbers of summaries")?;
        let single = self.counts[first..].iter().all(|&count| count <= 1);
        self.plain = single && column::is_zero(cursor);
        if detail == Detail::Sums && self.plain {
            column::skip(cursor, count, "the executions")?;
            return Ok(count);
        }
        let mut gaps = Vec::new();
        column::integers(cursor, count, "the executions", &mut gaps)?;
        let mut gaps = gaps.into_iter();
        for &summaries in &self.counts[first..] {
            for (position, gap) in (0..summaries).zip(&mut gaps) {
                let execution = u32::try_from(gap.wrapping_add(position));
                let execution =
                    execution.map_err(|_| start.damage("an execution does not fit 32 bits"))?;
                self.executions.push(execution);
            }
        }
        Ok(count)
    }

    /// Reads the numbers of executions and visits in each of `count` summaries.
    pub(crate) fn read_visits(
        &mut self,
        cursor: &mut Cursor<'_>,
        count: usize,
        detail: Detail,
    ) -> Result<(), Damage> {
        match detail {
            Detail::Sums => column::skip(cursor, count, "the covered executions")?,
            Detail::All => {
                column::integers_u32(cursor, count, "the covered executions", &mut self.covered)?
            }
        }
        column::integers(cursor, count, "the visits", &mut self.visits)
    }

    pub(crate) fn read_sums(
        &mut self,
        cursor: &mut Cursor<'_>,
        count: usize,
    ) -> Result<(), Damage> {
        T::column(cursor, count, "the sums", &mut self.sums)
    }

    pub(crate) fn read_spread(
        &mut self,
        cursor: &mut Cursor<'_>,
        count: usize,
    ) -> Result<(), Damage> {
        T::column(cursor, count, "the minima", &mut self.minima)?;
        T::column(cursor, count, "the maxima", &mut self.maxima)?;
        column::floats(cursor, count, "the sums of squares", &mut self.squares)
    }

    /// Fills in the values that summaries of one visit leave out. These summaries are the last
    /// `count` of the sums.
    pub(crate) fn spread_of_sums(
        &mut self,
        cursor: &Cursor<'_>,
        count: usize,
        as_float: impl Fn(T) -> f64,
    ) -> Result<(), Damage> {
        cursor.charge(3 * count, "summaries")?;
        for &sum in &self.sums[self.sums.len() - count..] {
            self.minima.push(sum);
            self.maxima.push(sum);
            self.squares.push(as_float(sum) * as_float(sum));
        }
        Ok(())
    }
}

/// Converts nanoseconds for statistics, for which 53 bits are sufficient.
#[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
pub(crate) const fn as_float(ns: u64) -> f64 {
    ns as f64
}

impl Summaries<u64> {
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.counts.append(&mut other.counts);
        self.executions.append(&mut other.executions);
        self.covered.append(&mut other.covered);
        self.visits.append(&mut other.visits);
        self.sums.append(&mut other.sums);
        self.minima.append(&mut other.minima);
        self.maxima.append(&mut other.maxima);
        self.squares.append(&mut other.squares);
        self.variances.append(&mut other.variances);
    }

    /// Adds the summaries of series of one visit each, execution by execution of each rank.
    pub(crate) fn add_up(
        &mut self,
        cursor: &Cursor<'_>,
        elements: &Elements<u64>,
        first_rank: u32,
        ranks: usize,
    ) -> Result<(), Damage> {
        cursor.charge(ranks + 8 * elements.sums.len(), "the summaries of series")?;
        let first = self.counts.len();
        self.counts.resize(first + ranks, 0);
        let mut before = None;
        for (at, &ns) in elements.sums.iter().enumerate() {
            let here = (elements.ranks[at], elements.executions[at]);
            if before != Some(here) {
                before = Some(here);
                self.counts[first + (here.0 - first_rank) as usize] += 1;
                self.executions.push(here.1);
                self.covered.push(1);
                self.visits.push(0);
                self.sums.push(0);
                self.minima.push(ns);
                self.maxima.push(ns);
                self.squares.push(0.0);
                self.variances.push(0.0);
            }
            let last = self.sums.len() - 1;
            self.visits[last] += 1;
            self.sums[last] = self.sums[last].saturating_add(ns);
            self.minima[last] = self.minima[last].min(ns);
            self.maxima[last] = self.maxima[last].max(ns);
            self.squares[last] += as_float(ns) * as_float(ns);
        }
        Ok(())
    }
}
