//! Statistics of MPI calls over ranks: by function, by call site, and by pair of ranks.
//!
//! Calls are told by the regions that the wrappers of MPI's functions make. The names of these
//! regions come from the profile and are no more trusted than others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use tinyprof_format::model::{
    CallpathIndex, CallpathTable, MessageKey, MessageKind, Profile, Region, Traffic,
};

use super::units::ratio;
use super::usage::exclusive_ns;
use super::{HostId, RankStatistics};

/// The module of the regions of MPI's functions.
const MODULE: &str = "mpi";
/// The beginning of the names of MPI's functions.
const PREFIX: &str = "MPI_";
/// The text between a function's name and its call site, in the name of a region.
const AT: &str = " at ";

/// The number of kinds of transfers.
const KINDS: usize = MessageKind::ALL.len();

/// Transfers by kind: messages, collective and one-sided operations, and file accesses.
///
/// ```
/// use std::collections::BTreeMap;
/// use tinyprof_format::model::{MessageKey, MessageKind, Traffic};
/// use tinyprof_report::Transfers;
///
/// let sent = MessageKey::new(MessageKind::MessageOut, 1, 1_000);
/// let read = MessageKey::new(MessageKind::FileIn, 0, 50);
/// let messages = BTreeMap::from([
///     (sent, Traffic { count: 2, bytes: 2_000 }),
///     (read, Traffic { count: 1, bytes: 50 }),
/// ]);
/// let transfers = Transfers::of_messages(&messages);
/// assert_eq!((transfers.out().bytes, transfers.into_rank().bytes), (2_000, 50));
/// assert_eq!(transfers.of_kind(MessageKind::FileIn).count, 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    by_kind: [Traffic; KINDS],
}

impl Transfers {
    /// Returns the sum of these messages of a callpath.
    #[must_use]
    pub fn of_messages<'a>(
        messages: impl IntoIterator<Item = (&'a MessageKey, &'a Traffic)>,
    ) -> Self {
        let mut transfers = Self::default();
        for (key, traffic) in messages {
            transfers.by_kind[key.kind as usize].absorb(*traffic);
        }
        transfers
    }

    /// Adds other transfers.
    pub fn absorb(&mut self, other: &Self) {
        for (ours, theirs) in self.by_kind.iter_mut().zip(other.by_kind) {
            ours.absorb(theirs);
        }
    }

    /// Returns the transfers of one kind.
    #[must_use]
    pub const fn of_kind(&self, kind: MessageKind) -> Traffic {
        self.by_kind[kind as usize]
    }

    /// Returns the transfers whose bytes leave the rank, including those written to files.
    #[must_use]
    pub fn out(&self) -> Traffic {
        self.sum(|kind| kind.is_out())
    }

    /// Returns the transfers whose bytes come to the rank, including those read from files.
    #[must_use]
    pub fn into_rank(&self) -> Traffic {
        self.sum(|kind| !kind.is_out())
    }

    /// Returns the number of transfers of all kinds, and their bytes.
    #[must_use]
    pub fn total(&self) -> Traffic {
        self.sum(|_| true)
    }

    /// Returns true if there are no transfers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn sum(&self, is_counted: impl Fn(MessageKind) -> bool) -> Traffic {
        let mut sum = Traffic::default();
        for kind in MessageKind::ALL.into_iter().filter(|kind| is_counted(*kind)) {
            sum.absorb(self.of_kind(kind));
        }
        sum
    }
}

/// Returns the mean size of a transfer, in bytes; none if there is none.
pub(super) fn mean_bytes(traffic: Traffic) -> Option<f64> {
    (traffic.count > 0).then(|| ratio(traffic.bytes.into(), traffic.count.into()))
}

