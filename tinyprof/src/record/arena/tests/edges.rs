//! Edges of callpaths: their sums, their limit, a reader that watches, ids, clocks, and a child of
//! the process.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use tinyprof_format::model::{ClockFacts, Edge, EdgeKey, EdgeKind, MessageKey};
use tinyprof_segment::layout::header;

use super::super::edges::{EdgeInstance, RECORDS_MAX};
use super::*;

type Edges = BTreeMap<(CallpathId, EdgeKey), Edge>;

/// Returns the edges of an arena that no thread is writing.
fn edges(arena: &Arena) -> Edges {
    let read = arena.edge_readings().map(|reading| reading.expect("nobody writes"));
    let mut all = Edges::new();
    for (callpath, key, edge) in read {
        assert!(all.insert((callpath, key), edge).is_none(), "one record each: {key:?}");
    }
    all
}

const fn from(id: u64) -> CallpathId {
    CallpathId::from_bits(id)
}

const fn message(partner: i32) -> EdgeKey {
    EdgeKey { kind: EdgeKind::Message, partner, from: from(7) }
}

/// Returns the edge of one instance.
fn one(instance: &EdgeInstance, order: u32) -> Edge {
    let &EdgeInstance { bytes, ns, compensated_ns, transfer_ns, late_receiver_ns } = instance;
    let edge = Edge::of_one_instance(ns);
    Edge { bytes, compensated_ns, transfer_ns, late_receiver_ns, order, ..edge }
}

#[test]
fn edges_of_a_callpath_add_up_by_kind_partner_and_origin() {
    let arena = Arena::new(Clock::Manual).unwrap();
    let (mut expected, mut orders) = (Edges::new(), 0);
    for site in [&A, &B] {
        let visit = open(&arena, site);
        let callpath = CallpathId::root(site.id());
        for number in 0..300_u64 {
            let kind = EdgeKind::from_number(u8::try_from(number % 2).unwrap()).unwrap();
            let partner = [-1, 1][usize::try_from(number % 4 / 2).unwrap()];
            let key = EdgeKey { kind, partner, from: from(number % 3) };
            let instance = EdgeInstance {
                bytes: number,
                ns: 1_000 - number,
                compensated_ns: 2 * number,
                transfer_ns: 3 * number,
                late_receiver_ns: 5 * number,
            };
            arena.add_edge(line_of(&visit), &key, &instance);
            let edge = expected.entry((callpath, key)).or_default();
            let order = if edge.count == 0 { orders } else { edge.order };
            orders += u32::from(edge.count == 0);
            edge.absorb(&one(&instance, order));
        }
        close(&arena, visit);
    }
    assert_eq!(edges(&arena), expected);
    assert_eq!((orders, arena.edges_lost.load(Relaxed)), (24, 0));
}

#[test]
fn waiting_due_to_order_counts_no_instance() {
    let arena = Arena::new(Clock::Manual).unwrap();
    let visit = open(&arena, &A);
    let line = line_of(&visit);
    arena.add_wrong_order(line, &message(1), 30);
    let instance = EdgeInstance { ns: 50, ..EdgeInstance::default() };
    arena.add_edge(line, &message(2), &instance);
    arena.add_wrong_order(line, &message(2), 20);
    arena.add_wrong_order(line, &message(2), 5);
    let callpath = CallpathId::root(A.id());
    let alone = Edge { wrong_order_ns: 30, ..Edge::default() };
    let after = Edge { wrong_order_ns: 25, ..one(&instance, 1) };
    let all = [((callpath, message(1)), alone), ((callpath, message(2)), after)];
    assert_eq!(edges(&arena), all.into());
    close(&arena, visit);
}

#[test]
fn edges_beyond_the_limit_share_a_record_and_are_counted() {
    const BEYOND: u32 = 50;
    let arena = Arena::new(Clock::Manual).unwrap();
    let visit = open(&arena, &A);
    let line = line_of(&visit);
    let partners = i32::try_from(RECORDS_MAX + BEYOND).unwrap();
    for _ in 0..3 {
        for partner in 0..partners {
            let instance = EdgeInstance { bytes: 8, ns: 10, ..EdgeInstance::default() };
            arena.add_edge(line, &message(partner), &instance);
        }
    }
    arena.add_wrong_order(line, &message(partners), 7);
    close(&arena, visit);
    let all = edges(&arena);
    let callpath = CallpathId::root(A.id());
    assert_eq!(all.len(), RECORDS_MAX as usize + 1);
    let anyone = EdgeKey {
        kind: EdgeKind::Message,
        partner: MessageKey::ANY_PARTNER,
        from: EdgeKey::UNKNOWN,
    };
    let beyond = u64::from(3 * BEYOND);
    let (of_anyone, of_first) = (all[&(callpath, anyone)], all[&(callpath, message(0))]);
    assert_eq!(
        (of_anyone.count, of_anyone.bytes, of_anyone.sum_ns),
        (beyond, 8 * beyond, 10 * beyond)
    );
    assert_eq!((of_anyone.wrong_order_ns, of_anyone.order), (7, RECORDS_MAX));
    assert_eq!((of_first.count, of_first.bytes), (3, 24));
    assert_eq!(arena.edges_lost.load(Relaxed), beyond, "an order is no instance");
    assert_eq!(arena.header(header::EDGES_LOST).load(Relaxed), beyond);
}

