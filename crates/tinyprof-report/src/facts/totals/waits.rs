//! Who waits for whom: the edges between ranks, by the pattern of waiting and by the callpaths at
//! both ends.

mod edges;
mod sum;
mod waited_for;

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use tinyprof_format::model::{
    CallpathId, CallpathIndex, CallpathTable, CallpathValues, Edge, EdgeKey, EdgeKind, Profile,
};
use tinyprof_vocabulary::{Pattern, RankSet};

use sum::{Amount, Sum};

pub use edges::waiting_pattern;
pub(crate) use edges::{excess_ns, followed};
pub(crate) use waited_for::Partners;
pub use waited_for::WaitedFor;

use crate::facts::totals::transfers::world_rank;
use crate::facts::usage::Activity;

/// The waiting of some ranks in one callpath for one callpath of others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// The cause.
    pub pattern: Pattern,
    /// The callpath that waits; none where the sender of a late receiver is not known.
    pub callpath: Option<CallpathIndex>,
    /// The callpath that it waits for; none if it is unknown.
    pub for_callpath: Option<CallpathIndex>,
    /// The ranks that wait.
    pub ranks: RankSet,
    /// The ranks that they wait for, as far as they are known.
    pub for_ranks: RankSet,
    /// The one of them for which they wait longest, with the waiting for it, in ns. None where each
    /// pair of ranks has an entry, or nobody waits for a rank that is known.
    pub most: Option<(u32, u128)>,
    /// The number of messages, or of operations in which it was known who came last.
    pub count: u64,
    /// The time until the partner came, in ns.
    pub waiting_ns: u128,
    /// The waiting that there would have been without measurement, in ns. Where senders wait for
    /// receivers nothing is compensated.
    pub compensated_ns: u128,
    /// The time from then on, in ns.
    pub transfer_ns: u128,
    /// The part of the waiting during which another message could have been received, that was
    /// sent earlier: a remark on the waiting, and no waiting beside it.
    pub wrong_order_ns: u128,
    /// The ranks of which a part of the waiting is due to order.
    pub wrong_order_ranks: RankSet,
    /// True if it is a part of start-up, which has no share ([`TimeBase`](crate::TimeBase)).
    pub is_startup: bool,
}

/// The waiting of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waits {
    /// The entries, the longest waiting first.
    pub entries: Vec<Waiting>,
    /// True if each pair of ranks has an entry of its own.
    pub by_rank: bool,
    /// True if only some of the ranks are of interest.
    pub of_some_ranks: bool,
    /// True if the profile has edges between calls.
    pub are_recorded: bool,
}

impl Waits {
    /// Returns the waiting of a run; see [`WaitSums`].
    ///
    /// # Cost
    /// Linear in the number of edges.
    #[must_use]
    pub fn of_profile(profile: &Profile) -> Self {
        let mut sums = WaitSums::new(&profile.callpaths, profile.ranks.len());
        for (index, _) in profile.callpaths.iter() {
            sums.add(index, &profile.values[index.row()]);
        }
        sums.waits()
    }

    /// Returns all waiting but that of start-up, in ns.
    #[must_use]
    pub fn waiting_ns(&self) -> u128 {
        self.sum(|entry| entry.waiting_ns)
    }

    /// Returns all waiting that there would have been without measurement, in ns.
    #[must_use]
    pub fn compensated_ns(&self) -> u128 {
        self.sum(|entry| entry.compensated_ns)
    }

    fn sum(&self, of: impl Fn(&Waiting) -> u128) -> u128 {
        let entries = self.entries.iter().filter(|entry| !entry.is_startup);
        entries.fold(0, |sum, entry| sum.saturating_add(of(entry)))
    }
}

/// The key of an entry: pattern, both callpaths, and both ranks if pairs are told apart.
type Key = (Pattern, Option<CallpathIndex>, Option<CallpathIndex>, Option<[Option<u32>; 2]>);

/// The waiting of a run, added up callpath by callpath.
///
/// Ranks that wait in the same callpath for the same callpath are one entry.
#[derive(Clone, Debug)]
pub struct WaitSums {
    callpaths: CallpathTable,
    /// The rows by id, as soon as there is an edge: most profiles have none.
    rows: OnceCell<HashMap<CallpathId, CallpathIndex>>,
    ranks: usize,
    by_rank: bool,
    /// The ranks and the rows of callpaths of which waiting is of interest; all if none.
    only_ranks: Option<RankSet>,
    only_rows: Option<Vec<bool>>,
    sums: BTreeMap<Key, Sum>,
    /// The waiting in each callpath, in ns, by the rank that it waits for, if that is known.
    partners: BTreeMap<CallpathIndex, Partners>,
    pub(crate) are_recorded: bool,
    /// The calls right before operations in which all ranks wait for each other, with these.
    before_meetings: BTreeSet<(CallpathId, CallpathIndex)>,
    barriers: BTreeSet<CallpathIndex>,
}

impl WaitSums {
    /// Returns no waiting yet, of a profile with these callpaths and this many ranks.
    #[must_use]
    pub fn new(callpaths: &CallpathTable, ranks: usize) -> Self {
        Self {
            callpaths: callpaths.clone(),
            rows: OnceCell::new(),
            ranks,
            by_rank: false,
            only_ranks: None,
            only_rows: None,
            sums: BTreeMap::new(),
            partners: BTreeMap::new(),
            are_recorded: false,
            before_meetings: BTreeSet::new(),
            barriers: BTreeSet::new(),
        }
    }

    /// Gives each pair of ranks an entry of its own.
    #[must_use]
    pub fn by_rank(self) -> Self {
        Self { by_rank: true, ..self }
    }

