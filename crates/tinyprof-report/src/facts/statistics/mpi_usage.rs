//! The MPI calls of a run: their time, by function, and their transfers. Made from the statistics
//! over ranks, so that the end of a run has it too.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, CallpathTable};

use crate::facts::statistics::Statistics;
use crate::facts::totals::transfers::{Transfers, mpi_callpaths};
use crate::facts::usage::Activity;

/// The MPI calls of a run, without those that set MPI up: a short run of a program would seem to
/// communicate more than a long one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MpiUsage<'a> {
    /// The number of calls.
    pub calls: u64,
    /// Their exclusive time, in ns, all ranks together.
    pub time_ns: u128,
    /// Their transfers; empty where only statistics over ranks are known.
    pub transfers: Transfers,
    /// The time of each function, the greatest first.
    pub functions: Vec<(&'a str, u128)>,
}

impl<'a> MpiUsage<'a> {
    /// Returns the MPI calls of a run with these callpaths; none if there are none.
    #[must_use]
    pub fn of_run(
        callpaths: &'a CallpathTable,
        statistics: &Statistics,
        transfers: &BTreeMap<CallpathIndex, Transfers>,
    ) -> Option<Self> {
        let mut usage = Self::default();
        let mut functions: BTreeMap<&str, u128> = BTreeMap::new();
        let activities = Activity::of_callpaths(callpaths);
        let mut is_used = false;
        for (index, function) in mpi_callpaths(callpaths) {
            let row = statistics.row(index.row());
            let transfers = transfers.get(&index).copied().unwrap_or_default();
            if row.ranks == 0 && transfers.is_empty() {
                continue;
            }
            is_used = true;
            if activities[index.row()] == Some(Activity::Setup) {
                continue;
            }
            usage.calls = usage.calls.saturating_add(row.visits);
            usage.time_ns = usage.time_ns.saturating_add(row.exclusive.sum_ns);
            usage.transfers.absorb(&transfers);
            let sum_ns = functions.entry(function).or_default();
            *sum_ns = sum_ns.saturating_add(row.exclusive.sum_ns);
        }
        usage.functions = functions.into_iter().collect();
        usage.functions.sort_by_key(|(_, ns)| Reverse(*ns));
        is_used.then_some(usage)
    }
}
