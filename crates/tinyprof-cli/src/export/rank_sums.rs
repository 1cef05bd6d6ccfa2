//! The sums of each callpath on each rank, for formats that have a value for both. Executions and
//! series are not among them, so that those of a wide profile fit the memory.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use tinyprof_format::model::{CallpathIndex, CallpathValues};
use tinyprof_report::{Totals, Transfers};

use super::exporter::{Source, metrics_of};

/// The numbers of ranks at one callpath, of those that have any, in ascending order.
type ByRank<T> = Vec<(usize, T)>;

/// The transfers of a rank at a callpath.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) out_count: u64,
    pub(super) out_bytes: u64,
    pub(super) in_count: u64,
    pub(super) in_bytes: u64,
}

/// The sums of each callpath on each rank.
pub(super) struct RankSums {
    pub(super) totals: Totals,
    /// The sums of varying metrics, by key and row.
    metrics: BTreeMap<String, BTreeMap<usize, ByRank<f64>>>,
    /// The transfers, by row.
    transfers: BTreeMap<usize, ByRank<Sums>>,
    /// The callpaths and ranks with values but without any visit that has ended.
    unended: BTreeSet<(usize, usize)>,
}

impl RankSums {
    /// Returns the sums of a profile, by a pass over all callpaths.
    ///
    /// # Errors
    /// If the profile cannot be read.
    pub(super) fn of(source: &Source<'_>) -> Result<Self, Box<dyn Error>> {
        let mut sums = Self {
            totals: Totals::new(source.manifest(), source.callpaths(), source.facts()),
            metrics: BTreeMap::new(),
            transfers: BTreeMap::new(),
            unended: BTreeSet::new(),
        };
        source.each(|index, values| {
            sums.totals.add(index, values);
            for (rank, values) in values.iter().enumerate() {
                sums.add(index.row(), rank, values);
            }
            Ok(())
        })?;
        Ok(sums)
    }

    fn add(&mut self, row: usize, rank: usize, values: &CallpathValues) {
        for key in values.metrics.keys() {
            if !self.metrics.contains_key(key) {
                self.metrics.insert(key.clone(), BTreeMap::new());
            }
        }
        for (key, metric) in metrics_of(values) {
            if let Some(rows) = self.metrics.get_mut(key) {
                rows.entry(row).or_default().push((rank, metric.sum));
            }
        }
        if !values.messages.is_empty() {
            let transfers = Transfers::of_messages(&values.messages);
            let (out, into_rank) = (transfers.out(), transfers.into_rank());
            let sums = Sums {
                out_count: out.count,
                out_bytes: out.bytes,
                in_count: into_rank.count,
                in_bytes: into_rank.bytes,
            };
            self.transfers.entry(row).or_default().push((rank, sums));
        }
        if values.executions.is_empty() && !values.is_absent() {
            self.unended.insert((row, rank));
        }
    }

    /// Returns the keys of all varying metrics, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.metrics.keys().map(String::as_str)
    }

    /// Returns the sum of a varying metric of a rank; 0 if it has none.
    pub(super) fn metric(&self, key: &str, row: usize, rank: usize) -> f64 {
        let of_row = self.metrics.get(key).and_then(|rows| rows.get(&row));
        of_row.and_then(|ranks| find(ranks, rank)).unwrap_or(0.0)
    }

    /// Returns true if any callpath has messages or other transfers.
    pub(super) fn has_messages(&self) -> bool {
        !self.transfers.is_empty()
    }

    /// Returns the transfers of a rank.
    pub(super) fn transfers(&self, row: usize, rank: usize) -> Sums {
        self.transfers.get(&row).and_then(|ranks| find(ranks, rank)).unwrap_or_default()
    }

    /// Returns true if the rank came to the callpath.
    pub(super) fn is_present(&self, index: CallpathIndex, rank: usize) -> bool {
        self.totals.visits(index, rank) > 0 || self.unended.contains(&(index.row(), rank))
    }
}

fn find<T: Copy>(ranks: &ByRank<T>, rank: usize) -> Option<T> {
    let at = ranks.binary_search_by_key(&rank, |(rank, _)| *rank).ok()?;
    Some(ranks[at].1)
}
