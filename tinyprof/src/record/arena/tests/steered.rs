//! Commands: what is kept between them, and that nothing else changes.

use tinyprof_events::EventPolicy;
use tinyprof_events::buffer::Times;
use tinyprof_format::model::{Mode, RegionKind};
use tinyprof_segment::clock::{Moment, monotonic_ns};
use tinyprof_segment::control::{Accepts, Answer, Given, HOLD_NS_MAX, Verb, answered, command};
use tinyprof_segment::layout::header;

use super::super::super::clock::Clock;
use super::super::super::events::{Events, Window, install};
use super::super::super::site::Site;
use super::*;

static OUTER: Site = Site::new("outer", "t", "t.rs", 1, 1, RegionKind::Scope, Mode::Total);
static MIDDLE: Site = Site::new("middle", "t", "t.rs", 3, 1, RegionKind::Scope, Mode::Total);
static STEP: Site = Site::new("step", "t", "t.rs", 2, 1, RegionKind::Scope, Mode::Total);

fn steered(accepts: Accepts) -> Arena {
    let times = Times { origin: 0, shift: 0, shortest: 0 };
    let (policy, window, started) = (EventPolicy::Ring, Window::Commanded, Moment::ZERO);
    install(Events { policy, bytes: 4 << 20, times, window, accepts: Accepts::Holding, started });
    let arena = Arena::new(Clock::Monotonic).unwrap();
    arena.begin_events();
    arena.header(header::ACCEPTS).store(accepts.to_word(), Relaxed);
    arena
}

fn order(words: &[AtomicU64], number: u32, verb: Verb, until_ns: u64) {
    let given = Given::by("ada", number.into(), monotonic_ns());
    assert_eq!(command(words, verb, until_ns, &given), number);
}

fn visit(arena: &Arena, site: &'static Site, inside: impl FnOnce()) {
    let line = arena.enter(site).to_leave().unwrap();
    inside();
    arena.exit(line);
}

fn visits_of(arena: &Arena, site: &'static Site) -> u64 {
    let readings = arena.readings().flatten().filter(|reading| std::ptr::eq(reading.site, site));
    readings.flat_map(|reading| reading.executions).map(|execution| execution.visits).sum()
}

#[test]
fn a_thousand_recordings_have_each_visit_between_their_commands_once() {
    let arena = steered(Accepts::Recording);
    let words = arena.segment.header_words();
    let (mut number, mut kept, mut all) = (0, 0, 0);
    visit(&arena, &OUTER, || {
        for round in 0..1_000_u64 {
            for (verb, visits) in [(Verb::Record, round % 7), (Verb::Release, round % 5)] {
                number += 1;
                order(words, number, verb, u64::MAX);
                // Obeyed at its end, and kept only if the recording had begun before.
                visit(&arena, &STEP, || {});
                kept += u64::from(verb == Verb::Release);
                assert_eq!(answered(words, number), Some(Answer::Done));
                assert_eq!(arena.watches_visits(), verb == Verb::Record, "full speed between them");
                (0..visits).for_each(|_| visit(&arena, &STEP, || {}));
                kept += if verb == Verb::Record { visits } else { 0 };
                all += visits + 1;
            }
        }
    });
    assert_eq!((visits_of(&arena, &STEP), visits_of(&arena, &OUTER)), (all, 1));
    let reading = arena.event_reading().unwrap();
    let step = reading.recording.visits.iter().filter(|visit| visit.begin != 0);
    let depth = |callpath: u32| reading.callpaths[&callpath].1;
    let of_depth = |wanted| step.clone().filter(|visit| depth(visit.callpath) == wanted).count();
    assert_eq!(of_depth(2) as u64, kept);
    assert_eq!(of_depth(1), 1_000, "the open region is cut with each recording");
    assert_eq!(reading.recording.totals().lost, 0);
    assert!(reading.open.is_empty(), "nothing is kept any more");
}

