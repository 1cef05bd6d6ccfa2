//! The recording of a rank.

use std::collections::BTreeMap;
use std::sync::Arc;

use tinyprof_format::model::{
    Activity, CallpathId, CallpathValues, Cause, CauseFacts, ClockFacts, DelayCost, Edge, EdgeKey,
    EdgeKind, EventMap, ExecutionSummary, MessageKey, MessageKind, MetricBucket, MetricSummary,
    MetricValues, PathPart, ProcessorFacts, RankCauses, RankFacts, SeriesBucket, Traffic, Waited,
};

use crate::events;
use crate::places::{PERIOD_NS, Place, Places};
use crate::schedule::{CALL_NS, INIT_NS, READ_NS, Schedule, WRITE_NS};

const RANKS_PER_HOST: usize = 64;
const BYTES: u64 = 8_192;

pub(crate) fn event_map(places: &Places, schedule: &Schedule, rank: usize) -> EventMap {
    let visits = visits(places, schedule, rank);
    let mut values: Vec<CallpathValues> = Vec::with_capacity(places.records.len());
    for (record, visits_ns) in places.records.iter().zip(&visits) {
        values.push(values_of(visits_ns, record.2.module == "solver"));
    }
    for &(kernel, samples) in &places.work {
        let taken = visits[kernel].iter().sum::<u64>() / PERIOD_NS;
        let none = ExecutionSummary::of_one_visit(0, 0);
        if taken > 0 {
            values[samples].executions = vec![ExecutionSummary { visits: taken, ..none }];
            values[samples].estimate_samples(PERIOD_NS);
        }
    }
    values[places.steps].metrics.insert("residual".into(), residual(schedule, rank));
    messages(places, schedule, rank, &mut values);
    edges(places, schedule, rank, &mut values);
    let facts = facts(places, schedule, rank);
    let records = places.records.iter().zip(values);
    EventMap::from_records(
        records.map(|((id, parent, region), values)| (*id, *parent, region.clone(), values)),
        facts,
    )
}

/// Returns the durations of all visits of each callpath, in ns. Samples have none.
fn visits(places: &Places, schedule: &Schedule, rank: usize) -> Vec<Vec<u64>> {
    let mut visits = vec![Vec::new(); places.records.len()];
    let mut add = |place: Place, ns: u64| visits[place].push(ns);
    add(places.main, schedule.end_ns);
    add(places.init, INIT_NS);
    add(places.read, READ_NS);
    add(places.broadcast, READ_NS / 3);
    for (step, own) in schedule.of_rank(rank).enumerate() {
        let mut exchange_ns = 0;
        for (kernel, (place, _)) in places.work.iter().enumerate() {
            add(*place, schedule.kernel_ns(rank, kernel, step));
        }
        for &send in &places.sends {
            add(send, CALL_NS);
            exchange_ns += CALL_NS;
        }
        for (&receive, wait_ns) in places.receives.iter().zip(own.waits_ns) {
            add(receive, wait_ns + CALL_NS);
            exchange_ns += wait_ns + CALL_NS;
        }
        let reduce_ns = own.waits_ns[2] + CALL_NS;
        add(places.exchange, exchange_ns);
        add(places.reduce, reduce_ns);
        add(places.norm, reduce_ns);
        add(places.steps, own.work_ns + exchange_ns + reduce_ns);
    }
    add(places.write, WRITE_NS);
    add(places.file, WRITE_NS / 2);
    add(places.finalize, CALL_NS);
    visits
}

fn values_of(visits_ns: &[u64], has_series: bool) -> CallpathValues {
    let mut executions: Vec<ExecutionSummary> = Vec::new();
    for &ns in visits_ns {
        let visit = ExecutionSummary::of_one_visit(0, ns);
        match executions.last_mut() {
            Some(all) => all.absorb(&visit),
            None => executions.push(visit),
        }
    }
    let kept = if has_series { visits_ns } else { &[] };
    let series = kept.iter().map(|&ns| SeriesBucket::of_one_visit(0, ns)).collect();
    CallpathValues { executions, series, ..CallpathValues::default() }
}

