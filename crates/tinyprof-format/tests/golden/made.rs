//! The contents of the frozen profiles, also in python/tests/recipe.py.

use std::collections::BTreeMap;
use std::sync::Arc;

use tinyprof_format::model::{
    Activities, Activity, CallpathId, CallpathValues, Cause, CauseFacts, ClockFacts, DelayCost,
    Edge, EdgeKey, EdgeKind, EventCell, EventClass, EventMap, EventPolicy, ExecutionSummary,
    FormatVersion, Losses, MessageEnd, MessageEvent, MessageKey, MessageKind, MetricBucket,
    MetricSummary, MetricValues, Mode, PathPart, RankCauses, RankCommand, RankCommands, RankEvents,
    RankFacts, Region, RegionKind, SeriesBucket, SiteId, ThreadEvents, Traffic, VisitEvent, Waited,
};

fn region(site: u64, name: &str, kind: RegionKind, mode: Mode) -> Region {
    Region {
        site: SiteId::from_bits(site),
        name: name.into(),
        module: "golden".into(),
        file: "src/golden.rs".into(),
        line: 7,
        column: 5,
        kind,
        mode,
        rank_local: name == "io",
        constants: if name == "io" { [("tag".into(), "IO".into())].into() } else { [].into() },
    }
}

/// Returns a rank with every shape of values: executions of one visit, a series in whole
/// microseconds and one in nanoseconds, a folded series, sums that are estimates, metrics, and a
/// callpath that only one rank visited. Since version 1.0 also a callpath whose sums are shorter
/// when stored as exclusive times, and since 1.1 messages. With `has_edges` also edges and clocks,
/// which profiles of level `messages` have; with `has_causes` these and causes of waiting.
fn rank(rank: u32, version: FormatVersion, (has_edges, has_causes): (bool, bool)) -> EventMap {
    let main = CallpathId::root(SiteId::from_bits(1));
    let child = |site| main.child(SiteId::from_bits(site));
    let once = |ns: u64| CallpathValues {
        executions: vec![
            ExecutionSummary::of_one_visit(0, ns + u64::from(rank)),
            ExecutionSummary::of_one_visit(1, ns / 2),
        ],
        ..CallpathValues::default()
    };
    let mut records = vec![
        (main, None, region(1, "main", RegionKind::Function, Mode::Total), once(90_000_000)),
        (
            child(2),
            Some(main),
            region(2, "steps", RegionKind::Loop, Mode::Each),
            series(rank, 1_000),
        ),
        (child(3), Some(main), region(3, "halo", RegionKind::Loop, Mode::Each), series(rank, 1)),
        (child(4), Some(main), region(4, "folded", RegionKind::Loop, Mode::Each), folded(rank)),
    ];
    if rank == 1 {
        records.push((
            child(5),
            Some(main),
            region(5, "io", RegionKind::Scope, Mode::Total),
            sampled(),
        ));
    }
    if version.major > 0 {
        let outer = CallpathId::root(SiteId::from_bits(6));
        let inner = outer.child(SiteId::from_bits(7));
        let times = |own: u64| {
            let visits = (0..8_u32).map(|execution| {
                let called = 7_000_000 + u64::from((execution * 37 + rank * 11) % 97) * 104_729;
                ExecutionSummary::of_one_visit(execution, called + own)
            });
            CallpathValues { executions: visits.collect(), ..CallpathValues::default() }
        };
        let total = |site, name| region(site, name, RegionKind::Function, Mode::Total);
        records.push((outer, None, total(6, "outer"), times(500)));
        records.push((inner, Some(outer), total(7, "inner"), times(0)));
    }
    if version >= (FormatVersion { major: 1, minor: 1 }) {
        let halo = records.iter_mut().find(|(id, ..)| *id == child(3));
        halo.expect("it was added above").3.messages = messages(rank);
        let values = CallpathValues { messages: messages(7), ..CallpathValues::default() };
        let open = region(8, "open", RegionKind::Function, Mode::Total);
        records.push((child(8), Some(main), open, values));
    }
    if has_edges {
        for (id, _, _, values) in &mut records {
            values.edges = edges(*id, rank);
        }
    }
    // The facts that the stored profile has; there are more by now.
    let has_fact = |fact| has_edges && fact < 10;
    let clock = |fact| if has_fact(fact) { u64::from(rank) + fact as u64 } else { 0 };
    let facts = RankFacts {
        host: format!("node{}", rank / 2),
        process_id: 100 + rank,
        threads: 1,
        peak_memory_bytes: 1 << 20,
        losses: Losses {
            visits_open: rank.into(),
            visits_not_timed: 8,
            edges_without_partner: if has_edges { 3 } else { 0 },
            ..Losses::default()
        },
        clock: ClockFacts::from_numbers(std::array::from_fn(clock)),
        causes: (has_causes && rank != 1).then(|| Box::new(causes(rank, main, child(3)))),
        ..RankFacts::default()
    };
    EventMap::from_records(records, facts)
}