#[test]
fn what_was_open_is_kept_from_the_begin_of_the_recording_on() {
    let arena = steered(Accepts::Recording);
    let words = arena.segment.header_words();
    let mut before = 0;
    visit(&arena, &OUTER, || {
        visit(&arena, &MIDDLE, || {
            before = arena.now();
            order(words, 1, Verb::Record, u64::MAX);
            visit(&arena, &STEP, || {});
        });
        order(words, 2, Verb::Release, u64::MAX);
        visit(&arena, &STEP, || {});
    });
    let reading = arena.event_reading().unwrap();
    let kept = &reading.recording.visits;
    let depths: Vec<u32> = kept.iter().map(|visit| reading.callpaths[&visit.callpath].1).collect();
    // The step that met the first command is not there; the one that met the second is.
    assert_eq!(depths.iter().filter(|&&depth| depth == 2).count(), 2, "{depths:?}");
    assert_eq!(depths.iter().filter(|&&depth| depth == 1).count(), 1, "{depths:?}");
    assert!(kept.iter().all(|visit| visit.begin >= before && visit.begin <= visit.end));
}

#[test]
fn a_recording_ends_by_itself() {
    let arena = steered(Accepts::Recording);
    let words = arena.segment.header_words();
    order(words, 1, Verb::Record, monotonic_ns());
    (0..100_000).for_each(|_| visit(&arena, &STEP, || {}));
    assert!(!arena.watches_visits(), "its time is over");
    assert_eq!(visits_of(&arena, &STEP), 100_000);
}

#[test]
fn a_thread_is_held_until_its_time_is_over_or_nobody_is_there() {
    let arena = steered(Accepts::Holding);
    let words = arena.segment.header_words();
    let begun_ns = monotonic_ns();
    words[header::LEASE_NS].store(begun_ns, Relaxed);
    order(words, 1, Verb::Hold, begun_ns + 20_000_000);
    visit(&arena, &OUTER, || visit(&arena, &STEP, || {}));
    assert!(monotonic_ns() >= begun_ns + 20_000_000);
    let held =
        || arena.readings().flatten().find(|reading| reading.site.name() == "[held]").unwrap();
    let execution = held().executions.last().copied().unwrap();
    assert!(execution.visits == 1 && held().parent.is_some());
    // A lease that has run out holds nobody, whatever the time is.
    words[header::LEASE_NS].store(0, Relaxed);
    order(words, 2, Verb::Hold, u64::MAX);
    visit(&arena, &OUTER, || visit(&arena, &STEP, || {}));
    assert_eq!(answered(words, 2), Some(Answer::Done));
    assert_eq!(words[header::HELD_SINCE_NS].load(Relaxed), 0);
    let longest_ns = held().executions.iter().map(|execution| execution.max).max().unwrap();
    assert!(longest_ns < HOLD_NS_MAX / 2, "held for as long as it may be: {longest_ns} ns");
    // Outside of all regions there is no region for it, and no further flush point.
    order(words, 3, Verb::Hold, u64::MAX);
    visit(&arena, &OUTER, || {});
    assert_eq!((answered(words, 3), visits_of(&arena, &OUTER)), (Some(Answer::Done), 3));
}

#[test]
fn a_thousand_switches_count_what_is_between_them_exactly() {
    let arena = steered(Accepts::Recording);
    let words = arena.segment.header_words();
    let (mut number, mut counted) = (0, 0);
    let step = || {
        if let Some(line) = arena.enter(&STEP).to_leave() {
            arena.exit(line);
        }
    };
    visit(&arena, &OUTER, || {
        for round in 0..1_000_u64 {
            for (verb, visits) in [(Verb::Off, round % 7), (Verb::On, round % 5)] {
                number += 1;
                order(words, number, verb, 0);
                // Of the first it is the end that meets the command, of the second the begin.
                step();
                counted += u64::from(verb == Verb::Off);
                assert_eq!(answered(words, number), Some(Answer::Done));
                assert_eq!(arena.is_switched_off(), verb == Verb::Off);
                (0..visits).for_each(|_| step());
                counted += if verb == Verb::On { visits } else { 0 };
            }
        }
    });
    assert_eq!((visits_of(&arena, &STEP), visits_of(&arena, &OUTER)), (counted, 1));
    assert_eq!(arena.visits_unbalanced.load(Relaxed), 0);
    let reading = arena.obeyed_reading().expect("it was given commands");
    let kept = reading.obeyed.len() as u64;
    assert_eq!((kept + reading.without_room, reading.pending), (2_000, None));
    let off = reading.obeyed.iter().filter(|one| one.verb == Verb::Off.number());
    assert!(off.clone().all(|one| one.over_ns >= one.obeyed_ns), "each was over");
}

