//! Statistics of MPI calls over ranks: by function, by call site, and by pair of ranks.
//!
//! The names of functions come from the profile and are no more trusted than others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use tinyprof_format::model::{
    CallpathIndex, CallpathTable, CallpathValues, MessageKind, Profile, Traffic,
};

use tinyprof_report::{
    Activity, HostId, RankStatistics, Totals, Transfers, mpi_callpaths, partner,
};

/// The calls of an MPI function, or of one of its call sites, over all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallStatistics {
    /// The calls (as visits) and their times. The time of calls is the exclusive time: without
    /// regions that MPI calls back, such as those of a reduction.
    pub over_ranks: RankStatistics,
    /// The messages and other transfers of the calls.
    pub transfers: Transfers,
    /// The part of their time that is start-up, which has no share, in nanoseconds.
    pub startup_ns: u128,
}

impl CallStatistics {
    /// Returns the time of the calls, summed over ranks, in nanoseconds.
    #[must_use]
    pub const fn time_ns(&self) -> u128 {
        self.over_ranks.exclusive.sum_ns
    }

    /// Returns the time of the calls without start-up, summed over ranks, in nanoseconds.
    #[must_use]
    pub const fn worked_ns(&self) -> u128 {
        self.time_ns().saturating_sub(self.startup_ns)
    }

    fn is_empty(&self) -> bool {
        self.over_ranks.ranks == 0 && self.transfers.is_empty()
    }

    /// Adds the calls of one rank, if there are any: a call that has not ended has messages only.
    fn add(&mut self, (rank, host): (u32, HostId), calls: CallsOfRank) {
        let CallsOfRank { calls, inclusive_ns, exclusive_ns, startup_ns } = calls;
        self.startup_ns = self.startup_ns.saturating_add(startup_ns.into());
        if calls > 0 {
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
    startup_ns: u64,
}

impl CallsOfRank {
    fn absorb(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.inclusive_ns = self.inclusive_ns.saturating_add(other.inclusive_ns);
        self.exclusive_ns = self.exclusive_ns.saturating_add(other.exclusive_ns);
        self.startup_ns = self.startup_ns.saturating_add(other.startup_ns);
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
        let totals = Totals::of_profile(profile);
        let mut sums = MpiCallSums::new(&profile.callpaths, profile.ranks.len());
        for ((index, _), values) in profile.callpaths.iter().zip(&profile.values) {
            sums.add(index, values);
        }
        sums.calls(&totals)
    }

    /// Returns true if there are no MPI calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }
}

/// The messages of a run by call site and by pair of ranks, added up callpath by callpath: with the
/// times of [`Totals`] they are its [`MpiCalls`].
#[derive(Clone, Debug)]
pub struct MpiCallSums {
    /// The call sites, in the order of the table, with their messages.
    call_sites: Vec<MpiCallSite>,
    peers: BTreeMap<(Option<u32>, Option<u32>), (Traffic, Traffic)>,
    ranks: usize,
}

impl MpiCallSums {
    /// Returns the sums of a profile with this number of ranks, before any callpath is added.
    #[must_use]
    pub fn new(callpaths: &CallpathTable, ranks: usize) -> Self {
        let site = |(callpath, function): (CallpathIndex, &str)| MpiCallSite {
            callpath,
            function: function.to_owned(),
            calls: CallStatistics::default(),
        };
        let call_sites = mpi_callpaths(callpaths).map(site).collect();
        Self { call_sites, peers: BTreeMap::new(), ranks }
    }

    /// Adds a callpath: its values by rank. Callpaths may be added in any order, each once.
    pub fn add(&mut self, index: CallpathIndex, values: &[CallpathValues]) {
        if let Ok(at) = self.call_sites.binary_search_by_key(&index, |site| site.callpath) {
            self.call_sites[at].calls.transfers = Transfers::of_ranks(values);
        }
        for (rank, values) in (0_u32..).zip(values) {
            for (key, traffic) in &values.messages {
                let partner = partner(*key, rank as usize)
                    .and_then(|partner| u32::try_from(partner).ok())
                    .filter(|partner| (*partner as usize) < self.ranks);
                match key.kind {
                    MessageKind::MessageOut => {
                        self.peers.entry((Some(rank), partner)).or_default().0.absorb(*traffic);
                    }
                    MessageKind::MessageIn => {
                        self.peers.entry((partner, Some(rank))).or_default().1.absorb(*traffic);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Returns the MPI calls of the profile, whose totals have the times.
    ///
    /// # Panics
    /// If the totals are of another profile.
    ///
    /// # Cost
    /// Linear in the numbers of callpaths and ranks, and of pairs of ranks.
    #[must_use]
    pub fn calls(self, totals: &Totals) -> MpiCalls {
        let mut call_sites = self.call_sites;
        let names: BTreeSet<&str> = call_sites.iter().map(|site| site.function.as_str()).collect();
        let function =
            |name: &str| MpiFunction { name: name.to_owned(), calls: CallStatistics::default() };
        let mut functions: Vec<MpiFunction> = names.into_iter().map(function).collect();
        let of_sites: Vec<usize> = call_sites
            .iter()
            .map(|site| functions.partition_point(|function| function.name < site.function))
            .collect();
        for (site, &at) in call_sites.iter().zip(&of_sites) {
            functions[at].calls.transfers.absorb(&site.calls.transfers);
        }
        let exclusive_ns = totals.exclusive_ns();
        let activities = Activity::of_callpaths(totals.callpaths());
        let hosts = totals.ranks().iter().map(|facts| HostId::of_name(&facts.host));
        for ((rank, host), number) in hosts.enumerate().zip(0_u32..) {
            let mut sums = vec![CallsOfRank::default(); functions.len()];
            for (site, &at) in call_sites.iter_mut().zip(&of_sites) {
                let own_ns = exclusive_ns[site.callpath.row()][rank];
                let is_setup = activities[site.callpath.row()] == Some(Activity::Setup);
                let calls = CallsOfRank {
                    calls: totals.visits(site.callpath, rank),
                    inclusive_ns: totals.inclusive_ns(site.callpath, rank),
                    exclusive_ns: own_ns,
                    startup_ns: if is_setup { own_ns } else { 0 },
                };
                site.calls.add((number, host), calls);
                sums[at].absorb(calls);
            }
            for (function, calls) in functions.iter_mut().zip(sums) {
                function.calls.add((number, host), calls);
            }
        }
        call_sites.retain(|site| !site.calls.is_empty());
        call_sites.sort_by_key(|site| Reverse(site.calls.time_ns()));
        functions.retain(|function| !function.calls.is_empty());
        functions.sort_by_key(|function| Reverse(function.calls.time_ns()));
        let peers = |((from, to), (out, into_rank))| Peers { from, to, out, into_rank };
        let mut peers: Vec<Peers> = self.peers.into_iter().map(peers).collect();
        peers.sort_by_key(|pair| Reverse((pair.bytes(), pair.messages())));
        MpiCalls { functions, call_sites, peers }
    }
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

    pub(crate) fn traffic(&self) -> Traffic {
        Traffic { count: self.messages(), bytes: self.bytes() }
    }
}