/// Returns a metric that falls from step to step.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn residual(schedule: &Schedule, rank: usize) -> MetricValues {
    let of_step = |step: usize| (1.0 + rank as f64 / 1e4) / (1.0 + step as f64);
    let values: Vec<f64> = (0..schedule.of_rank(rank).count()).map(of_step).collect();
    let mut executions: Vec<MetricSummary> = Vec::new();
    for &value in &values {
        let one = MetricSummary::of_one_value(0, value);
        match executions.last_mut() {
            Some(all) => all.absorb(&one),
            None => executions.push(one),
        }
    }
    let series = values.iter().map(|&value| MetricBucket::of_one_value(0, value)).collect();
    MetricValues { executions, series }
}

fn offset(from: usize, to: usize) -> i32 {
    let number = |rank: usize| i32::try_from(rank).unwrap_or(i32::MAX);
    number(to) - number(from)
}

fn messages(places: &Places, schedule: &Schedule, rank: usize, values: &mut [CallpathValues]) {
    let steps = schedule.of_rank(rank).count() as u64;
    let mut add = |place: Place, kind, partner, count: u64, bytes_each: u64| {
        let traffic = Traffic { count, bytes: count * bytes_each };
        let key = MessageKey::new(kind, partner, bytes_each);
        values[place].messages.entry(key).or_default().absorb(traffic);
    };
    for (side, (send, to)) in places.sends.iter().zip(schedule.after(rank)).enumerate() {
        add(*send, MessageKind::MessageOut, offset(rank, to), steps, BYTES << (3 * side));
    }
    for (side, (receive, from)) in places.receives.iter().zip(schedule.before(rank)).enumerate() {
        add(*receive, MessageKind::MessageIn, offset(rank, from), steps, BYTES << (3 * side));
    }
    let all = offset(0, schedule.ranks);
    add(places.reduce, MessageKind::CollectiveOut, all, steps, 8);
    add(places.reduce, MessageKind::CollectiveIn, all, steps, 8);
    let is_root = rank == 0;
    let kind = if is_root { MessageKind::CollectiveOut } else { MessageKind::CollectiveIn };
    add(places.broadcast, kind, all, 1, 64);
    add(places.file, MessageKind::FileOut, 0, 1, 1 << 20);
}

/// Adds which call followed which, and who waited for whom.
fn edges(places: &Places, schedule: &Schedule, rank: usize, values: &mut [CallpathValues]) {
    let mut order = 0;
    let mut add = |to: Place, kind, partner, from: CallpathId, ns: u64, bytes: u64| {
        let key = EdgeKey { kind, partner, from };
        let edge = Edge { order, bytes, transfer_ns: CALL_NS, ..Edge::of_one_instance(ns) };
        order += 1;
        let edge = Edge { compensated_ns: ns, ..edge };
        values[to].edges.entry(key).or_default().absorb(&edge);
    };
    let mut before = EdgeKey::UNKNOWN;
    let mut flow = |add: &mut dyn FnMut(Place, EdgeKind, i32, CallpathId, u64, u64), to, ns| {
        add(to, EdgeKind::Flow, 0, before, ns, 0);
        before = places.id(to);
    };
    flow(&mut add, places.init, 0);
    flow(&mut add, places.broadcast, READ_NS * 2 / 3);
    let from_before = schedule.before(rank);
    for own in schedule.of_rank(rank) {
        let mut work_ns = own.work_ns;
        for &send in &places.sends {
            flow(&mut add, send, std::mem::take(&mut work_ns));
        }
        for (side, (&receive, from)) in places.receives.iter().zip(from_before).enumerate() {
            flow(&mut add, receive, 0);
            let (send, bytes) = (places.id(places.sends[side]), BYTES << (3 * side));
            let partner = offset(rank, from);
            add(receive, EdgeKind::Message, partner, send, own.waits_ns[side], bytes);
        }
        flow(&mut add, places.reduce, std::mem::take(&mut work_ns));
        if own.last != rank {
            let (partner, from) = (offset(rank, own.last), places.id(places.reduce));
            add(places.reduce, EdgeKind::AllToAll, partner, from, own.waits_ns[2], 0);
        }
    }
    flow(&mut add, places.file, WRITE_NS / 2);
    flow(&mut add, places.finalize, 0);
}

