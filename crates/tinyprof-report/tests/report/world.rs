//! Ranks that a test drives by hand in virtual time, with the edges that level `messages` records.

use std::collections::{BTreeMap, VecDeque};

use tinyprof_format::model::{
    CallpathId, CallpathValues, ClockFacts, Edge, EdgeKey, EdgeKind, EventMap, ExecutionSummary,
    MessageKey, MessageKind, RankFacts, Region, RegionKind, SiteId, Traffic,
};

/// The duration of a call without waiting, in ns.
pub(crate) const CALL_NS: u64 = 2_000;

#[derive(Default)]
struct Rank {
    now_ns: u64,
    stack: Vec<(CallpathId, u64)>,
    records: BTreeMap<CallpathId, (Option<CallpathId>, Region, CallpathValues)>,
    /// The latest call, and when it was left.
    latest: Option<(CallpathId, u64)>,
    edges: u32,
    clock: ClockFacts,
}

/// A message under way: its callpath, when it was sent, and its size.
type Sent = (CallpathId, u64, u64);

pub(crate) struct World {
    ranks: Vec<Rank>,
    under_way: BTreeMap<(usize, usize), VecDeque<Sent>>,
}

/// Returns a number for a name.
fn site(name: &str) -> SiteId {
    let id = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |id, byte| {
        (id ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    SiteId::from_bits(id)
}

fn offset(from: usize, to: usize) -> i32 {
    let number = |rank: usize| i32::try_from(rank).expect("few ranks");
    number(to) - number(from)
}

impl World {
    /// Returns ranks that have entered the root region of this name.
    pub(crate) fn new(ranks: usize, program: &str) -> Self {
        let ranks = (0..ranks).map(|_| Rank::default()).collect();
        let mut world = Self { ranks, under_way: BTreeMap::new() };
        for rank in world.ranks() {
            world.enter(rank, program, RegionKind::Function);
        }
        world
    }

    pub(crate) fn ranks(&self) -> std::ops::Range<usize> {
        0..self.ranks.len()
    }

    pub(crate) fn compute(&mut self, rank: usize, ns: u64) {
        self.ranks[rank].now_ns += ns;
    }

    pub(crate) fn now_ns(&self, rank: usize) -> u64 {
        self.ranks[rank].now_ns
    }

    pub(crate) fn clock(&mut self, rank: usize) -> &mut ClockFacts {
        &mut self.ranks[rank].clock
    }

    pub(crate) fn enter(&mut self, rank: usize, name: &str, kind: RegionKind) {
        let region = Region { kind, ..Region::named(site(name), name) };
        let own = &mut self.ranks[rank];
        let id = own.callpath(region);
        own.stack.push((id, own.now_ns));
    }

    pub(crate) fn leave(&mut self, rank: usize) {
        let own = &mut self.ranks[rank];
        let (id, entered_ns) = own.stack.pop().expect("an open region");
        own.visit(id, own.now_ns - entered_ns);
    }

    /// Calls a function, by the name of its call site, which takes so long.
    pub(crate) fn call(&mut self, rank: usize, name: &str, ns: u64) -> CallpathId {
        let tag = if name.starts_with("MPI_Init") { "INIT" } else { "COMM" };
        let region = Region {
            module: "mpi".into(),
            constants: [("tag".into(), tag.into())].into(),
            ..Region::named(site(name), name)
        };
        let own = &mut self.ranks[rank];
        let id = own.callpath(region);
        let (from, left_ns) = own.latest.unwrap_or((EdgeKey::UNKNOWN, 0));
        let flow = EdgeKey { kind: EdgeKind::Flow, partner: 0, from };
        own.edge(id, flow, Edge::of_one_instance(own.now_ns - left_ns));
        own.visit(id, ns);
        own.now_ns += ns;
        own.latest = Some((id, own.now_ns));
        id
    }

    /// Sends a message, blocking or not. Returns the callpath.
    pub(crate) fn send(&mut self, rank: usize, to: usize, name: &str, bytes: u64) -> CallpathId {
        let entered_ns = self.ranks[rank].now_ns;
        let id = self.call(rank, name, CALL_NS);
        self.ranks[rank].count(id, MessageKind::MessageOut, offset(rank, to), bytes);
        self.under_way.entry((rank, to)).or_default().push_back((id, entered_ns, bytes));
        id
    }

    /// Receives a message, and waits for it.
    pub(crate) fn receive(&mut self, rank: usize, from: usize, name: &str) -> CallpathId {
        self.wait(rank, None, from, name, EdgeKind::Message)
    }

    /// Receives a message, and goes on this many ns after it has come.
    pub(crate) fn receive_late(&mut self, rank: usize, from: usize, name: &str, ns: u64) {
        let id = self.receive(rank, from, name);
        let own = &mut self.ranks[rank];
        own.now_ns += ns;
        own.latest = Some((id, own.now_ns));
        let executions = &mut own.values(id).executions;
        let last = executions.last_mut().expect("it was visited");
        last.sum_ns += ns;
    }

    /// Receives a message from any source.
    pub(crate) fn receive_any(&mut self, rank: usize, from: usize, name: &str) -> CallpathId {
        self.wait(rank, None, from, name, EdgeKind::MessageToAny)
    }

    /// Waits for a receive that was posted by another call.
    pub(crate) fn wait_for(&mut self, rank: usize, post: CallpathId, from: usize, name: &str) {
        self.wait(rank, Some(post), from, name, EdgeKind::Message);
    }

    fn wait(
        &mut self,
        rank: usize,
        post: Option<CallpathId>,
        from: usize,
        name: &str,
        kind: EdgeKind,
    ) -> CallpathId {
        let (sender, sent_ns, bytes) = self
            .under_way
            .get_mut(&(from, rank))
            .and_then(VecDeque::pop_front)
            .expect("it is sent");
        let waiting_ns = sent_ns.saturating_sub(self.ranks[rank].now_ns);
        let id = self.call(rank, name, waiting_ns + CALL_NS);
        let own = &mut self.ranks[rank];
        own.count(post.unwrap_or(id), MessageKind::MessageIn, offset(rank, from), bytes);
        let key = EdgeKey { kind, partner: offset(rank, from), from: sender };
        let edge = Edge { bytes, transfer_ns: CALL_NS, ..Edge::of_one_instance(waiting_ns) };
        own.edge(id, key, Edge { compensated_ns: waiting_ns - waiting_ns / 10, ..edge });
        if let Some(post) = post {
            self.complete(rank, post, id);
        }
        id
    }

    /// Waits for a send.
    pub(crate) fn wait_for_send(&mut self, rank: usize, post: CallpathId, name: &str) {
        let id = self.call(rank, name, CALL_NS);
        self.complete(rank, post, id);
    }

    fn complete(&mut self, rank: usize, post: CallpathId, wait: CallpathId) {
        let key = EdgeKey { kind: EdgeKind::Completion, partner: 0, from: post };
        self.ranks[rank].edge(wait, key, Edge::of_one_instance(CALL_NS));
    }

    /// Has all ranks call an operation in which they wait for the last one.
    pub(crate) fn meet(&mut self, name: &str, kind: EdgeKind) {
        let last = self.ranks().max_by_key(|rank| self.now_ns(*rank)).expect("a rank");
        self.wait_for_rank(name, kind, last, |rank| rank != last);
    }

    /// Has all ranks call a broadcast of this many bytes.
    pub(crate) fn broadcast(&mut self, root: usize, name: &str, bytes: u64) {
        let ids = self.wait_for_rank(name, EdgeKind::FromRoot, root, |rank| rank != root);
        let ranks = i32::try_from(self.ranks.len()).expect("few ranks");
        for (rank, id) in ids.into_iter().enumerate() {
            let kind = match rank == root {
                true => MessageKind::CollectiveOut,
                false => MessageKind::CollectiveIn,
            };
            self.ranks[rank].count(id, kind, ranks, bytes);
        }
    }

    fn wait_for_rank(
        &mut self,
        name: &str,
        kind: EdgeKind,
        last: usize,
        waits: impl Fn(usize) -> bool,
    ) -> Vec<CallpathId> {
        let last_ns = self.now_ns(last);
        let mut ids = Vec::new();
        for rank in self.ranks() {
            let waiting_ns =
                if waits(rank) { last_ns.saturating_sub(self.now_ns(rank)) } else { 0 };
            let id = self.call(rank, name, waiting_ns + CALL_NS);
            ids.push(id);
            if waits(rank) {
                let key = EdgeKey { kind, partner: offset(rank, last), from: id };
                let edge = Edge { transfer_ns: CALL_NS, ..Edge::of_one_instance(waiting_ns) };
                self.ranks[rank].edge(id, key, Edge { compensated_ns: waiting_ns, ..edge });
            }
        }
        ids
    }

    /// Changes the edges to a callpath of a rank.
    pub(crate) fn edit(
        &mut self,
        rank: usize,
        id: CallpathId,
        change: impl Fn(&EdgeKey, &mut Edge),
    ) {
        let (.., values) = self.ranks[rank].records.get_mut(&id).expect("it was called");
        values.edges.iter_mut().for_each(|(key, edge)| change(key, edge));
    }

    /// Returns what each rank has recorded.
    pub(crate) fn end(mut self) -> Vec<EventMap> {
        for rank in self.ranks() {
            while !self.ranks[rank].stack.is_empty() {
                self.leave(rank);
            }
        }
        self.ranks.into_iter().map(Rank::event_map).collect()
    }
}

impl Rank {
    fn callpath(&mut self, region: Region) -> CallpathId {
        let parent = self.stack.last().map(|(id, _)| *id);
        let id = parent.map_or_else(|| CallpathId::root(region.site), |p| p.child(region.site));
        self.records.entry(id).or_insert_with(|| (parent, region, CallpathValues::default()));
        id
    }

    fn values(&mut self, id: CallpathId) -> &mut CallpathValues {
        &mut self.records.get_mut(&id).expect("it was entered").2
    }

    fn visit(&mut self, id: CallpathId, ns: u64) {
        let executions = vec![ExecutionSummary::of_one_visit(0, ns)];
        self.values(id).absorb(CallpathValues { executions, ..CallpathValues::default() });
    }

    fn edge(&mut self, id: CallpathId, key: EdgeKey, edge: Edge) {
        let order = self.edges;
        self.edges += 1;
        self.values(id).edges.entry(key).or_default().absorb(&Edge { order, ..edge });
    }

    fn count(&mut self, id: CallpathId, kind: MessageKind, partner: i32, bytes: u64) {
        let key = MessageKey::new(kind, partner, bytes);
        self.values(id).messages.entry(key).or_default().absorb(Traffic { count: 1, bytes });
    }

    fn event_map(self) -> EventMap {
        let records = self
            .records
            .into_iter()
            .map(|(id, (parent, region, values))| (id, parent, region, values));
        let facts = RankFacts {
            host: "node001".into(),
            threads: 1,
            clock: self.clock,
            ..RankFacts::default()
        };
        EventMap::from_records(records, facts)
    }
}
