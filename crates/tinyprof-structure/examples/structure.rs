//! Measures how long it takes to find phases and classes of many ranks: the goal is 4,096 ranks
//! with 200 calls each in 2 s and 1 GiB.
//!
//! `cargo run --release -p tinyprof-structure --example structure -- 4096 200`, under
//! `/usr/bin/time -v` for the memory. The ranks are a grid that exchanges with four neighbours in
//! four loops. Values come callpath by callpath, as a reader passes them.
#![expect(clippy::disallowed_types, reason = "a measurement needs the clock")]
#![expect(clippy::print_stdout, reason = "the result")]

use std::time::{Duration, Instant};

use tinyprof_format::model::{
    CallpathId, CallpathTable, CallpathValues, Edge, EdgeKey, EdgeKind, ExecutionSummary,
    MessageKey, MessageKind, Region, SiteId, Traffic,
};
use tinyprof_structure::{DrawnRanks, StructureBuilder};

/// The number of loops, one after the other.
const LOOPS: u64 = 4;

const ITERATIONS: u64 = 100;

fn id(call: u64) -> CallpathId {
    CallpathId::root(SiteId::from_bits(1)).child(SiteId::from_bits(2 + call))
}

/// Returns the values of a call on a rank: it follows the call before, and in each loop the first
/// follows the last.
fn values(call: u64, calls: u64, rank: i32, ranks: i32) -> CallpathValues {
    let in_loop = calls / LOOPS;
    let ns = 1_000 * ITERATIONS + u64::from(rank.unsigned_abs() % 7);
    let visits = ExecutionSummary { visits: ITERATIONS, ..ExecutionSummary::of_one_visit(0, ns) };
    let mut values = CallpathValues { executions: vec![visits], ..CallpathValues::default() };
    let mut edge = |kind, partner, from, count: u64, order| {
        let edge = Edge { count, order, ..Edge::of_one_instance(50_000 * count) };
        values.edges.insert(EdgeKey { kind, partner, from }, edge);
    };
    let order = u32::try_from(call).unwrap_or(0);
    let before = if call == 0 { EdgeKey::UNKNOWN } else { id(call - 1) };
    if call.is_multiple_of(in_loop) {
        edge(EdgeKind::Flow, 0, before, 1, 2 * order);
        edge(EdgeKind::Flow, 0, id(call + in_loop - 1), ITERATIONS - 1, 2 * order + 1);
    } else {
        edge(EdgeKind::Flow, 0, before, ITERATIONS, 2 * order);
    }
    let width = ranks.isqrt();
    for step in [1, ranks - 1, width, ranks - width] {
        let partner = (rank + step) % ranks - rank;
        if call % 4 == 1 {
            edge(EdgeKind::Message, partner, id(call - 1), ITERATIONS, 2 * order);
        }
        let kind = match call % 4 {
            0 => MessageKind::MessageOut,
            1 => MessageKind::MessageIn,
            _ => continue,
        };
        let traffic = Traffic { count: ITERATIONS, bytes: 1_024 * ITERATIONS };
        values.messages.insert(MessageKey::new(kind, partner, 1_024), traffic);
    }
    values
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |or: u64| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (ranks, calls) = (number(4_096), number(200));
    let ranks = i32::try_from(ranks).expect("ranks");
    let root = CallpathId::root(SiteId::from_bits(1));
    let call = |call: u64| {
        let site = SiteId::from_bits(2 + call);
        let name = format!("MPI_Sendrecv at f{call} (f.c:{call})");
        let region = Region { module: "mpi".into(), ..Region::named(site, name) };
        (id(call), Some(root), region)
    };
    let main = std::iter::once((root, None, Region::named(SiteId::from_bits(1), "main")));
    let table = CallpathTable::from_parents(main.chain((0..calls).map(call)));
    let rows = table.index_by_id();
    let mut builder = StructureBuilder::new(&table, usize::try_from(ranks).expect("ranks"));
    let mut elapsed = Duration::ZERO;
    for call in 0..calls {
        let of_ranks: Vec<CallpathValues> =
            (0..ranks).map(|rank| values(call, calls, rank, ranks)).collect();
        let start = Instant::now();
        builder.add(rows[&id(call)], &of_ranks);
        elapsed += start.elapsed();
    }
    let start = Instant::now();
    let structure = builder.finish(true);
    elapsed += start.elapsed();
    for phase in structure.phases() {
        let classes: Vec<u64> = phase.classes.iter().map(|class| class.ranks.len()).collect();
        println!("{:?}: classes of {classes:?} ranks", phase.section.places);
    }
    let drawing = structure.drawing(&DrawnRanks::Classes);
    println!("{} nodes, {} message edges by class", drawing.nodes.len(), drawing.messages.len());
    println!("{ranks} ranks with {calls} calls: {} ms", elapsed.as_millis());
}
