//! A halo exchange: ranks are a square that exchanges with up to four neighbours. Each iteration of
//! a loop posts receives and sends, waits for all, and computes. Sixteen parts, as a run writes
//! them.
#![expect(clippy::cast_sign_loss, reason = "the numbers are not negative")]
#![expect(clippy::cast_possible_wrap, reason = "the numbers are small")]

use std::collections::BTreeMap;

use tinyprof_format::file::{EncodedRank, encode_part, join_alike};
use tinyprof_format::model::{
    CallpathId, CallpathTable, CallpathValues, ClockFacts, Edge, EdgeKey, EdgeKind, EventMap,
    ExecutionSummary, MessageKey, MessageKind, RankFacts, Region, SeriesBucket, SiteId, Traffic,
};

/// The bytes of a message.
const BYTES: u64 = 8_000;

/// The callpaths below the root: the loop, and in it the calls.
const NAMES: [&str; 5] = ["main", "step", "MPI_Irecv", "MPI_Isend", "MPI_Waitall"];

/// Generates times that differ as those of real programs: by 10 % and with a few long ones, or not
/// at all.
struct Times {
    state: u64,
    differ: bool,
}

impl Times {
    fn around(&mut self, ns: u64) -> u64 {
        if !self.differ {
            return ns;
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let long = if self.state.is_multiple_of(97) { 3 } else { 1 };
        (ns + self.state % (ns / 5) - ns / 10) * long
    }

    fn edge(&mut self, count: u64, ns: u64, order: u32) -> Edge {
        let mut all = Edge::default();
        (0..count).for_each(|_| all.absorb(&Edge::of_one_instance(self.around(ns))));
        Edge { order, ..all }
    }

    fn visits(&mut self, count: u64, ns: u64) -> CallpathValues {
        let all = self.edge(count, ns, 0);
        let summary = ExecutionSummary {
            visits: count,
            sum_ns: all.sum_ns,
            min_ns: all.min_ns,
            max_ns: all.max_ns,
            sum_squares_ns2: all.sum_squares_ns2,
            ..ExecutionSummary::of_one_visit(0, ns)
        };
        CallpathValues { executions: vec![summary], ..CallpathValues::default() }
    }
}

fn id(call: usize) -> CallpathId {
    let root = CallpathId::root(SiteId::from_bits(1));
    let step = root.child(SiteId::from_bits(2));
    match call {
        0 => root,
        1 => step,
        _ => step.child(SiteId::from_bits(call as u64 + 1)),
    }
}

fn table() -> CallpathTable {
    let rows = NAMES.iter().enumerate().map(|(call, name)| {
        let region = Region::named(SiteId::from_bits(call as u64 + 1), *name);
        let parent = call.checked_sub(1).map(|_| if call == 1 { id(0) } else { id(1) });
        (id(call), parent, region)
    });
    CallpathTable::from_parents(rows)
}

/// What is in a profile.
#[derive(Clone, Copy)]
pub(crate) struct Contents {
    pub(crate) times_differ: bool,
    pub(crate) each_iteration: bool,
    pub(crate) messages: bool,
    pub(crate) edges: bool,
}

fn rank(number: i32, side: i32, iterations: u64, contents: Contents) -> EventMap {
    let seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number as u64 + 1);
    let mut times = Times { state: seed, differ: contents.times_differ };
    let (x, y) = (number % side, number / side);
    let neighbours = [(y > 0, -side), (x > 0, -1), (x < side - 1, 1), (y < side - 1, side)];
    let partners: Vec<i32> =
        neighbours.into_iter().filter(|(is_there, _)| *is_there).map(|(_, at)| at).collect();
    let n = partners.len() as u64;
    let calls = [
        (1, 110_000 * iterations),
        (iterations, 100_000),
        (n * iterations, 300),
        (n * iterations, 500),
        (iterations, 9_000),
    ];
    let mut values = calls.map(|(count, ns)| times.visits(count, ns));
    if contents.each_iteration {
        let each = (0..iterations).map(|_| SeriesBucket::of_one_visit(0, times.around(100_000)));
        values[1].series = each.collect();
    }
    let traffic = Traffic { count: iterations, bytes: BYTES * iterations };
    let all = |kind| partners.iter().map(move |&at| (MessageKey::new(kind, at, BYTES), traffic));
    if contents.messages {
        values[3].messages = all(MessageKind::MessageOut).collect();
        values[4].messages = all(MessageKind::MessageIn).collect();
    }
    if contents.edges {
        let mut order = 0;
        let mut edge = |to: usize, kind: EdgeKind, partner, from: usize, count, ns| {
            let edge = times.edge(count, ns, order);
            order += 1;
            let waits = kind.waits();
            let waiting =
                if waits { edge.sum_ns.saturating_sub(times.around(20) * count) } else { 0 };
            let edge = Edge {
                bytes: if waits { BYTES * count } else { 0 },
                compensated_ns: waiting,
                transfer_ns: if waits { times.around(2_000 * count) } else { 0 },
                ..edge
            };
            values[to].edges.insert(EdgeKey { kind, partner, from: id(from) }, edge);
        };
        edge(2, EdgeKind::Flow, 0, 4, iterations - 1, 80_000);
        edge(2, EdgeKind::Flow, 0, 2, (n - 1) * iterations, 100);
        edge(3, EdgeKind::Flow, 0, 2, iterations, 200);
        edge(3, EdgeKind::Flow, 0, 3, (n - 1) * iterations, 100);
        edge(4, EdgeKind::Flow, 0, 3, iterations, 150);
        edge(4, EdgeKind::Completion, 0, 2, n * iterations, 4_000);
        edge(4, EdgeKind::Completion, 0, 3, n * iterations, 3_000);
        for &partner in &partners {
            edge(4, EdgeKind::Message, partner, 3, iterations, 1_800);
        }
    }
    let clock = ClockFacts { companions: n * iterations, ..ClockFacts::default() };
    let clock = if contents.edges { clock } else { ClockFacts::default() };
    let facts = RankFacts { host: "node".into(), clock, threads: 1, ..RankFacts::default() };
    let records: BTreeMap<CallpathId, CallpathValues> =
        values.into_iter().enumerate().map(|(call, values)| (id(call), values)).collect();
    let table = table();
    let values = table.rows().iter().map(|row| records[&row.id].clone()).collect();
    EventMap { callpaths: table, values, facts }
}

/// Returns the bytes of all parts of `ranks` ranks.
pub(crate) fn part_bytes(ranks: u32, iterations: u32, contents: Contents) -> usize {
    let side = ranks.isqrt() as i32;
    let dictionary = table();
    let group = ranks.div_ceil(16) as i32;
    let parts = (0..ranks as i32).step_by(group as usize).map(|first| {
        let last = (first + group).min(ranks as i32);
        let encoded = (first..last).map(|number| {
            EncodedRank::of_event_map(&rank(number, side, iterations.into(), contents))
        });
        let mut encoded: Vec<EncodedRank> = encoded.collect();
        join_alike(&mut encoded, ranks);
        encode_part(first as u32, &dictionary, &encoded).len()
    });
    parts.sum()
}
