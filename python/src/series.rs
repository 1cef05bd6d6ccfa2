//! Series: the values of a callpath in the order of its visits, of times and of metrics.

use crate::column;
use crate::cursor::{Cursor, Damage};

/// The largest number of stretches and elements in joined series, for each rank.
const JOINED_A_RANK_MAX: usize = 1_024;

/// A value type of columns: nanoseconds or the floats of a metric.
pub(crate) trait Number: Copy {
    /// Appends a column.
    fn column(
        cursor: &mut Cursor<'_>,
        count: usize,
        what: &str,
        to: &mut Vec<Self>,
    ) -> Result<(), Damage>;
}

impl Number for u64 {
    fn column(
        cursor: &mut Cursor<'_>,
        count: usize,
        what: &str,
        to: &mut Vec<Self>,
    ) -> Result<(), Damage> {
        column::integers(cursor, count, what, to)
    }
}

impl Number for f64 {
    fn column(
        cursor: &mut Cursor<'_>,
        count: usize,
        what: &str,
        to: &mut Vec<Self>,
    ) -> Result<(), Damage> {
        column::floats(cursor, count, what, to)
    }
}

/// Elements of series, rank by rank: each is one visit, or several neighbouring visits if a long
/// series was folded.
#[derive(Debug)]
pub(crate) struct Elements<T> {
    pub(crate) ranks: Vec<u32>,
    pub(crate) executions: Vec<u32>,
    /// The number of visits, or of values of a metric.
    pub(crate) visits: Vec<u64>,
    pub(crate) sums: Vec<T>,
    pub(crate) minima: Vec<T>,
    pub(crate) maxima: Vec<T>,
}

impl<T> Default for Elements<T> {
    fn default() -> Self {
        let (ranks, executions, visits) = Default::default();
        Self { ranks, executions, visits, sums: Vec::new(), minima: Vec::new(), maxima: Vec::new() }
    }
}

impl<T: Number> Elements<T> {
    pub(crate) fn append(&mut self, mut other: Self) {
        self.ranks.append(&mut other.ranks);
        self.executions.append(&mut other.executions);
        self.visits.append(&mut other.visits);
        self.sums.append(&mut other.sums);
        self.minima.append(&mut other.minima);
        self.maxima.append(&mut other.maxima);
    }

    /// Adds the series of all ranks, each encoded separately: their lengths, then their bytes.
    pub(crate) fn read_own(
        &mut self,
        cursor: &mut Cursor<'_>,
        first_rank: u32,
        ranks: usize,
    ) -> Result<(), Damage> {
        let mut lengths = Vec::new();
        column::integers(cursor, ranks, "the lengths of the series", &mut lengths)?;
        for (rank, length) in (first_rank..).zip(lengths) {
            let mut series = cursor.stretch(length, "a series")?;
            if length > 0 {
                self.read_one(&mut series, rank)?;
            }
        }
        Ok(())
    }

    fn read_one(&mut self, cursor: &mut Cursor<'_>, rank: u32) -> Result<(), Damage> {
        let start = cursor.clone();
        let count = cursor.varint("the length of a series")?;
        let stretches = cursor.varint("the number of executions in a series")?;
        let (Ok(count), Ok(stretches)) = (usize::try_from(count), usize::try_from(stretches))
        else {
            return Err(start.damage("a series is longer than memory"));
        };
        let (mut distinct, mut lengths) = (Vec::new(), Vec::new());
        column::integers(cursor, stretches, "the executions of a series", &mut distinct)?;
        column::integers(cursor, stretches, "the lengths of a series", &mut lengths)?;
        if lengths.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n)) != Some(count as u64) {
            return Err(start.damage("the executions of a series do not add up to its length"));
        }
        cursor.charge(count, "a series")?;
        for (execution, length) in distinct.into_iter().zip(lengths) {
            self.add_stretch(&start, rank, execution, length)?;
        }
        column::integers_u32(cursor, count, "the visits of a series", &mut self.visits)?;
        T::column(cursor, count, "the sums of a series", &mut self.sums)?;
        let has_extremes = cursor.remaining() > 0;
        self.read_extremes(cursor, count, has_extremes)?;
        cursor.finish("a series")
    }

    /// Adds the series of `ranks` ranks in one set of columns.
    pub(crate) fn read_joined(
        &mut self,
        cursor: &mut Cursor<'_>,
        first_rank: u32,
        ranks: usize,
    ) -> Result<(), Damage> {
        let start = cursor.clone();
        let (mut stretches, mut gaps, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        column::integers(cursor, ranks, "the stretches of series", &mut stretches)?;
        let most = JOINED_A_RANK_MAX.saturating_mul(ranks);
        let total = total(&start, &stretches, "the stretches of series")?;
        if total > most {
            return Err(start.damage("there are more stretches than can be in joined series"));
        }
        column::integers(cursor, total, "the executions of series", &mut gaps)?;
        column::integers(cursor, total, "the lengths of stretches", &mut lengths)?;
        let count = self::total(&start, &lengths, "the lengths of stretches")?;
        if count > most {
            return Err(start.damage("there are more elements than can be in joined series"));
        }
        cursor.charge(count, "joined series")?;
        let mut each = gaps.into_iter().zip(lengths);
        for (rank, stretches) in (first_rank..).zip(stretches) {
            for (position, (gap, length)) in (0..stretches).zip(&mut each) {
                self.add_stretch(&start, rank, gap.wrapping_add(position), length)?;
            }
        }
        column::integers_u32(cursor, count, "the visits of series", &mut self.visits)?;
        T::column(cursor, count, "the times of series", &mut self.sums)?;
        let kind = cursor.u8("the kind of joined series")?;
        if kind > 1 {
            return Err(cursor.damage(format!("{kind} is no kind of joined series")));
        }
        self.read_extremes(cursor, count, kind == 1)
    }

    fn add_stretch(
        &mut self,
        start: &Cursor<'_>,
        rank: u32,
        execution: u64,
        length: u64,
    ) -> Result<(), Damage> {
        let execution = u32::try_from(execution)
            .map_err(|_| start.damage("an execution does not fit 32 bits"))?;
        if length == 0 {
            return Err(start.damage("an execution of a series has no elements"));
        }
        // No length is above their sum, for which there is memory.
        let end = self.executions.len() + usize::try_from(length).unwrap_or(0);
        self.executions.resize(end, execution);
        self.ranks.resize(end, rank);
        Ok(())
    }

    /// Reads minima and maxima. If elements hold one visit each, both are equal to the sum.
    fn read_extremes(
        &mut self,
        cursor: &mut Cursor<'_>,
        count: usize,
        present: bool,
    ) -> Result<(), Damage> {
        if present {
            T::column(cursor, count, "the minima of series", &mut self.minima)?;
            return T::column(cursor, count, "the maxima of series", &mut self.maxima);
        }
        cursor.charge(2 * count, "the extremes of series")?;
        let own = self.sums.len() - count;
        self.minima.extend_from_slice(&self.sums[own..]);
        self.maxima.extend_from_slice(&self.sums[own..]);
        Ok(())
    }
}

/// Returns the sum of the counts of a column.
pub(crate) fn total(start: &Cursor<'_>, counts: &[u64], what: &str) -> Result<usize, Damage> {
    let sum = counts.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    sum.and_then(|sum| usize::try_from(sum).ok())
        .ok_or_else(|| start.damage(format!("{what} overflow")))
}
