//! All that is known of a run.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tinyprof_format::model::{
    CallpathId, CallpathIndex, CallpathTable, CallpathValues, Edge, EdgeKey, EdgeKind, MessageKind,
    RankFacts,
};
use tinyprof_messages::delay::Visits;
use tinyprof_report::{
    Activity, Occupancy, Totals, Unfollowed, partner, waiting_pattern, world_rank,
};

use super::activities::{Activities, Doing};
use super::apart::Apart;
use super::calls::Call;
use super::gaps::{are_visits, longest_mean_ns};
use super::waits::{Wait, Waits};

/// The facts of a run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) callpaths: CallpathTable,
    pub(crate) ranks: usize,
    /// The time of each rank without start-up, in ns.
    pub(crate) rank_ns: Vec<u64>,
    /// The time of each rank in calls of MPI without start-up, in ns, with waiting.
    pub(crate) mpi_ns: Vec<u64>,
    /// What ranks do by themselves: computation before each call, and calls that wait for nobody.
    pub(crate) activities: Activities,
    /// The computing of a rank between a call and the next one, by call.
    pub(crate) after_calls: BTreeMap<(CallpathIndex, u32), AfterEach>,
    /// The time of ranks between two calls of a test.
    pub(crate) apart: Apart,
    /// The time in which each rank slept, in ns; 0 where it is not known.
    pub(crate) asleep_ns: Vec<u64>,
    /// The exclusive time of regions that are no calls of MPI.
    pub(crate) regions: Activities,
    /// The time in calls in which ranks may wait, with the waiting.
    pub(crate) may_wait: Activities,
    /// The same without the waiting that is known: transfer, and where a rank has lost its
    /// processor. Nobody is late because of it, as far as can be told.
    pub(crate) in_calls: Activities,
    pub(crate) waits: Waits,
    /// The time in calls of which nobody knows for whom they wait, in ns.
    pub(crate) not_followed_ns: f64,
    /// The messages that ranks have received of others, by receiver and sender.
    pub(crate) received: BTreeMap<(u32, u32), Received>,
    /// The ranks that have sent messages to another one: sender and receiver.
    pub(crate) sent: BTreeSet<(u32, u32)>,
    pub(crate) calls: BTreeMap<CallpathIndex, Call>,
    /// The ranks of a host and its processors, if it has fewer of these.
    pub(crate) crowded: Option<Occupancy>,
    /// The time in which each rank could run, but had no processor: the least and the most that
    /// can be of its time, in ns, as start-up is measured with it. 0 where it is not known.
    pub(crate) no_processor_ns: Vec<[u64; 2]>,
}

/// The messages that a rank has received of another one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Received {
    pub(crate) messages: u64,
    /// True if it would have taken some of them from any source.
    pub(crate) is_any: bool,
}

/// The computing that follows a call: how often, and the shortest time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AfterEach {
    visits: u64,
    shortest_ns: u64,
}

impl AfterEach {
    pub(crate) fn add(&mut self, edge: &Edge) {
        let is_first = self.visits == 0;
        self.shortest_ns = if is_first { edge.min_ns } else { self.shortest_ns.min(edge.min_ns) };
        self.visits = self.visits.saturating_add(edge.count);
    }

    /// Returns the least that it can be in all, in ns.
    pub(crate) fn least_ns(self) -> f64 {
        crate::ns(u128::from(self.visits) * u128::from(self.shortest_ns))
    }
}

impl Run {
    /// Returns the time of all ranks, in ns.
    pub(crate) fn total_ns(&self) -> f64 {
        crate::ns(self.rank_ns.iter().map(|ns| u128::from(*ns)).sum())
    }

    /// Returns a time of all ranks as a part of that of the run.
    pub(crate) fn share(&self, ns: f64) -> f64 {
        let total_ns = self.total_ns();
        if total_ns > 0.0 { ns / total_ns } else { 0.0 }
    }

