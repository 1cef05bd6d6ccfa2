//! Samples of the program's code, from a ring in which the test writes.

use super::*;
use crate::sys::SampleRing;

static UNKNOWN: Site = Site::sample("unknown", &[("period_ns", "1000")]);
static CALL: Site = Site::mpi("MPI_Barrier", &[]);

fn arena() -> Arena {
    Arena::new(Clock::Monotonic).unwrap()
}

/// Takes samples at these instructions, and some that were lost.
fn take(arena: &Arena, instructions: impl Iterator<Item = usize>, lost: u64) {
    let samples: Vec<[u64; 3]> = instructions.map(SampleRing::sample_at).collect();
    let lost = SampleRing::lost(lost);
    let records = samples.iter().map(|sample| &sample[..]).chain([&lost[..]]);
    let ring = SampleRing::filled(1 << 18, 8, &records.collect::<Vec<_>>());
    arena.take_samples_of(&ring, &UNKNOWN);
    assert_eq!(ring.waiting(), 0);
}

/// Returns the visits of records of samples: those of the unknown place, of others, and their
/// parents.
fn found(arena: &Arena) -> (u64, u64, Vec<Option<CallpathId>>) {
    let (mut unknown, mut known, mut parents) = (0, 0, Vec::new());
    for reading in readings(arena).iter().filter(|reading| reading.site.is_sample()) {
        let visits: u64 = reading.executions.iter().map(|e| e.visits).sum();
        let is_unknown = std::ptr::eq(reading.site, &raw const UNKNOWN);
        *(if is_unknown { &mut unknown } else { &mut known }) += visits;
        parents.push(reading.parent);
        assert!(reading.executions.iter().all(|e| e.sum == 0 && e.execution < 3), "{reading:?}");
    }
    parents.sort_unstable();
    parents.dedup();
    (known, unknown, parents)
}

// One test, as the table of places is that of the process.
#[test]
fn samples_are_below_the_region_that_is_open_and_none_is_lost() {
    let arena = arena();
    let here = found as fn(&Arena) -> (u64, u64, Vec<Option<CallpathId>>) as usize;
    for _ in 0..3 {
        let outer = open(&arena, &A);
        let inner = open(&arena, &C);
        take(&arena, [here, here, 16].into_iter(), 5);
        close(&arena, inner);
        close(&arena, outer);
    }
    let inner = CallpathId::root(A.id()).child(C.id());
    assert_eq!(found(&arena), (6, 18, vec![Some(inner)]), "address 16 is in no object");
    let executions = readings(&arena).into_iter().find(|reading| reading.site.is_sample());
    let executions = executions.unwrap().executions;
    assert_eq!(executions.iter().map(|e| e.execution).collect::<Vec<_>>(), [0, 1, 2]);
    places_beyond_the_limit_are_counted();
}

#[test]
fn samples_in_a_call_are_dropped_and_those_outside_of_all_regions_are_no_execution() {
    let arena = arena();
    let call = open(&arena, &CALL);
    take(&arena, [16].into_iter(), 7);
    close(&arena, call);
    assert_eq!(found(&arena), (0, 0, vec![]));
    take(&arena, [16].into_iter(), 2);
    assert_eq!(found(&arena), (0, 3, vec![None]));
    close(&arena, open(&arena, &A));
    let roots: Vec<Reading> = readings(&arena);
    let root = roots.iter().find(|reading| std::ptr::eq(reading.site, &raw const A)).unwrap();
    assert_eq!(root.executions[0].execution, 0, "the region's first");
}

fn places_beyond_the_limit_are_counted() {
    let arena = arena();
    let outer = open(&arena, &A);
    let text = readings as fn(&Arena) -> Vec<Reading> as usize;
    take(&arena, text..text + 6_000, 1);
    close(&arena, outer);
    let (known, unknown, _) = found(&arena);
    let other = arena.visits_in_other.load(Relaxed);
    assert_eq!(known + unknown + other, 6_001);
    assert!(known > 0 && other > 0, "{known} {other}: a thread has few records in tests");
    // Now the table of places is full, too.
    let next = super::sampled::arena();
    let outer = open(&next, &C);
    take(&next, text + 6_000..text + 6_100, 1);
    close(&next, outer);
    assert_eq!(found(&next), (0, 101, vec![Some(CallpathId::root(C.id()))]));
}