#[test]
fn time_off_is_in_no_region_and_what_ends_then_has_ended_before() {
    let arena = steered(Accepts::Recording);
    let words = arena.segment.header_words();
    let pause = || std::thread::sleep(std::time::Duration::from_millis(30));
    let (begun_ns, mut seen_ns) = (monotonic_ns(), 0);
    visit(&arena, &OUTER, || {
        visit(&arena, &MIDDLE, || {
            order(words, 1, Verb::Off, 0);
            visit(&arena, &STEP, || {});
            pause();
            assert!(arena.measured_until() < arena.now());
        });
        order(words, 2, Verb::On, 0);
        assert_eq!(arena.enter(&STEP).to_leave(), None, "it has begun before");
        visit(&arena, &STEP, || {});
        seen_ns = monotonic_ns() - begun_ns;
    });
    let off_ns = arena.off_ns();
    assert!(off_ns >= 30_000_000, "{off_ns}");
    let sum_of = |site: &'static Site| {
        let of_site = arena.readings().flatten().filter(|one| std::ptr::eq(one.site, site));
        of_site.flat_map(|one| one.executions).map(|one| one.sum).sum::<u64>()
    };
    let (outer, middle) = (sum_of(&OUTER), sum_of(&MIDDLE));
    assert!(
        middle <= outer && outer <= monotonic_ns() - begun_ns - 30_000_000,
        "{outer} {seen_ns}"
    );
    assert_eq!((visits_of(&arena, &MIDDLE), visits_of(&arena, &STEP)), (1, 2));
    assert_eq!(arena.visits_unbalanced.load(Relaxed), 0);
    assert!(arena.is_outside_of_regions());
}

#[test]
fn what_counts_flush_points_is_not_switched_off() {
    let arena = steered(Accepts::Recording);
    let words = arena.segment.header_words();
    arena.watch(true);
    order(words, 1, Verb::Off, 0);
    visit(&arena, &OUTER, || {});
    assert_eq!(answered(words, 1), Some(Answer::NotPossible));
    arena.watch(false);
    order(words, 2, Verb::Off, 0);
    visit(&arena, &OUTER, || {});
    assert!(arena.is_switched_off());
    // It begins to count them: none may be missing.
    arena.watch(true);
    visit(&arena, &OUTER, || {});
    assert!(!arena.is_switched_off());
    assert_eq!(visits_of(&arena, &OUTER), 3);
}

#[test]
fn a_command_within_a_context_leaves_the_thread_where_it_was() {
    let arena = steered(Accepts::Recording);
    let words = arena.segment.header_words();
    visit(&arena, &OUTER, || {
        let place = arena.place().unwrap();
        let before = arena.enter_context(&arena, place).unwrap();
        order(words, 1, Verb::Off, 0);
        visit(&arena, &STEP, || {});
        arena.step_back(before);
        order(words, 2, Verb::On, 0);
        assert_eq!(arena.enter(&STEP).to_leave(), None);
        assert!(!arena.is_switched_off());
        visit(&arena, &STEP, || {});
    });
    assert_eq!((visits_of(&arena, &STEP), visits_of(&arena, &OUTER)), (2, 1));
    assert_eq!(arena.visits_unbalanced.load(Relaxed), 0);
}

#[test]
fn iterations_while_it_is_off_are_one() {
    static LOOP: Site = Site::new("loop", "t", "t.rs", 9, 1, RegionKind::Loop, Mode::Total);
    let arena = steered(Accepts::Recording);
    let words = arena.segment.header_words();
    visit(&arena, &OUTER, || {
        let line = arena.enter(&LOOP).to_leave().unwrap();
        arena.next_iteration(line);
        order(words, 1, Verb::Off, 0);
        arena.next_iteration(line);
        (0..5).for_each(|_| arena.next_iteration(line));
        order(words, 2, Verb::On, 0);
        assert_eq!(arena.enter(&STEP).to_leave(), None);
        arena.next_iteration(line);
        arena.exit(line);
    });
    assert_eq!(visits_of(&arena, &LOOP), 4, "two before, one with the pause, one after");
}