    /// Returns the mean of a time over ranks.
    pub(crate) fn a_rank_ns(&self, ns: f64) -> f64 {
        ns / crate::ns(self.used().max(1) as u128)
    }

    /// Returns the number of ranks that have any time.
    pub(crate) fn used(&self) -> usize {
        self.rank_ns.iter().filter(|ns| **ns > 0).count()
    }

    /// Returns true if the profile says which call followed which, and who waited for whom.
    pub(crate) const fn has_messages(&self) -> bool {
        self.waits.are_recorded
    }
}

/// Collects the facts of a run, callpath by callpath.
#[derive(Clone, Debug)]
pub(crate) struct RunBuilder {
    callpaths: CallpathTable,
    ranks: usize,
    rows: HashMap<CallpathId, CallpathIndex>,
    kinds: Vec<Option<Activity>>,
    gaps: Activities,
    after_calls: BTreeMap<(CallpathIndex, u32), AfterEach>,
    apart: Apart,
    waits: Waits,
    received: BTreeMap<(u32, u32), Received>,
    sent: BTreeSet<(u32, u32)>,
    calls: BTreeMap<CallpathIndex, Call>,
    /// The least that each rank has needed for its visits of a call, with waiting, in ns.
    least_ns: BTreeMap<CallpathIndex, Vec<u64>>,
}

impl RunBuilder {
    pub(crate) fn new(callpaths: &CallpathTable, ranks: usize) -> Self {
        let kinds = Activity::of_callpaths(callpaths);
        let is_startup = |index: CallpathIndex| kinds[index.row()] == Some(Activity::Setup);
        let call = |(index, function): (CallpathIndex, &str)| {
            let function = function.to_owned();
            (index, Call { function, is_startup: is_startup(index), ..Call::default() })
        };
        Self {
            callpaths: callpaths.clone(),
            ranks,
            rows: callpaths.index_by_id(),
            calls: tinyprof_report::mpi_callpaths(callpaths).map(call).collect(),
            kinds,
            gaps: Activities::new(ranks),
            after_calls: BTreeMap::new(),
            apart: Apart::default(),
            waits: Waits::default(),
            received: BTreeMap::new(),
            sent: BTreeSet::new(),
            least_ns: BTreeMap::new(),
        }
    }

    /// Returns the callpaths by id.
    pub(crate) const fn rows(&self) -> &HashMap<CallpathId, CallpathIndex> {
        &self.rows
    }

    /// Adds a callpath: its values by rank.
    pub(crate) fn add(&mut self, index: CallpathIndex, values: &[CallpathValues]) {
        let Some(mut call) = self.calls.remove(&index) else { return };
        if call.may_wait() && !call.is_startup {
            self.least_ns.insert(index, values.iter().map(least_ns).collect());
        }
        let mut before: BTreeMap<CallpathIndex, (u64, u64)> = BTreeMap::new();
        let mut flows: Vec<BTreeMap<Option<CallpathIndex>, u64>> =
            vec![BTreeMap::new(); values.len()];
        for (rank, values) in (0_u32..).zip(values) {
            for (key, traffic) in &values.messages {
                call.count(key.kind, rank, *traffic);
                let to = partner(*key, rank as usize).and_then(|to| u32::try_from(to).ok());
                if let Some(to) = to.filter(|_| key.kind == MessageKind::MessageOut) {
                    self.sent.insert((rank, to));
                }
            }
            self.waits.are_recorded |= !values.edges.is_empty();
            if call.is_startup {
                continue;
            }
            let longest_ns = longest_mean_ns(values);
            for (key, edge) in &values.edges {
                match key.kind {
                    EdgeKind::Flow => {
                        self.gaps.add_gaps(
                            Doing::Before(index),
                            rank as usize,
                            edge,
                            are_visits(edge, longest_ns),
                        );
                        if key.from == EdgeKey::UNKNOWN {
                            self.gaps.begin(Doing::Before(index), rank, edge.sum_ns);
                        }
                        if call.is_test() && self.rows.get(&key.from) == Some(&index) {
                            self.apart.add(index, rank, edge);
                        }
                        let from = self.rows.get(&key.from);
                        let of_rank = flows.get_mut(rank as usize);
                        if let Some(sum) = of_rank.map(|of| of.entry(from.copied()).or_default()) {
                            *sum = sum.saturating_add(edge.count);
                        }
                        if let Some(from) = from {
                            let sum = before.entry(*from).or_default();
                            sum.0 = sum.0.saturating_add(edge.count);
                            sum.1 = sum.1.saturating_add(edge.sum_ns);
                            self.after_calls.entry((*from, rank)).or_default().add(edge);
                        }
                    }
                    EdgeKind::Completion => {}
                    _ => self.add_wait(&mut call, (rank, index), *key, edge),
                }
            }
        }
        let most = before.into_iter().max_by_key(|(_, (count, _))| *count);
        call.before = most.map(|(from, (_, ns))| (from, ns));
        call.before_part = most.map_or(0.0, |(from, _)| least_part(&flows, from));
        self.calls.insert(index, call);
    }

