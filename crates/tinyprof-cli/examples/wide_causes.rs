//! Writes the profile of a wide run with as many causes of waiting as ranks keep, to measure
//! `tinyprof why` and reports: `wide_causes NAME [RANKS [calls]]` writes `NAME.tprof`; with `calls`
//! as level `calls` has it, without what is known of messages.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    Activity, CallpathId, CallpathTable, CallpathValues, Cause, CauseFacts, DelayCost, Edge,
    EdgeKey, EdgeKind, EventMap, ExecutionSummary, PathPart, RankCauses, RankFacts, Region, SiteId,
    Waited,
};

/// Calls of MPI of each rank, in a loop.
const CALLS: u64 = 40;
/// The causes and the parts of a path that a rank keeps (docs/causes.md).
const COSTS: u64 = 512;
const PARTS: u64 = 128;
const STEPS: u64 = 1_000;

fn id(call: u64) -> CallpathId {
    let root = CallpathId::root(SiteId::from_bits(1));
    if call == 0 { root } else { root.child(SiteId::from_bits(call + 1)) }
}

fn table() -> CallpathTable {
    let rows = (0..=CALLS).map(|call| {
        let name = match call {
            0 => "main".to_owned(),
            call => format!("MPI_Recv at exchange (halo.c:{})", 10 * call),
        };
        let mut region = Region::named(SiteId::from_bits(call + 1), name);
        if call > 0 {
            region.module = "mpi".into();
        }
        (id(call), (call > 0).then(|| id(0)), region)
    });
    CallpathTable::from_parents(rows)
}

/// Returns numbers that differ from rank to rank, below a bound.
fn mixed(rank: u64, number: u64, below: u64) -> u64 {
    let hash = (rank << 20 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) % below
}

fn gap(call: u64) -> Activity {
    Activity::Gap { from: id((call + CALLS - 2) % CALLS + 1), to: id(call) }
}

fn values(rank: u64, call: u64, waiting_ns: u64) -> CallpathValues {
    let visits = if call == 0 { 1 } else { STEPS };
    let sum_ns = if call == 0 { STEPS * CALLS * 100_000 } else { waiting_ns + STEPS * 2_000 };
    let mut time = ExecutionSummary::of_one_visit(0, sum_ns / visits);
    (time.visits, time.sum_ns) = (visits, sum_ns);
    let mut values = CallpathValues { executions: vec![time], ..CallpathValues::default() };
    if call > 0 {
        let edge = |ns: u64| Edge { count: STEPS, ..Edge::of_one_instance(ns) };
        let flow =
            EdgeKey { kind: EdgeKind::Flow, partner: 0, from: id((call + CALLS - 2) % CALLS + 1) };
        values.edges.insert(flow, edge(STEPS * (40_000 + mixed(rank, call, 9_000))));
        let partner = if call.is_multiple_of(2) { 1 } else { -1 };
        let message = EdgeKey { kind: EdgeKind::Message, partner, from: id(call) };
        values.edges.insert(message, edge(waiting_ns));
    }
    values
}

fn causes(rank: u64, ranks: u64) -> RankCauses {
    let cause = |number: u64| {
        let by = (rank + 1 + number / CALLS) % ranks;
        let call = number % CALLS + 1;
        Cause::Activity { rank: u32::try_from(by).unwrap_or(0), number: gap(call).number() }
    };
    let cost = |number: u64| {
        let waited = |ns: u64| Waited { ns, count: STEPS };
        DelayCost {
            callpath: id(number % CALLS + 1),
            cause: cause(number),
            direct: waited(1_000_000 + mixed(rank, number, 900_000)),
            propagated: waited(mixed(rank, number + COSTS, 400_000)),
        }
    };
    let part =
        |number: u64| PathPart { cause: cause(number), ns: 30_000_000 + mixed(rank, number, 999) };
    let activities: BTreeMap<u64, Activity> =
        (1..=CALLS).map(|call| (gap(call).number(), gap(call))).collect();
    RankCauses {
        activities: activities.into(),
        costs: (0..COSTS).map(cost).collect(),
        path: (0..PARTS).map(part).collect(),
        facts: CauseFacts { ended_ns: 4_000_000_000 + rank, ..CauseFacts::default() },
    }
}

fn rank(rank: u64, ranks: u64) -> EventMap {
    let causes = causes(rank, ranks);
    let mut waiting_ns: BTreeMap<CallpathId, u64> = BTreeMap::new();
    for cost in &causes.costs {
        *waiting_ns.entry(cost.callpath).or_default() += cost.total_ns();
    }
    let table = table();
    let of = |call: u64| values(rank, call, waiting_ns.get(&id(call)).copied().unwrap_or(0));
    let by_id: BTreeMap<CallpathId, CallpathValues> =
        (0..=CALLS).map(|call| (id(call), of(call))).collect();
    let values = table.rows().iter().map(|row| by_id[&row.id].clone()).collect();
    let host = format!("node{}", rank / 64);
    let facts = RankFacts { host, threads: 1, causes: Some(causes.into()), ..RankFacts::default() };
    EventMap { callpaths: table, values, facts }
}

/// Leaves out what level `calls` does not record.
fn leave_calls(rank: &mut EventMap) {
    rank.facts.causes = None;
    rank.values.iter_mut().for_each(|values| values.edges.clear());
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("wide_causes NAME [RANKS [calls]]")?;
    let ranks = arguments.next().map_or(Ok(4_096), |text| text.parse())?;
    let mut all: Vec<EventMap> = (0..ranks).map(|number| rank(number, ranks)).collect();
    if arguments.next().is_some_and(|level| level == "calls") {
        all.iter_mut().for_each(leave_calls);
    }
    ProfileWriter::new().with_ranks_per_part(256).write(Path::new(&name), &all)?;
    Ok(())
}