/// Returns the name of the MPI function that a region is a call of: the text before ` at `. None if
/// it is another region.
pub(super) fn mpi_function(region: &Region) -> Option<&str> {
    if region.module != MODULE {
        return None;
    }
    let name = region.name.split_once(AT).map_or(region.name.as_str(), |(name, _)| name);
    // The root of a selected part of the tree has its whole path as its name.
    let name = name.rsplit_once('<').map_or(name, |(_, name)| name);
    name.starts_with(PREFIX).then_some(name)
}

/// The calls of an MPI function, or of one of its call sites, over all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallStatistics {
    /// The calls (as visits) and their times. The time of calls is the exclusive time: without
    /// regions that MPI calls back, such as those of a reduction.
    pub over_ranks: RankStatistics,
    /// The messages and other transfers of the calls.
    pub transfers: Transfers,
}

impl CallStatistics {
    /// Returns the time of the calls, summed over ranks, in nanoseconds.
    #[must_use]
    pub const fn time_ns(&self) -> u128 {
        self.over_ranks.exclusive.sum_ns
    }

    fn is_empty(&self) -> bool {
        self.over_ranks.ranks == 0 && self.transfers.is_empty()
    }

    fn add(&mut self, rank: u32, host: HostId, calls: &CallsOfRank) {
        self.transfers.absorb(&calls.transfers);
        // A call that has not ended has messages only.
        if calls.calls > 0 {
            let (inclusive_ns, exclusive_ns) = (calls.inclusive_ns, calls.exclusive_ns);
            let calls = calls.calls;
            let one = RankStatistics::of_one_rank(rank, host, calls, inclusive_ns, exclusive_ns);
            self.over_ranks.merge(&one);
        }
    }
}

/// The calls of one rank.
#[derive(Clone, Copy, Debug, Default)]
struct CallsOfRank {
    calls: u64,
    inclusive_ns: u64,
    exclusive_ns: u64,
    transfers: Transfers,
}

impl CallsOfRank {
    fn absorb(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.inclusive_ns = self.inclusive_ns.saturating_add(other.inclusive_ns);
        self.exclusive_ns = self.exclusive_ns.saturating_add(other.exclusive_ns);
        self.transfers.absorb(&other.transfers);
    }
}

/// The calls of an MPI function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MpiFunction {
    /// The function: `MPI_Send`.
    pub name: String,
    /// Its calls.
    pub calls: CallStatistics,
}

/// The calls from one call site: a callpath that ends in an MPI function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MpiCallSite {
    /// The callpath.
    pub callpath: CallpathIndex,
    /// The function: `MPI_Send`.
    pub function: String,
    /// The calls.
    pub calls: CallStatistics,
}

/// The messages from one rank to another, as each of the two counts them. Ranks are those of the
/// world; none where the partner is not in it, or not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peers {
    /// The sender.
    pub from: Option<u32>,
    /// The receiver.
    pub to: Option<u32>,
    /// The messages that the sender has sent.
    pub out: Traffic,
    /// The messages that the receiver has received.
    pub into_rank: Traffic,
}

/// The MPI calls of a profile. Everything is sorted, so equal profiles give equal lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MpiCalls {
    /// By function, the one that takes the most time first.
    pub functions: Vec<MpiFunction>,
    /// By call site, the one that takes the most time first.
    pub call_sites: Vec<MpiCallSite>,
    /// By sender and receiver, the pair with the most bytes first.
    pub peers: Vec<Peers>,
}