    /// Leaves the waiting of other ranks out.
    #[must_use]
    pub fn only_ranks(self, ranks: impl IntoIterator<Item = u32>) -> Self {
        Self { only_ranks: Some(ranks.into_iter().collect()), ..self }
    }

    /// Leaves the waiting in other callpaths out: those whose row is false.
    #[must_use]
    pub fn only_rows(self, rows: Vec<bool>) -> Self {
        Self { only_rows: Some(rows), ..self }
    }

    /// Adds a callpath: its values by rank.
    pub fn add(&mut self, callpath: CallpathIndex, of_ranks: &[CallpathValues]) {
        for (rank, values) in (0_u32..).zip(of_ranks) {
            self.are_recorded |= !values.edges.is_empty();
            self.add_order(callpath, values);
            for (key, edge) in values.edges.iter().filter(|(key, _)| key.kind.waits()) {
                self.add_edge((rank, callpath), *key, edge);
            }
        }
    }

    /// Returns the waiting of what was added.
    #[must_use]
    pub fn waits(&self) -> Waits {
        let (by_rank, are_recorded) = (self.by_rank, self.are_recorded);
        let of_some_ranks = self.only_ranks.is_some();
        Waits { entries: self.entries(), by_rank, of_some_ranks, are_recorded }
    }

    /// Returns the barriers that are followed by an operation in which all ranks wait for each
    /// other, with the callpath of that.
    pub(crate) fn barriers_first(&self) -> Vec<(CallpathIndex, CallpathIndex)> {
        let known = self.before_meetings.iter();
        let known = known.filter_map(|(id, next)| Some((self.row(*id)?, *next)));
        known.filter(|(barrier, _)| self.barriers.contains(barrier)).collect()
    }

    /// Returns the waiting in a callpath, in ns, by the rank that it waits for, if that is known.
    pub(crate) fn partners(&self, callpath: CallpathIndex) -> Option<&Partners> {
        self.partners.get(&callpath)
    }

    fn row(&self, id: CallpathId) -> Option<CallpathIndex> {
        self.rows.get_or_init(|| self.callpaths.index_by_id()).get(&id).copied()
    }

    fn add_order(&mut self, callpath: CallpathIndex, values: &CallpathValues) {
        let has = |kind: EdgeKind| values.edges.keys().any(|key| key.kind == kind);
        if has(EdgeKind::Barrier) {
            self.barriers.insert(callpath);
        }
        if has(EdgeKind::AllToAll) {
            let flows = values.edges.keys().filter(|key| key.kind == EdgeKind::Flow);
            self.before_meetings.extend(flows.map(|key| (key.from, callpath)));
        }
    }

    pub(crate) fn entries(&self) -> Vec<Waiting> {
        let mut entries: Vec<Waiting> = self.sums.values().cloned().map(Sum::entry).collect();
        let activities = Activity::of_callpaths(&self.callpaths);
        for entry in &mut entries {
            let activity = entry.callpath.and_then(|at| activities[at.row()]);
            entry.is_startup = activity == Some(Activity::Setup);
        }
        entries.sort_by_key(|entry| {
            (Reverse(entry.waiting_ns), Reverse(entry.transfer_ns), entry.pattern, entry.callpath)
        });
        entries
    }

    fn is_wanted(&self, rank: u32, callpath: Option<CallpathIndex>) -> bool {
        let is_row = |rows: &Vec<bool>| {
            callpath.is_some_and(|at| rows.get(at.row()).copied().unwrap_or(false))
        };
        self.only_ranks.as_ref().is_none_or(|ranks| ranks.contains(rank))
            && self.only_rows.as_ref().is_none_or(is_row)
    }

    fn add_edge(&mut self, (rank, callpath): (u32, CallpathIndex), key: EdgeKey, edge: &Edge) {
        let Some(pattern) = waiting_pattern(key.kind) else { return };
        let from = self.row(key.from);
        let partner = world_rank(key.partner, rank, self.ranks);
        let here = (Some(rank), Some(callpath));
        let there = (partner, from);
        let waited = Amount {
            waiting_ns: edge.sum_ns,
            compensated_ns: edge.compensated_ns,
            transfer_ns: edge.transfer_ns,
            wrong_order_ns: edge.wrong_order_ns.min(edge.sum_ns),
            count: edge.count,
        };
        self.add_to(pattern, here, there, waited);
        if edge.late_receiver_ns > 0 {
            let of_sender = Amount {
                waiting_ns: edge.late_receiver_ns,
                compensated_ns: edge.late_receiver_ns,
                transfer_ns: 0,
                wrong_order_ns: 0,
                count: edge.count,
            };
            self.add_to(Pattern::LateReceiver, there, here, of_sender);
        }
    }

    fn add_to(
        &mut self,
        pattern: Pattern,
        (rank, callpath): (Option<u32>, Option<CallpathIndex>),
        (for_rank, for_callpath): (Option<u32>, Option<CallpathIndex>),
        amount: Amount,
    ) {
        if !rank.is_some_and(|rank| self.is_wanted(rank, callpath)) {
            return;
        }
        if let Some(callpath) = callpath.filter(|_| amount.waiting_ns > 0) {
            let partners = self.partners.entry(callpath).or_default();
            *partners.entry(for_rank).or_default() += u128::from(amount.waiting_ns);
        }
        let pair = self.by_rank.then_some([rank, for_rank]);
        let sum = self
            .sums
            .entry((pattern, callpath, for_callpath, pair))
            .or_insert_with(|| Sum::new(pattern, callpath, for_callpath, !self.by_rank));
        sum.add([rank, for_rank], amount);
    }
}
