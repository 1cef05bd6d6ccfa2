//! Behaviour at the limits: a full table, a deep tree, a long list, a wrong clock.

use super::super::super::clock::set_manual;
use super::*;

#[test]
fn callpaths_beyond_the_limit_go_to_other_and_none_is_lost() {
    const SITES: u32 = NODES_MAX + 100;
    let arena = Arena::new(Clock::Manual).unwrap();
    let sites: Vec<_> = (0..SITES).map(|number| leaked_site(number, Mode::Total)).collect();
    for _ in 0..3 {
        let root = open(&arena, &A);
        for site in &sites {
            let visit = open(&arena, site);
            // Inside of `[other]` every region is `[other]`, and needs no record.
            if site.id() == sites[sites.len() - 1].id() {
                let inner = open(&arena, &B);
                close(&arena, inner);
            }
            close(&arena, visit);
        }
        close(&arena, root);
    }
    let readings = readings(&arena);
    assert_eq!(readings.len(), NODES_MAX as usize + 1);
    let (other, others): (Vec<_>, Vec<_>) =
        readings.iter().partition(|r| std::ptr::eq(r.site, &raw const OTHER));
    assert!(others.iter().all(|reading| visits(reading) == 3));
    assert_eq!(other.len(), 1);
    // The root takes one record of the limit, and visits inside of the last site count in addition.
    let in_other = 3 * (u64::from(SITES - (NODES_MAX - 1)) + 1);
    assert_eq!(visits(other[0]), in_other);
    assert_eq!(arena.visits_in_other.load(Relaxed), in_other);
    assert_eq!(arena.visits_lost.load(Relaxed), 0);
}

#[test]
fn roots_beyond_the_limit_share_one_other() {
    let arena = Arena::new(Clock::Manual).unwrap();
    for number in 0..NODES_MAX + 10 {
        close(&arena, open(&arena, leaked_site(number, Mode::Each)));
    }
    let readings = readings(&arena);
    let other = readings.iter().find(|r| std::ptr::eq(r.site, &raw const OTHER)).unwrap();
    assert_eq!((visits(other), other.parent), (10, None));
    assert_eq!(readings.iter().map(visits).sum::<u64>(), u64::from(NODES_MAX) + 10);
}

#[test]
fn regions_deeper_than_the_limit_go_to_other() {
    const DEPTH: u32 = DEPTH_MAX + 100;
    let arena = Arena::new(Clock::Manual).unwrap();
    let sites: Vec<_> = (0..DEPTH).map(|number| leaked_site(number, Mode::Total)).collect();
    for execution in 0..2 {
        let visits: Vec<_> = sites.iter().map(|site| open(&arena, site)).collect();
        let open: Vec<_> = readings(&arena).into_iter().filter(|r| r.open.is_some()).collect();
        assert_eq!(open.len(), DEPTH_MAX as usize + 1);
        assert!(open.iter().all(|reading| reading.open.unwrap().execution == execution));
        visits.into_iter().rev().for_each(|visit| close(&arena, visit));
    }
    let readings = readings(&arena);
    assert_eq!(readings.len(), DEPTH_MAX as usize + 1);
    assert_eq!(readings.iter().map(visits).sum::<u64>(), 2 * u64::from(DEPTH));
    assert_eq!(arena.visits_too_deep.load(Relaxed), 2 * u64::from(DEPTH - DEPTH_MAX));
    assert_eq!(readings.iter().filter(|r| std::ptr::eq(r.site, &raw const OTHER)).count(), 1);
}