impl MpiCalls {
    /// Returns the MPI calls of a profile.
    ///
    /// Pairs of ranks count messages of all callpaths; only messages have a known partner, not
    /// collective and one-sided operations.
    ///
    /// # Cost
    /// Linear in the numbers of callpaths and ranks, and of messages by partner.
    #[must_use]
    pub fn of_profile(profile: &Profile) -> Self {
        let mut call_sites = call_sites(&profile.callpaths);
        let names: BTreeSet<&str> = call_sites.iter().map(|site| site.function.as_str()).collect();
        let mut functions: Vec<MpiFunction> = names
            .into_iter()
            .map(|name| MpiFunction { name: name.to_owned(), calls: CallStatistics::default() })
            .collect();
        let position = |site: &MpiCallSite| {
            functions.partition_point(|function| function.name < site.function)
        };
        let functions_of_sites: Vec<usize> = call_sites.iter().map(position).collect();
        let ranks = profile.ranks.iter().map(|facts| HostId::of_name(&facts.host));
        for ((rank, host), number) in ranks.enumerate().zip(0_u32..) {
            let exclusive_ns = exclusive_ns(profile, rank);
            let mut sums = vec![CallsOfRank::default(); functions.len()];
            for (site, function) in call_sites.iter_mut().zip(&functions_of_sites) {
                let values = profile.values(site.callpath, rank);
                let calls = CallsOfRank {
                    calls: values.visits(),
                    inclusive_ns: values.inclusive_ns(),
                    exclusive_ns: exclusive_ns[site.callpath.row()],
                    transfers: Transfers::of_messages(&values.messages),
                };
                site.calls.add(number, host, &calls);
                sums[*function].absorb(&calls);
            }
            for (function, calls) in functions.iter_mut().zip(&sums) {
                function.calls.add(number, host, calls);
            }
        }
        call_sites.retain(|site| !site.calls.is_empty());
        call_sites.sort_by_key(|site| Reverse(site.calls.time_ns()));
        functions.retain(|function| !function.calls.is_empty());
        functions.sort_by_key(|function| Reverse(function.calls.time_ns()));
        Self { functions, call_sites, peers: peers(profile) }
    }

    /// Returns true if there are no MPI calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }
}

/// Returns the call sites of a table, without any calls, in the order of the table.
fn call_sites(callpaths: &CallpathTable) -> Vec<MpiCallSite> {
    let site = |(callpath, function): (CallpathIndex, &str)| MpiCallSite {
        callpath,
        function: function.to_owned(),
        calls: CallStatistics::default(),
    };
    mpi_callpaths(callpaths).map(site).collect()
}

/// Returns the callpaths that end in an MPI function, and the function.
pub(super) fn mpi_callpaths(
    callpaths: &CallpathTable,
) -> impl Iterator<Item = (CallpathIndex, &str)> {
    callpaths.iter().filter_map(|(index, callpath)| Some((index, mpi_function(&callpath.region)?)))
}

fn peers(profile: &Profile) -> Vec<Peers> {
    let ranks = profile.ranks.len();
    let mut pairs: BTreeMap<(Option<u32>, Option<u32>), (Traffic, Traffic)> = BTreeMap::new();
    for of_ranks in &profile.values {
        for (rank, values) in (0_u32..).zip(of_ranks) {
            for (key, traffic) in &values.messages {
                let partner = (key.partner != MessageKey::ANY_PARTNER)
                    .then(|| rank.checked_add_signed(key.partner))
                    .flatten()
                    .filter(|partner| (*partner as usize) < ranks);
                match key.kind {
                    MessageKind::MessageOut => {
                        pairs.entry((Some(rank), partner)).or_default().0.absorb(*traffic);
                    }
                    MessageKind::MessageIn => {
                        pairs.entry((partner, Some(rank))).or_default().1.absorb(*traffic);
                    }
                    _ => {}
                }
            }
        }
    }
    let peers = |((from, to), (out, into_rank))| Peers { from, to, out, into_rank };
    let mut peers: Vec<Peers> = pairs.into_iter().map(peers).collect();
    peers.sort_by_key(|pair| Reverse((pair.bytes(), pair.messages())));
    peers
}

impl Peers {
    /// Returns the bytes from one rank to the other: those sent, or those received if these are
    /// more. They differ if one of the ranks is not selected, or messages were still on their way.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.out.bytes.max(self.into_rank.bytes)
    }

    /// Returns the number of messages, like [`bytes`](Self::bytes).
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.out.count.max(self.into_rank.count)
    }

    pub(super) fn traffic(&self) -> Traffic {
        Traffic { count: self.messages(), bytes: self.bytes() }
    }
}