fn facts(places: &Places, schedule: &Schedule, rank: usize) -> RankFacts {
    let work_ns: u64 = schedule.of_rank(rank).map(|own| own.work_ns).sum();
    RankFacts {
        host: format!("node{:04}", rank / RANKS_PER_HOST),
        process_id: u32::try_from(1_000 + rank).unwrap_or(0),
        threads: 1,
        peak_memory_bytes: 1 << 30,
        clock: ClockFacts {
            companions: 3 * schedule.of_rank(rank).count() as u64,
            own_intrusion_ns: 40_000,
            intrusion_ns: 90_000,
            uncertainty_ns: 9_000,
            ideal_ns: schedule.end_ns * 9 / 10,
            unfollowed_ns: 1,
            ..ClockFacts::default()
        },
        processor: ProcessorFacts {
            wall_ns: schedule.end_ns,
            cpu_ns: schedule.end_ns - work_ns / 50,
            threads_ns: schedule.end_ns,
            threads_cpu_ns: schedule.end_ns - work_ns / 50,
            delay_ns: work_ns / 100,
            thread_cpu_max_ns: schedule.end_ns - work_ns / 50,
            threads_at_work: 1,
            processors_allowed: 1,
            ..ProcessorFacts::default()
        },
        causes: Some(Box::new(causes(places, schedule, rank))),
        events: Some(Arc::new(events::of_rank(places, schedule, rank))),
        ..RankFacts::default()
    }
}

/// Returns the computation of the slow rank as the cause of all waiting.
fn causes(places: &Places, schedule: &Schedule, rank: usize) -> RankCauses {
    let Some(&send) = places.sends.first() else { return RankCauses::default() };
    let (send, reduce) = (places.id(send), places.id(places.reduce));
    let (work, call) = (Activity::Gap { from: reduce, to: send }, Activity::Call(reduce));
    let slow = schedule.slow();
    let cause = |activity: Activity| Cause::Activity {
        rank: u32::try_from(slow).unwrap_or(0),
        number: activity.number(),
    };
    let mut sums: BTreeMap<Place, Waited> = BTreeMap::new();
    for own in schedule.of_rank(rank) {
        let waiting = places.receives.iter().copied().chain([places.reduce]);
        for (place, ns) in waiting.zip(own.waits_ns).filter(|(_, ns)| *ns > 0) {
            let sum = sums.entry(place).or_default();
            (sum.ns, sum.count) = (sum.ns + ns, sum.count + 1);
        }
    }
    let cost = |(place, direct)| DelayCost {
        callpath: places.id(place),
        cause: cause(work),
        direct,
        propagated: Waited::default(),
    };
    let part = |(activity, ns)| PathPart { cause: cause(activity), ns };
    let facts =
        CauseFacts { ended_ns: schedule.end_ns - u64::from(rank != slow), ..CauseFacts::default() };
    let work_ns = schedule.of_rank(slow).map(|own| own.work_ns).sum::<u64>();
    RankCauses {
        costs: sums.into_iter().map(cost).collect(),
        path: [(work, work_ns), (call, schedule.end_ns - work_ns)].map(part).to_vec(),
        activities: BTreeMap::from([work, call].map(|one| (one.number(), one))).into(),
        facts,
    }
}
