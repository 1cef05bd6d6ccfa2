//! Entries of waiting while edges are added to them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tinyprof_format::model::CallpathIndex;
use tinyprof_vocabulary::{Pattern, RankSet};

use super::Waiting;

/// The waiting at one edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    pub(super) waiting_ns: u64,
    pub(super) compensated_ns: u64,
    pub(super) transfer_ns: u64,
    pub(super) wrong_order_ns: u64,
    pub(super) count: u64,
}

/// An entry while edges are added to it.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    entry: Waiting,
    /// All ranks that have such an edge, and their partners, whether they have waited or not.
    all: [RankSet; 2],
    /// The waiting for each rank, in ns; none if the entry has only one.
    for_each_ns: Option<BTreeMap<u32, u128>>,
}

impl Sum {
    pub(super) fn new(
        pattern: Pattern,
        callpath: Option<CallpathIndex>,
        for_callpath: Option<CallpathIndex>,
        is_of_several: bool,
    ) -> Self {
        let entry = Waiting {
            pattern,
            callpath,
            for_callpath,
            ranks: RankSet::default(),
            for_ranks: RankSet::default(),
            most: None,
            count: 0,
            waiting_ns: 0,
            compensated_ns: 0,
            transfer_ns: 0,
            wrong_order_ns: 0,
            wrong_order_ranks: RankSet::default(),
            is_startup: false,
        };
        let for_each_ns = is_of_several.then(BTreeMap::new);
        Self { entry, all: Default::default(), for_each_ns }
    }

    pub(super) fn add(&mut self, ranks: [Option<u32>; 2], amount: Amount) {
        let entry = &mut self.entry;
        entry.count = entry.count.saturating_add(amount.count);
        entry.waiting_ns += u128::from(amount.waiting_ns);
        entry.compensated_ns += u128::from(amount.compensated_ns);
        entry.transfer_ns += u128::from(amount.transfer_ns);
        entry.wrong_order_ns += u128::from(amount.wrong_order_ns);
        if let Some(rank) = ranks[0].filter(|_| amount.wrong_order_ns > 0) {
            entry.wrong_order_ranks.insert(rank);
        }
        if let (Some(rank), Some(sums)) = (ranks[1], &mut self.for_each_ns)
            && amount.waiting_ns > 0
        {
            *sums.entry(rank).or_default() += u128::from(amount.waiting_ns);
        }
        let waited = [&mut entry.ranks, &mut entry.for_ranks];
        for ((rank, all), waited) in ranks.into_iter().zip(&mut self.all).zip(waited) {
            let Some(rank) = rank else { continue };
            all.insert(rank);
            if amount.waiting_ns > 0 {
                waited.insert(rank);
            }
        }
    }

    /// Returns the entry. Its ranks are those that have waited, or all if none has.
    pub(super) fn entry(self) -> Waiting {
        if self.entry.waiting_ns > 0 {
            let most = self.for_each_ns.unwrap_or_default().into_iter();
            let most = most.max_by_key(|&(rank, ns)| (ns, Reverse(rank)));
            return Waiting { most, ..self.entry };
        }
        let [ranks, for_ranks] = self.all;
        Waiting { ranks, for_ranks, ..self.entry }
    }
}
