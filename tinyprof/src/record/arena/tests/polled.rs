//! Polled visits: interleaved, on several threads, abandoned, and with a panic inside.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;

use super::super::super::clock::set_manual;
use super::*;

fn arena() -> &'static Arena {
    Box::leak(Box::new(Arena::new(Clock::Manual).unwrap()))
}

/// Polls once, from `begin` to `end`, and runs `inside` in the poll.
fn poll(arena: &Arena, visit: &mut InFlight, (begin, end): (u64, u64), inside: impl FnOnce()) {
    set_manual(begin);
    arena.poll_in(visit, || {
        inside();
        set_manual(end);
    });
}

/// Returns the record of the callpath of these sites.
fn reading(arena: &Arena, path: &[&'static Site]) -> Reading {
    let mut id = CallpathId::root(path[0].id());
    path[1..].iter().for_each(|site| id = id.child(site.id()));
    readings(arena).into_iter().find(|reading| reading.id == id).expect("the callpath has a record")
}

/// Returns (execution, visits, sum) for each part of the record, in order of execution.
fn sums(arena: &Arena, path: &[&'static Site]) -> Vec<(u32, u64, u64)> {
    let mut pieces: Vec<_> =
        reading(arena, path).executions.iter().map(|e| (e.execution, e.visits, e.sum)).collect();
    pieces.sort_unstable();
    pieces
}

fn is_at_rest(arena: &Arena) -> bool {
    arena.place().is_none()
        && arena.visits_lost.load(Relaxed) == 0
        && arena.visits_unbalanced.load(Relaxed) == 0
        && readings(arena).iter().all(|reading| reading.open.is_none())
}

#[test]
fn futures_of_one_site_in_flight_at_once_have_a_visit_each_of_the_sum_of_their_polls() {
    let arena = arena();
    set_manual(1);
    let root = open(arena, &A);
    let mut first = arena.begin_polled(&B).unwrap();
    let mut second = arena.begin_polled(&B).unwrap();
    poll(arena, &mut first, (10, 13), || ());
    poll(arena, &mut second, (13, 20), || ());
    poll(arena, &mut first, (20, 21), || ());
    arena.end_polled(&first);
    arena.end_polled(&second);
    close(arena, root);
    let [execution] = reading(arena, &[&A, &B]).executions[..] else { panic!("one execution") };
    assert_eq!((execution.visits, execution.sum, execution.min, execution.max), (2, 11, 4, 7));
    assert_eq!(execution.squares, 16 + 49);
    let series = reading(arena, &[&A, &B]).series;
    assert_eq!(
        series.iter().map(|visit| (visit.execution, visit.sum)).collect::<Vec<_>>(),
        [(0, 4), (0, 7)]
    );
    assert!(is_at_rest(arena));
}

#[test]
fn regions_inside_stand_under_the_future_on_every_thread() {
    let (here, there) = (arena(), arena());
    set_manual(1);
    // Ensures that the execution is not 0.
    close(here, open(here, &A));
    let root = open(here, &A);
    let mut visit = here.begin_polled(&B).unwrap();
    close(here, root);
    for arena in [here, there, here, there] {
        let other = open(arena, &D);
        poll(arena, &mut visit, (100, 110), || {
            set_manual(102);
            let inside = open(arena, &C);
            set_manual(105);
            close(arena, inside);
        });
        assert_eq!(arena.place().map(|place| place.execution), Some(arena.execution()));
        close(arena, other);
    }
    there.end_polled(&visit);
    assert_eq!(sums(here, &[&A, &B, &C]), [(1, 2, 6)]);
    assert_eq!(sums(there, &[&A, &B, &C]), [(1, 2, 6)]);
    assert_eq!((sums(here, &[&A, &B]), sums(there, &[&A, &B])), (vec![], vec![(1, 1, 40)]));
    assert_eq!((sums(here, &[&D]).len(), sums(there, &[&D]).len()), (2, 2), "roots of their own");
    assert!(is_at_rest(here) && is_at_rest(there));
    let counters =
        |arena: &Arena| (arena.polled_begun.load(Relaxed), arena.polled_ended.load(Relaxed));
    assert_eq!((counters(here), counters(there)), ((1, 0), (0, 1)));
}

#[test]
fn a_root_is_an_execution_of_its_own_from_its_first_poll_on() {
    let (here, there) = (arena(), arena());
    let mut visits: Vec<_> = (0..3).map(|_| here.begin_polled(&A).unwrap()).collect();
    for round in [[2, 0, 1], [0, 2, 1]] {
        for number in round {
            for arena in [here, there] {
                poll(arena, &mut visits[number], (10, 11 + number as u64), || {
                    close(arena, open(arena, &C));
                });
            }
        }
    }
    for number in [1, 2, 0] {
        there.end_polled(&visits[number]);
    }
    assert_eq!(sums(there, &[&A]), [(0, 1, 4), (1, 1, 8), (2, 1, 12)]);
    let visits_of_c = |arena| {
        let mut visits = [0; 3];
        sums(arena, &[&A, &C])
            .iter()
            .for_each(|&(execution, n, _)| visits[execution as usize] += n);
        visits
    };
    assert_eq!((visits_of_c(here), visits_of_c(there)), ([2; 3], [2; 3]));
    assert_eq!(here.begin_polled(&A).unwrap().place.execution, 3);
    assert_eq!(there.begin_polled(&A).unwrap().place.execution, 3);
}

#[test]
fn a_panic_ends_the_poll_and_the_thread_is_where_it_was() {
    let arena = arena();
    set_manual(1);
    let root = open(arena, &A);
    let mut visit = arena.begin_polled(&B).unwrap();
    let before = arena.place();
    set_manual(10);
    let poll = || {
        arena.poll_in(&mut visit, || {
            open(arena, &C);
            set_manual(17);
            panic!("in the poll");
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(poll)).is_err());
    assert_eq!(arena.place(), before);
    arena.end_polled(&visit);
    assert_eq!(sums(arena, &[&A, &B]), [(0, 1, 7)]);
    assert_eq!(arena.visits_unbalanced.load(Relaxed), 1, "the guard that was forgotten");
    close(arena, root);
}

#[test]
fn a_future_that_awaits_itself_counts_and_its_time_is_in_the_outer_visit() {
    let arena = arena();
    let mut outer = arena.begin_polled(&A).unwrap();
    poll(arena, &mut outer, (10, 15), || assert!(arena.begin_polled(&A).is_none()));
    arena.end_polled(&outer);
    assert_eq!(sums(arena, &[&A]), [(0, 2, 5)]);
    assert_eq!((arena.polled_begun.load(Relaxed), arena.polled_ended.load(Relaxed)), (1, 1));
}

#[test]
fn totals_stay_exact_when_executions_come_in_no_order_and_are_folded() {
    const TASKS: usize = 10_000;
    let arena = arena();
    let mut visits: Vec<_> = (0..TASKS).map(|_| arena.begin_polled(&A).unwrap()).collect();
    for round in 0..3 {
        for i in 0..TASKS {
            // The stride has no divisor in common with the number of tasks.
            let task = if round == 1 { TASKS - 1 - i } else { i * 7_919 % TASKS };
            poll(arena, &mut visits[task], (10, 12), || close(arena, open(arena, &C)));
        }
    }
    visits.iter().for_each(|visit| arena.end_polled(visit));
    for (path, count, sum) in [(&[&A][..], TASKS, 6 * TASKS), (&[&A, &C][..], 3 * TASKS, 0)] {
        let reading = reading(arena, path);
        assert_eq!(super::visits(&reading), count as u64);
        assert_eq!(reading.executions.iter().map(|e| e.sum).sum::<u64>(), sum as u64);
        let end = reading.executions.iter().map(|e| e.execution + e.executions).max();
        assert_eq!(end, Some(u32::try_from(TASKS).unwrap()));
    }
    assert!(is_at_rest(arena));
}

#[test]
fn a_visit_whose_record_has_gone_is_counted_as_lost_and_nothing_is_entered_under_it() {
    let arena = arena();
    let mut visit = arena.begin_polled(&A).unwrap();
    visit.site ^= 1;
    poll(arena, &mut visit, (10, 12), || assert!(arena.place().is_none()));
    arena.end_polled(&visit);
    assert_eq!(arena.visits_lost.load(Relaxed), 1);
    assert_eq!(sums(arena, &[&A]), []);
}