/// Returns causes of every kind. All ranks describe the same activities.
fn causes(rank: u32, main: CallpathId, halo: CallpathId) -> RankCauses {
    let (number, of_main) = (1_u64 << 39, 77);
    let activities: Activities = [
        (5, Activity::Gap { from: EdgeKey::UNKNOWN, to: halo }),
        (of_main, Activity::Exclusive(main)),
        (78, Activity::Call(halo)),
        (number, Activity::Gap { from: halo, to: main }),
    ]
    .into();
    let of = |rank, number| Cause::Activity { rank, number };
    let found = [of(2, number), of(2, of_main), of(1, 6), of(0, 0), Cause::Unexplained];
    let costs = found.into_iter().zip(1..).map(|(cause, at)| DelayCost {
        callpath: halo,
        cause,
        direct: Waited { ns: 1_000 * at + u64::from(rank), count: at },
        propagated: Waited { ns: 700 * (at % 2), count: at % 2 },
    });
    let path = [of(2, number), of(rank, 78), Cause::Other];
    RankCauses {
        activities: activities.into(),
        costs: costs.collect(),
        path: path
            .into_iter()
            .zip([500, 60, 1])
            .map(|(cause, ns)| PathPart { cause, ns })
            .collect(),
        facts: CauseFacts::from_numbers(std::array::from_fn(|fact| {
            if fact == 0 { 561 } else { fact as u64 * u64::from(rank) }
        })),
    }
}

/// Returns two executions of 20 visits each, in multiples of `unit_ns`.
fn series(rank: u32, unit_ns: u64) -> CallpathValues {
    let mut values = CallpathValues::default();
    for execution in 0..2 {
        let mut sum: Option<ExecutionSummary> = None;
        for visit in 0..20_u64 {
            let ns = (30 + (visit * 7 + u64::from(rank + execution)) % 11) * unit_ns;
            let one = ExecutionSummary::of_one_visit(execution, ns);
            values.series.push(SeriesBucket::of_one_visit(execution, ns));
            match &mut sum {
                Some(sum) => sum.absorb(&one),
                None => sum = Some(one),
            }
        }
        values.executions.extend(sum);
    }
    values
}

/// Returns messages of every kind: to neighbours, to ranks outside of the world, and of sizes that
/// differ between ranks.
fn messages(rank: u32) -> BTreeMap<MessageKey, Traffic> {
    let mut messages = BTreeMap::new();
    for (kind, bytes) in MessageKind::ALL.into_iter().zip((0..8).map(|power| 10_u64.pow(power))) {
        let partners = if kind.is_out() { [1, -1] } else { [MessageKey::ANY_PARTNER, 0] };
        for partner in partners {
            let traffic = Traffic { count: 20, bytes: 20 * bytes + u64::from(rank) };
            messages.insert(MessageKey::new(kind, partner, bytes), traffic);
        }
    }
    messages.insert(MessageKey::new(MessageKind::MessageOut, 2, 0), Traffic { count: 9, bytes: 0 });
    messages
}