    fn add_wait(
        &mut self,
        call: &mut Call,
        (rank, index): (u32, CallpathIndex),
        key: EdgeKey,
        edge: &Edge,
    ) {
        call.transfer_ns = call.transfer_ns.saturating_add(edge.transfer_ns);
        call.followed = call.followed.saturating_add(edge.count);
        call.takes_any |= key.kind == EdgeKind::MessageToAny;
        let order_ns = edge.wrong_order_ns.min(edge.sum_ns);
        if order_ns > 0 {
            call.wrong_order_ns = call.wrong_order_ns.saturating_add(order_ns);
            call.wrong_order_ranks.insert(rank);
        }
        let Some(pattern) = waiting_pattern(key.kind) else { return };
        let from = self.rows.get(&key.from).copied();
        let other = world_rank(key.partner, rank, self.ranks);
        let Some(partner) = other.filter(|other| *other != rank) else {
            self.waits.for_nobody_ns += u128::from(edge.sum_ns);
            return;
        };
        if matches!(key.kind, EdgeKind::Message | EdgeKind::MessageToAny) {
            let received = self.received.entry((rank, partner)).or_default();
            received.messages = received.messages.saturating_add(edge.count);
            received.is_any |= key.kind == EdgeKind::MessageToAny;
        }
        let wait = Wait {
            rank,
            at: Some(index),
            for_rank: partner,
            from,
            pattern,
            ns: edge.sum_ns,
            count: edge.count,
            is_heard: false,
        };
        if edge.sum_ns > 0 {
            self.waits.all.push(wait);
        }
        if edge.late_receiver_ns > 0 {
            let pattern = tinyprof_messages::waiting::Pattern::LateReceiver;
            let (rank, for_rank) = (partner, rank);
            let (at, from) = (from, Some(index));
            let ns = edge.late_receiver_ns;
            let is_heard = true;
            self.waits.all.push(Wait { rank, at, for_rank, from, pattern, ns, is_heard, ..wait });
        }
    }