#[test]
fn every_reading_of_edges_is_of_one_moment() {
    const EDGES: u64 = if cfg!(miri) { 100 } else { 200_000 };
    let arena = Arena::new(Clock::Manual).unwrap();
    let (started, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut seen: BTreeMap<EdgeKey, u64> = BTreeMap::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let visit = open(&arena, &A);
            let line = line_of(&visit);
            while !started.load(Acquire) {
                std::hint::spin_loop();
            }
            for number in 0..EDGES {
                // Records are added while the reader walks them.
                let partner = i32::try_from(number * 16 / EDGES).unwrap();
                let instance =
                    EdgeInstance { bytes: 100, late_receiver_ns: 3, ..Default::default() };
                arena.add_edge(line, &message(partner), &instance);
            }
            close(&arena, visit);
            done.store(true, Release);
        });
        while !done.load(Acquire) {
            for (_, key, edge) in arena.edge_readings().flatten() {
                let of_count = (100 * edge.count, 3 * edge.count);
                assert_eq!((edge.bytes, edge.late_receiver_ns), of_count, "{key:?}");
                let before = seen.insert(key, edge.count).unwrap_or_default();
                assert!(edge.count >= before, "edges are never taken back");
            }
            started.store(true, Release);
        }
    });
    let all = edges(&arena);
    assert_eq!((all.len(), all.values().map(|edge| edge.count).sum()), (16, EDGES));
}

#[test]
fn ids_are_those_of_the_readings() {
    let arena = Arena::new(Clock::Manual).unwrap();
    let mut visits = Vec::new();
    // More callpaths than the cache has entries, each asked for twice.
    for number in 0..300 {
        let visit = open(&arena, leaked_site(number, Mode::Total));
        visits.push(line_of(&visit));
    }
    let ids: Vec<_> = visits.iter().map(|&line| arena.id_of(line)).collect();
    assert_eq!(ids, visits.iter().map(|&line| arena.id_of(line)).collect::<Vec<_>>());
    // Newest first, as in the chain of callpaths.
    let expected: Vec<_> = arena.readings().map(|reading| reading.unwrap().id).collect();
    assert_eq!(ids.into_iter().rev().collect::<Vec<_>>(), expected);
    visits.into_iter().rev().for_each(|line| arena.exit(line));
}

#[test]
fn the_facts_of_a_clock_are_those_stored_last() {
    let arena = Arena::new(Clock::Manual).unwrap();
    assert_eq!(arena.clock_facts(), ClockFacts::default());
    let facts = |first: u64| ClockFacts::from_numbers(std::array::from_fn(|at| first + at as u64));
    arena.store_clock(&facts(90));
    arena.store_clock(&facts(1));
    assert_eq!(arena.clock_facts(), facts(1));
    let words = (header::CLOCK..).take(ClockFacts::COUNT);
    let words = words.map(|word| arena.header(word).load(Relaxed));
    assert!(words.eq(1..=13), "the reader of a killed thread's segment looks here");
}

#[test]
fn a_child_starts_without_the_edges_of_its_parent() {
    let arena = Arena::new(Clock::Manual).unwrap();
    let instance = EdgeInstance { ns: 8, ..EdgeInstance::default() };
    let visit = open(&arena, &A);
    arena.add_edge(line_of(&visit), &message(1), &instance);
    assert_eq!(arena.id_of(line_of(&visit)), CallpathId::root(A.id()));
    close(&arena, visit);
    assert_eq!(edges(&arena).len(), 1);
    arena.clear_edges();
    arena.hot.clear();
    assert_eq!(edges(&arena), Edges::new());
    arena.hot.begin();
    let visit = open(&arena, &A);
    arena.add_edge(line_of(&visit), &message(1), &instance);
    close(&arena, visit);
    let callpath = CallpathId::root(A.id());
    assert_eq!(edges(&arena), [((callpath, message(1)), one(&instance, 0))].into());
}