/// Returns edges of every kind that the stored profile has, from a callpath that there is, one that
/// there is not, and unknown ones.
fn edges(to: CallpathId, rank: u32) -> BTreeMap<EdgeKey, Edge> {
    let origins = [to, CallpathId::from_bits(77), EdgeKey::UNKNOWN];
    // There are more by now.
    let kinds = EdgeKind::ALL.into_iter().take(9);
    let keys = kinds.zip(origins.into_iter().cycle()).map(|(kind, from)| {
        let partner = if from == EdgeKey::UNKNOWN { MessageKey::ANY_PARTNER } else { -1 };
        EdgeKey { kind, partner: if kind.waits() { partner } else { 0 }, from }
    });
    let edges = keys.zip(0..).map(|(key, order)| {
        let ns = 1_000 + u64::from(order * 37 + rank);
        let mut edge = Edge { bytes: 80, order, ..Edge::of_one_instance(ns) };
        // The squares of these two are stored exactly.
        edge.absorb(&Edge { bytes: 88, order, ..Edge::of_one_instance(ns + 1_024) });
        let waits = if key.kind.waits() { u64::from(rank) } else { 0 };
        let edge = Edge {
            compensated_ns: if waits > 0 { edge.sum_ns + 5 - 3 * waits } else { 0 },
            transfer_ns: 300 * waits,
            wrong_order_ns: 20 * waits,
            late_receiver_ns: waits,
            ..edge
        };
        (key, edge)
    });
    edges.collect()
}

fn folded(rank: u32) -> CallpathValues {
    let mut values = series(rank, 3);
    values.series = values
        .series
        .chunks(2)
        .map(|pair| SeriesBucket {
            visits: 2,
            sum_ns: pair[0].sum_ns + pair[1].sum_ns,
            min_ns: pair[0].sum_ns.min(pair[1].sum_ns),
            max_ns: pair[0].sum_ns.max(pair[1].sum_ns),
            ..pair[0]
        })
        .collect();
    values
}

fn sampled() -> CallpathValues {
    let sampled = ExecutionSummary {
        visits: 9,
        sum_ns: 9_000,
        sum_variance_ns2: 12.5,
        ..ExecutionSummary::of_one_visit(1, 1_100)
    };
    let bytes = MetricValues {
        executions: vec![MetricSummary::of_one_value(1, 1.5)],
        series: vec![MetricBucket::of_one_value(1, 1.5)],
    };
    CallpathValues {
        executions: vec![sampled],
        metrics: [("bytes".to_owned(), bytes)].into(),
        ..CallpathValues::default()
    }
}

pub(super) fn ranks(version: FormatVersion, ending: &str) -> Vec<EventMap> {
    let has_causes = ending == "-causes";
    let has = (has_causes || ending == "-edges", has_causes);
    let mut ranks: Vec<EventMap> = (0..3).map(|number| rank(number, version, has)).collect();
    if matches!(ending, "-events" | "-messages") {
        let kept = |rank| {
            let mut events = events(rank);
            if ending == "-messages" {
                add_messages(&mut events, rank);
            }
            Some(Arc::new(events))
        };
        ranks[0].facts.events = kept(0);
        ranks[2].facts.events = kept(2);
    }
    if ending == "-commands" {
        ranks[0].facts.commands = commands(0);
        ranks[2].facts.commands = commands(2);
    }
    ranks
}

