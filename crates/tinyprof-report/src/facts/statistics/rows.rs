//! Rows of statistics: 24 bytes each as long as there is only one rank.
//!
//! A program without MPI reports on itself at its end. For a million callpaths, the form that can
//! be merged over ranks would take 176 MiB.

use std::collections::BTreeMap;

use crate::facts::statistics::rank::RankStatistics;
use crate::facts::statistics::spread::HostId;

/// The statistics of the callpaths of a table.
#[derive(Clone, Debug)]
pub(crate) enum Rows {
    /// The rows of a single rank, or of none.
    One(OneRank),
    /// The rows of several ranks.
    Several(Vec<RankStatistics>),
}

/// The rows of one rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct OneRank {
    /// The rank and its host; none as long as there is no rank.
    place: Option<(u32, HostId)>,
    rows: Vec<OneRow>,
    /// The rows that do not fit the short form because of estimates or variation, by row number.
    others: BTreeMap<usize, RankStatistics>,
}

/// A callpath that one rank visited in one execution, with every visit timed. All zero if it did
/// not.
#[derive(Clone, Copy, Debug, Default)]
struct OneRow {
    visits: u64,
    inclusive_ns: u64,
    exclusive_ns: u64,
}

impl Default for Rows {
    fn default() -> Self {
        Self::of_no_rank(0)
    }
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && (0..self.len()).all(|row| self.get(row) == other.get(row))
    }
}

impl Eq for Rows {}

impl Rows {
    pub(crate) fn of_no_rank(rows: usize) -> Self {
        Self::One(OneRank { rows: vec![OneRow::default(); rows], ..OneRank::default() })
    }

    pub(crate) const fn of_ranks(rows: Vec<RankStatistics>) -> Self {
        Self::Several(rows)
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::One(one) => one.rows.len(),
            Self::Several(rows) => rows.len(),
        }
    }

    pub(crate) fn get(&self, row: usize) -> RankStatistics {
        match self {
            Self::One(one) => one.get(row),
            Self::Several(rows) => rows[row],
        }
    }

    pub(crate) fn grow_to(&mut self, rows: usize) {
        let rows = self.len().max(rows);
        match self {
            Self::One(one) => one.rows.resize(rows, OneRow::default()),
            Self::Several(all) => all.resize(rows, RankStatistics::default()),
        }
    }

    /// Adds the rows of one rank.
    pub(crate) fn add_rank(
        &mut self,
        rank: u32,
        host: HostId,
        rows: impl ExactSizeIterator<Item = RankStatistics>,
    ) {
        self.grow_to(rows.len());
        match self {
            Self::One(one) if one.place.is_none() => {
                one.place = Some((rank, host));
                rows.enumerate().for_each(|(row, statistics)| one.set(row, &statistics));
            }
            _ => self.several().iter_mut().zip(rows).for_each(|(ours, theirs)| ours.merge(&theirs)),
        }
    }

    /// Adds the statistics of other ranks.
    pub(crate) fn merge(&mut self, other: &Self) {
        match (&*self, other) {
            (_, Self::One(OneRank { place: None, .. })) => {}
            (Self::One(OneRank { place: None, .. }), _) => {
                let rows = self.len();
                *self = other.clone();
                self.grow_to(rows);
            }
            _ => {
                self.grow_to(other.len());
                let theirs = (0..other.len()).map(|row| other.get(row));
                self.several()
                    .iter_mut()
                    .zip(theirs)
                    .for_each(|(ours, theirs)| ours.merge(&theirs));
            }
        }
        self.grow_to(other.len());
    }

    /// Returns the rows after conversion to the form for several ranks.
    fn several(&mut self) -> &mut Vec<RankStatistics> {
        if let Self::One(one) = self {
            *self = Self::Several((0..one.rows.len()).map(|row| one.get(row)).collect());
        }
        match self {
            Self::Several(rows) => rows,
            Self::One(_) => unreachable!("it has just got the other form"),
        }
    }
}

impl OneRank {
    fn get(&self, row: usize) -> RankStatistics {
        let OneRow { visits, inclusive_ns, exclusive_ns } = self.rows[row];
        match self.place {
            Some((rank, host)) if visits > 0 => {
                RankStatistics::of_one_rank(rank, host, visits, inclusive_ns, exclusive_ns)
            }
            _ => self.others.get(&row).copied().unwrap_or_default(),
        }
    }

    fn set(&mut self, row: usize, statistics: &RankStatistics) {
        let [inclusive_ns, exclusive_ns] =
            [statistics.inclusive, statistics.exclusive].map(|s| s.max_ns);
        self.rows[row] = OneRow { visits: statistics.visits, inclusive_ns, exclusive_ns };
        if self.get(row) != *statistics {
            self.rows[row] = OneRow::default();
            self.others.insert(row, *statistics);
        }
    }
}
