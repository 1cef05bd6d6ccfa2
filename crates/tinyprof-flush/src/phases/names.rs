//! The names of call sites, which rank 0 finds, and the rows of the dictionary that are one by
//! them.
//!
//! Rank 0 tells the others which rows are equal along with the directory of the files. So that
//! costs no message, and where no rows are equal nothing else.

use std::sync::Arc;

use tinyprof_format::file::EncodedRank;
use tinyprof_format::model::{CallpathTable, MergedRows};
use tinyprof_symbols::Named;

use super::Measured;
use super::plan::Plan;
use super::synchronise::GlobalPlan;

/// Two numbers: a row of the dictionary, and the earlier one that takes its place.
const PAIR_BYTES: usize = 8;

/// The dictionary of rank 0, with the names of call sites, and its rows that are equal.
#[derive(Clone, Debug)]
pub(super) struct Names {
    dictionary: CallpathTable,
    equal: Vec<(u32, u32)>,
}

impl Names {
    /// Finds the names. If that fails, call sites stay at their addresses.
    pub(super) fn find(agreed: &Arc<GlobalPlan>, plan: &Plan) -> Self {
        let of = Arc::clone(agreed);
        let find =
            move || tinyprof_symbols::with_names(&of.dictionary, &tinyprof::__mpi::wrappers());
        match plan.workplace.run(find) {
            Ok(Some(Named { callpaths, equal })) => Self { dictionary: callpaths, equal },
            _ => Self { dictionary: agreed.dictionary.clone(), equal: Vec::new() },
        }
    }

    /// Returns the equal rows, for the other ranks.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let numbers = self.equal.iter().flat_map(|&(row, first)| [row, first]);
        numbers.flat_map(u32::to_le_bytes).collect()
    }

    /// Returns the dictionary of the profile.
    pub(super) fn into_dictionary(self) -> CallpathTable {
        if self.equal.is_empty() {
            return self.dictionary;
        }
        MergedRows::new(&self.dictionary, &self.equal).dictionary().clone()
    }
}

/// Gives equal rows one row, in what the ranks have agreed on and in what this one sends. `bytes`
/// are those of rank 0.
pub(super) fn merge(
    bytes: &[u8],
    own: EncodedRank,
    measured: &Measured,
    agreed: Arc<GlobalPlan>,
) -> (EncodedRank, Arc<GlobalPlan>) {
    let numbers = |pair: &[u8; PAIR_BYTES]| {
        let number = |at: usize| u32::from_le_bytes(pair.as_chunks().0[at]);
        (number(0), number(1))
    };
    let equal: Vec<(u32, u32)> = bytes.as_chunks::<PAIR_BYTES>().0.iter().map(numbers).collect();
    if equal.is_empty() {
        return (own, agreed);
    }
    let merged = MergedRows::new(&agreed.dictionary, &equal);
    let map = merged.event_map(measured.map.clone());
    let mut own = EncodedRank::of_event_map(&map.in_precision(agreed.precision));
    own.renumber(&map.callpaths, merged.dictionary());
    let dictionary = merged.dictionary().clone();
    // Metrics of several callpaths may be a little longer as those of one.
    let series_bytes = agreed.series_bytes + agreed.series_bytes / 8;
    (own, Arc::new(GlobalPlan { dictionary, series_bytes, ..GlobalPlan::clone(&agreed) }))
}