/// Returns the events of two threads: a root region around 40 visits of a loop, and a lost one.
fn events(rank: u32) -> RankEvents {
    let main = CallpathId::root(SiteId::from_bits(1));
    let visit = |callpath, depth, begin_ns, duration_ns| VisitEvent {
        callpath,
        depth,
        begin_ns,
        duration_ns,
    };
    let steps = main.child(SiteId::from_bits(2));
    let step = |step: u64| visit(steps, 2, 100 + step * 1_000, 900 - step % 7);
    let visits = std::iter::once(visit(main, 1, 50, 80_000)).chain((0..40).map(step));
    let cell = |class, depth, kept, lost: u64| EventCell {
        class,
        depth,
        kept,
        lost,
        lost_first_ns: 60 * lost,
        lost_last_ns: 90 * lost,
    };
    let thread = ThreadEvents {
        thread: 0,
        policy: EventPolicy::Ring,
        memory_bytes: 4 << 20,
        stopped_ns: None,
        cut: 1,
        cells: vec![cell(EventClass::Root, 1, 1, 0), cell(EventClass::Computation, 2, 40, 1)],
        visits: visits.collect(),
        messages: Vec::new(),
    };
    let full = ThreadEvents {
        thread: 1,
        policy: EventPolicy::Window,
        stopped_ns: Some(70),
        cut: 0,
        visits: Vec::new(),
        cells: vec![cell(EventClass::Call, 16, 0, 2)],
        ..thread.clone()
    };
    let origin_ns = 5_000_000 + u64::from(rank);
    RankEvents { origin_ns, threads_without_memory: rank.into(), threads: vec![thread, full] }
}

/// Returns a hold that was over, a recording that was not, and a command that nobody knows yet.
fn commands(rank: u64) -> RankCommands {
    let of = |verb, answer, late_ns, lasted_ns| RankCommand {
        verb,
        answer,
        by: "ada@login (process 7)".into(),
        date_ns: 1_795_270_350_000_000_000 + u64::from(verb),
        at_ns: 5_000 * u64::from(verb) + rank,
        late_ns,
        lasted_ns,
        threads: u64::from(late_ns.is_some()),
        argument: String::new(),
    };
    let hold = of(2, 1, Some(700 + rank), Some(2_100_000_000));
    let commands = vec![of(1, 1, Some(0), None), hold, of(77, 0, None, None)];
    RankCommands { commands, without_room: rank, off_ns: 90 * rank }
}

/// Adds six ends of messages between ranks 0 and 2 to those of the first thread.
fn add_messages(events: &mut RankEvents, rank: u32) {
    let steps = CallpathId::root(SiteId::from_bits(1)).child(SiteId::from_bits(2));
    let message = |number: u64| MessageEvent {
        callpath: steps,
        at_ns: 120 + number / 2 * 1_000,
        end: MessageEnd {
            is_receive: number % 2 == 1,
            partner: if rank == 0 { 2 } else { -2 },
            communicator: 1,
            tag: 5 - i32::try_from(number).expect("it is small"),
            number: number / 2,
            bytes: 8 << number,
        },
    };
    let thread = &mut events.threads[0];
    thread.messages.extend((0..6).map(message));
    let (class, depth, kept, lost) = (EventClass::Message, 1, 6, 0);
    let cell = EventCell { class, depth, kept, lost, lost_first_ns: 0, lost_last_ns: 0 };
    thread.cells.push(cell);
}

/// Returns 48 ranks with two edges, of which most ranks have the same numbers.
pub(super) fn wide() -> Vec<EventMap> {
    let main = CallpathId::root(SiteId::from_bits(1));
    let rank = |number: u32| {
        let others = u64::from(number % 16 == 3);
        let edge = |ns: u64| {
            let mut edge = Edge::of_one_instance(ns + 20_000 * others);
            (0..1 + others).for_each(|_| edge.absorb(&Edge::of_one_instance(ns)));
            // That of two equal times and another one is not stored exactly.
            Edge { transfer_ns: 70 * u64::from(number == 40), sum_squares_ns2: 0.0, ..edge }
        };
        let key = |kind, partner| EdgeKey { kind, partner, from: main };
        let edges = [
            (key(EdgeKind::Flow, 0), edge(50_000)),
            (key(EdgeKind::Message, -1), Edge { order: 1, ..edge(7_000) }),
        ];
        let values = CallpathValues {
            executions: vec![ExecutionSummary::of_one_visit(0, 1_000_000)],
            edges: edges.into(),
            ..CallpathValues::default()
        };
        let region = region(1, "main", RegionKind::Function, Mode::Total);
        EventMap::from_records([(main, None, region, values)], RankFacts::default())
    };
    (0..48).map(rank).collect()
}
