//! A thread that copies all records while their owner changes them.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use super::super::reading::Ids;
use super::*;
use tinyprof_settings::ClockChoice;

/// A number for which both lists of a callpath are moved to larger blocks and folded several times.
const EXECUTIONS: u64 = if cfg!(miri) { 32 } else { 20_000 };
const ITERATIONS: u64 = 12;

fn work(arena: &Arena) {
    for execution in 0..EXECUTIONS {
        let root = open(arena, &A);
        let Entered::Node(line) = open(arena, &B) else { panic!("there is room") };
        for _ in 1..ITERATIONS {
            close(arena, open(arena, &C));
            arena.next_iteration(line);
        }
        arena.exit(line);
        close(arena, open(arena, leaked_site_once(execution)));
        close(arena, root);
    }
}

/// Returns a site for a callpath that appears late: records are added while the reader walks them.
fn leaked_site_once(execution: u64) -> &'static Site {
    thread_local! {
        static LATE: std::cell::Cell<&'static Site> = const { std::cell::Cell::new(&D) };
    }
    if execution.is_multiple_of(EXECUTIONS / 16) {
        LATE.set(leaked_site(u32::try_from(execution).unwrap(), Mode::Each));
    }
    LATE.get()
}

/// Checks the invariants of every record between two changes.
fn check(reading: &Reading) {
    let mut next = 0;
    for e in &reading.executions {
        assert!(e.execution >= next, "executions are in order: {e:?}");
        next = e.execution + e.executions;
        assert!(e.visits > 0 && e.min <= e.max, "{e:?}");
        assert!(e.visits * e.min <= e.sum && e.sum <= e.visits * e.max, "{e:?}");
        let (visits, min, max) = (u128::from(e.visits), u128::from(e.min), u128::from(e.max));
        assert!(visits * min * min <= e.squares && e.squares <= visits * max * max, "{e:?}");
    }
    let mut last = 0;
    for s in &reading.series {
        assert!(s.execution >= last, "the series is in order: {s:?}");
        last = s.execution;
        let visits = u64::from(s.visits);
        assert!(visits > 0 && visits * s.min <= s.sum && s.sum <= visits * s.max, "{s:?}");
    }
    if reading.site.mode() == Mode::Each {
        assert_eq!(
            reading.series.iter().map(|s| u64::from(s.visits)).sum::<u64>(),
            visits(reading)
        );
        let of_executions: u64 = reading.executions.iter().map(|e| e.sum).sum();
        assert_eq!(reading.series.iter().map(|s| s.sum).sum::<u64>(), of_executions);
    }
}

#[test]
fn every_reading_is_of_one_moment_and_none_stops_the_owner() {
    let arena = Arena::new(Clock::detect(ClockChoice::Auto)).unwrap();
    let (started, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut seen: HashMap<CallpathId, u64> = HashMap::new();
    let (mut copies, mut unreadable) = (0_u64, 0_u64);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !started.load(Acquire) {
                std::hint::spin_loop();
            }
            work(&arena);
            done.store(true, Release);
        });
        while !done.load(Acquire) {
            for reading in arena.readings() {
                let Some(reading) = reading else {
                    unreadable += 1;
                    continue;
                };
                check(&reading);
                copies += 1;
                let before = seen.insert(reading.id, visits(&reading)).unwrap_or(0);
                assert!(visits(&reading) >= before, "visits are never taken back");
            }
            started.store(true, Release);
        }
    });
    assert!(unreadable <= copies / 10, "{unreadable} of {copies} could not be read");
    let readings = readings(&arena);
    readings.iter().for_each(check);
    let total = |site: &'static Site| {
        readings.iter().filter(|r| std::ptr::eq(r.site, site)).map(visits).sum()
    };
    let expected =
        [(&A, EXECUTIONS), (&B, EXECUTIONS * ITERATIONS), (&C, EXECUTIONS * (ITERATIONS - 1))];
    for (site, visits) in expected {
        let found: u64 = total(site);
        assert_eq!(found, visits);
    }
    assert_eq!(readings.len(), 3 + 16);
    assert_eq!(
        readings.iter().map(visits).sum::<u64>(),
        expected.iter().map(|e| e.1).sum::<u64>() + EXECUTIONS
    );
}

/// Reads a loop of `before` iterations while its owner adds `meanwhile` more, and compares the
/// result with an earlier reading. Returns `None` if the copy was given up.
fn read_while(before: u64, meanwhile: u64) -> Option<bool> {
    let arena = Arena::new(Clock::detect(ClockChoice::Auto)).unwrap();
    let _root = open(&arena, &A);
    let Entered::Node(line) = open(&arena, &B) else { panic!("there is room") };
    (0..before).for_each(|_| arena.next_iteration(line));
    let series = |reading: Reading| reading.series;
    let expected = series(readings(&arena).remove(0));
    let node = arena.node(line);
    let found = Reading::of(&arena, node, &mut Ids::default(), || {
        (0..meanwhile).for_each(|_| arena.next_iteration(line));
    })?;
    Some(series(found) == expected)
}

#[test]
fn a_list_that_moves_or_folds_while_it_is_copied_is_copied_again() {
    // The first block holds 8 visits, the largest 32,768; then two join in each element.
    assert_eq!(read_while(5, 3), Some(true), "appending changes nothing of what was there");
    assert_eq!(read_while(8, 1), None, "moved to a larger block");
    assert_eq!(read_while(32_768, 1), None, "folded");
    assert_eq!(read_while(32_769, 1), Some(true), "the last element grew");
    assert_eq!(read_while(32_769, 200_000), None, "folded more than once");
}
