//! Ranks that a test drives by hand: it says what each does, one after the other.

use std::collections::{BTreeMap, VecDeque};

use tinyprof_messages::graph::{NodeKey, Tag};
use tinyprof_messages::time::Call;

use crate::builder::{Builder, Received};

/// The functions of the test programs, by their numbers.
pub(crate) const FUNCTIONS: [&str; 9] =
    ["Init", "Send", "Recv", "Isend", "Irecv", "Wait", "Bcast", "Alltoall", "Finalize"];
pub(crate) const INIT: u16 = 0;
pub(crate) const SEND: u16 = 1;
pub(crate) const RECV: u16 = 2;
pub(crate) const ISEND: u16 = 3;
pub(crate) const IRECV: u16 = 4;
pub(crate) const WAIT: u16 = 5;
pub(crate) const BCAST: u16 = 6;
pub(crate) const ALLTOALL: u16 = 7;
pub(crate) const FINALIZE: u16 = 8;

/// The duration of each call, in ns.
const CALL_NS: u64 = 2_000;

pub(crate) struct World {
    ranks: Vec<Builder>,
    now_ns: Vec<u64>,
    under_way: BTreeMap<(usize, usize), VecDeque<NodeKey>>,
}

impl World {
    pub(crate) fn new(ranks: usize) -> Self {
        let id = |rank: usize| u32::try_from(rank).expect("a rank");
        let builders = (0..ranks).map(|rank| Builder::new(id(rank), 1_000, 0)).collect();
        Self { ranks: builders, now_ns: vec![0; ranks], under_way: BTreeMap::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.ranks.len()
    }

    pub(crate) fn ranks(&self) -> std::ops::Range<usize> {
        0..self.ranks.len()
    }

    pub(crate) fn compute(&mut self, rank: usize, ns: u64) {
        self.now_ns[rank] += ns;
    }

    pub(crate) fn enter(&mut self, rank: usize, region: u64) {
        self.ranks[rank].enter(region);
    }

    pub(crate) fn leave(&mut self, rank: usize) {
        self.ranks[rank].leave();
    }

    pub(crate) fn enter_loop(&mut self, rank: usize, region: u64) {
        self.ranks[rank].enter_loop(region);
    }

    pub(crate) fn iterate(&mut self, rank: usize) {
        self.ranks[rank].iterate(self.now_ns[rank]);
    }

    pub(crate) fn leave_loop(&mut self, rank: usize) {
        self.ranks[rank].leave_loop(self.now_ns[rank]);
    }

    pub(crate) fn call(&mut self, rank: usize, function: u16) -> NodeKey {
        let entered_ns = self.now_ns[rank];
        self.now_ns[rank] += CALL_NS;
        self.ranks[rank].call(function, Call { entered_ns, left_ns: entered_ns + CALL_NS })
    }

    pub(crate) fn everyone_calls(&mut self, function: u16) {
        for rank in self.ranks() {
            self.call(rank, function);
        }
    }

    pub(crate) fn send(&mut self, rank: usize, to: usize, function: u16) -> NodeKey {
        let node = self.call(rank, function);
        self.ranks[rank].sent(node, u32::try_from(to).expect("a rank"), 1_024);
        self.under_way.entry((rank, to)).or_default().push_back(node);
        node
    }

    pub(crate) fn receive(&mut self, rank: usize, from: usize, is_wildcard: bool) -> NodeKey {
        let node = self.call(rank, RECV);
        self.received(rank, node, from, is_wildcard);
        node
    }

    /// The message that a receive has got.
    pub(crate) fn received(&mut self, rank: usize, node: NodeKey, from: usize, is_wildcard: bool) {
        let sender = self.under_way.get_mut(&(from, rank)).and_then(VecDeque::pop_front);
        let message = Received { bytes: 1_024, ..Received::default() };
        let from = u32::try_from(from).expect("a rank");
        self.ranks[rank].received(node, from, sender, is_wildcard, &message);
    }

    pub(crate) fn wait(&mut self, rank: usize, request: NodeKey) {
        let wait = self.call(rank, WAIT);
        self.ranks[rank].completed(request, wait, CALL_NS);
    }

    pub(crate) fn broadcast(&mut self, root: u32) {
        for rank in self.ranks() {
            let node = self.call(rank, BCAST);
            self.ranks[rank].rooted(node, root, 1_024);
        }
    }

    pub(crate) fn end(self) -> Vec<Tag> {
        self.ranks.into_iter().zip(self.now_ns).map(|(rank, now_ns)| rank.end(now_ns)).collect()
    }
}