    /// Returns the facts, with the times of the callpaths.
    pub(crate) fn finish(self, totals: &Totals) -> Run {
        let exclusive_ns = totals.exclusive_with_samples_ns();
        let waited = self.waits.by_call();
        let (mut rank_ns, mut mpi_ns) = (vec![0_u64; self.ranks], vec![0_u64; self.ranks]);
        let mut regions = Activities::new(self.ranks);
        let mut may_wait = Activities::new(self.ranks);
        let mut in_calls = Activities::new(self.ranks);
        let mut activities = self.gaps;
        for (index, _) in self.callpaths.iter() {
            if self.kinds[index.row()] == Some(Activity::Setup) {
                continue;
            }
            let call = self.calls.get(&index);
            for (rank, ns) in exclusive_ns[index.row()].iter().enumerate().take(self.ranks) {
                let count = totals.visits(index, rank);
                rank_ns[rank] = rank_ns[rank].saturating_add(*ns);
                let visits = Visits { count, ns: *ns };
                let Some(call) = call else {
                    regions.add(Doing::In(index), rank, visits, 0);
                    continue;
                };
                mpi_ns[rank] = mpi_ns[rank].saturating_add(*ns);
                if call.may_wait() {
                    may_wait.add(Doing::In(index), rank, visits, 0);
                    let number = u32::try_from(rank).unwrap_or(u32::MAX);
                    let waited = waited.get(&(number, index)).copied().unwrap_or(0);
                    let visits = Visits { ns: ns.saturating_sub(waited), ..visits };
                    in_calls.add(Doing::In(index), rank, visits, 0);
                    let least_ns =
                        self.least_ns.get(&index).and_then(|of_ranks| of_ranks.get(rank));
                    let least_ns = least_ns.copied().unwrap_or(0).saturating_sub(waited);
                    in_calls.add_least(Doing::In(index), rank, least_ns.min(visits.ns));
                    continue;
                }
                activities.add(Doing::In(index), rank, visits, 0);
            }
        }
        if !self.waits.are_recorded {
            for (doing, of_ranks) in regions.iter() {
                for (rank, visits) in of_ranks.iter().enumerate() {
                    activities.add(doing, rank, *visits, 0);
                }
            }
        }
        let no_processor_ns = no_processor_ns(totals, &rank_ns);
        Run {
            callpaths: self.callpaths,
            ranks: self.ranks,
            rank_ns,
            mpi_ns,
            activities,
            after_calls: self.after_calls,
            apart: self.apart,
            asleep_ns: asleep_ns(totals),
            regions,
            may_wait,
            in_calls,
            not_followed_ns: crate::ns(Unfollowed::of_totals(totals).ns()),
            waits: self.waits,
            received: self.received,
            sent: self.sent,
            calls: self.calls,
            no_processor_ns,
            crowded: Occupancy::of_run(totals.manifest()).filter(|found| found.is_crowded()),
        }
    }
}

/// Returns the time that a rank would have taken if each visit had been as short as the shortest.
fn least_ns(values: &CallpathValues) -> u64 {
    let shortest_ns = values.executions.iter().map(|of| of.min_ns).min().unwrap_or(0);
    shortest_ns.saturating_mul(values.visits())
}

/// Returns how long each rank slept, in ns: it neither ran nor could have.
fn asleep_ns(totals: &Totals) -> Vec<u64> {
    let of_rank = |facts: &RankFacts| {
        let of = &facts.processor;
        of.threads_ns.saturating_sub(of.threads_cpu_ns).saturating_sub(of.delay_ns)
    };
    totals.ranks().iter().map(of_rank).collect()
}

/// Returns the part of the flows of a rank that come from a call, on the rank where that is least.
fn least_part(flows: &[BTreeMap<Option<CallpathIndex>, u64>], from: CallpathIndex) -> f64 {
    let parts = flows.iter().filter(|of_rank| !of_rank.is_empty()).map(|of_rank| {
        let all: u128 = of_rank.values().map(|count| u128::from(*count)).sum();
        let here = of_rank.get(&Some(from)).copied().unwrap_or(0);
        crate::ns(here.into()) / crate::ns(all.max(1))
    });
    parts.fold(1.0, f64::min)
}

/// Returns how long each rank had no processor, at least and at most, in ns. `rank_ns` is its time
/// without start-up; what was measured beside that may all have been in start-up.
fn no_processor_ns(totals: &Totals, rank_ns: &[u64]) -> Vec<[u64; 2]> {
    let of_rank = |(facts, ns): (&RankFacts, &u64)| {
        let elsewhere_ns = facts.processor.threads_ns.saturating_sub(*ns);
        let delay_ns = facts.processor.delay_ns;
        [delay_ns.saturating_sub(elsewhere_ns), delay_ns].map(|bound| bound.min(*ns))
    };
    totals.ranks().iter().zip(rank_ns).map(of_rank).collect()
}