#[test]
fn regions_that_call_each_other_are_a_few_callpaths_however_deep() {
    const DEPTH: u64 = 10_000;
    let arena = Arena::new(Clock::Manual).unwrap();
    let mut now = 1;
    for _ in 0..2 {
        let visits: Vec<_> = (0..DEPTH)
            .map(|level| {
                now += 1;
                set_manual(now);
                open(&arena, if level.is_multiple_of(2) { &A } else { &B })
            })
            .collect();
        let records = 2 * TIMES_ON_PATH_MAX;
        assert_eq!(
            visits.iter().filter(|visit| matches!(visit, Entered::Node(_))).count(),
            records
        );
        now += 1_000;
        set_manual(now);
        visits.into_iter().rev().for_each(|visit| close(&arena, visit));
    }
    let readings = readings(&arena);
    assert_eq!(
        readings.len(),
        2 * TIMES_ON_PATH_MAX,
        "what only says what is folded is no callpath"
    );
    assert_eq!(readings.iter().map(visits).sum::<u64>(), 2 * DEPTH);
    assert_eq!(
        arena.nodes.load(Relaxed) as usize,
        2 * TIMES_ON_PATH_MAX + 1,
        "one entry for what is folded"
    );
    // The outermost region has all of the time, and each inner one a tick less than the one around
    // it: nothing is counted twice.
    let sum = |reading: &Reading| reading.executions.iter().map(|e| e.sum).sum::<u64>();
    let mut sums: Vec<_> = readings.iter().map(sum).collect();
    sums.sort_unstable_by(|a, b| b.cmp(a));
    let whole = 2 * (DEPTH - 1 + 1_000);
    assert_eq!(sums, (0..sums.len() as u64).map(|depth| whole - 2 * depth).collect::<Vec<_>>());
}

#[test]
fn long_series_and_many_executions_stay_exact_in_sum() {
    const EXECUTIONS: u64 = 10_000;
    const ITERATIONS: u64 = 7;
    let arena = Arena::new(Clock::Manual).unwrap();
    let mut now = 1;
    for _ in 0..EXECUTIONS {
        let root = open(&arena, &A);
        let Entered::Node(line) = open(&arena, &B) else { panic!("there is room") };
        for iteration in 1..=ITERATIONS {
            now += iteration;
            set_manual(now);
            if iteration < ITERATIONS { arena.next_iteration(line) } else { arena.exit(line) }
        }
        close(&arena, root);
    }
    let sum: u64 = EXECUTIONS * (1..=ITERATIONS).sum::<u64>();
    for reading in readings(&arena) {
        let each = std::ptr::eq(reading.site, &raw const B);
        let executions = &reading.executions;
        assert_eq!(visits(&reading), if each { EXECUTIONS * ITERATIONS } else { EXECUTIONS });
        assert_eq!(executions.iter().map(|e| e.sum).sum::<u64>(), sum);
        assert!(executions.len() < 4097 && executions.iter().any(|e| e.executions > 1));
        let squares = if each {
            (1..=ITERATIONS).map(|i| i * i).sum::<u64>()
        } else {
            (sum / EXECUTIONS).pow(2)
        };
        assert_eq!(
            executions.iter().map(|e| e.squares).sum::<u128>(),
            u128::from(EXECUTIONS * squares)
        );
        if each {
            assert_eq!(reading.series.iter().map(|s| s.sum).sum::<u64>(), sum);
            assert_eq!(
                reading.series.iter().map(|s| u64::from(s.visits)).sum::<u64>(),
                EXECUTIONS * ITERATIONS
            );
            assert!(executions.iter().all(|e| (e.min, e.max) == (1, ITERATIONS)));
        } else {
            assert!(reading.series.is_empty());
        }
    }
}

#[test]
fn a_clock_that_steps_back_is_counted_and_does_not_wrap() {
    let arena = Arena::new(Clock::Manual).unwrap();
    set_manual(100);
    let visit = open(&arena, &B);
    set_manual(99);
    close(&arena, visit);
    let reading = &readings(&arena)[0];
    assert_eq!(reading.executions[0].sum, 0);
    assert_eq!(reading.series[0].sum, 0);
    assert_eq!(arena.clock_steps_back.load(Relaxed), 1);
}

#[test]
fn what_an_ended_thread_left_open_is_closed_and_counted() {
    let arena = Arena::new(Clock::Manual).unwrap();
    for site in [&A, &B, &C] {
        let _ = open(&arena, site);
    }
    arena.close_all();
    assert_eq!(arena.visits_unbalanced.load(Relaxed), 3);
    assert!(readings(&arena).iter().all(|r| r.open.is_none() && visits(r) == 0));
    close(&arena, open(&arena, &C));
    assert_eq!(readings(&arena).iter().filter(|r| r.parent.is_none()).count(), 2);
}
