//! Visits that are kept one by one.

use std::collections::BTreeMap;

use tinyprof_format::model::{EventClass, Profile, RankEvents, ThreadEvents};

use crate::program::{Scratch, text, visits};

/// Runs the program with these settings, and returns its profile.
fn profile(argument: &str, settings: &[(&str, &str)]) -> Profile {
    let place = Scratch::new();
    let mut command = place.command("test_events");
    command.arg(argument).env("TINYPROF_REPORT", "off").envs(settings.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    place.profile()
}

fn events(profile: &Profile) -> &RankEvents {
    profile.ranks[0].events.as_deref().expect("events are kept")
}

/// Returns the visits of each callpath on all threads.
fn counted(profile: &Profile, threads: &[ThreadEvents]) -> BTreeMap<String, u64> {
    let rows = profile.callpaths.iter();
    let names: BTreeMap<_, _> =
        rows.map(|(index, callpath)| (callpath.id, profile.callpaths.path(index))).collect();
    let mut counts = BTreeMap::new();
    for visit in threads.iter().flat_map(|thread| &thread.visits) {
        *counts.entry(names[&visit.callpath].clone()).or_default() += 1;
    }
    counts
}

/// Checks that the visits of a thread are nested, by their depths and their times.
fn check_nesting(thread: &ThreadEvents) {
    let mut open: Vec<(u32, u64)> = Vec::new();
    for visit in &thread.visits {
        while let Some((depth, end_ns)) = open.pop() {
            if depth < visit.depth && end_ns > visit.begin_ns {
                open.push((depth, end_ns));
                break;
            }
            assert!(end_ns <= visit.begin_ns, "{visit:?} begins before {end_ns}");
        }
        assert!(open.last().is_none_or(|(_, end_ns)| visit.end_ns() <= *end_ns), "{visit:?}");
        open.push((visit.depth, visit.end_ns()));
    }
}

#[test]
fn without_losses_there_is_an_event_for_each_visit() {
    for clock in ["auto", "monotonic"] {
        let settings = [("TINYPROF_EVENTS", "window"), ("TINYPROF_CLOCK", clock)];
        let profile = profile("", &settings);
        let RankEvents { threads, origin_ns, threads_without_memory } = events(&profile);
        assert!(*origin_ns > 0 && *threads_without_memory == 0);
        let made: BTreeMap<_, _> = visits(&profile).into_iter().collect();
        assert_eq!(counted(&profile, threads), made, "{clock}");
        assert_eq!(threads.len(), 2);
        for thread in threads {
            check_nesting(thread);
            assert_eq!((thread.lost(), thread.memory_bytes), (0, 4 << 20));
            let kept: u64 = thread.cells.iter().map(|cell| cell.kept).sum();
            assert_eq!(kept, thread.visits.len() as u64);
        }
        assert_eq!((threads[0].cut, threads[1].cut), (0, 0), "main has ended, too");
        let classes: Vec<_> = threads[0].cells.iter().map(|cell| cell.class).collect();
        // Nothing is sent.
        for class in EventClass::ALL.into_iter().filter(|class| *class != EventClass::Message) {
            assert!(classes.contains(&class), "{class:?} in {classes:?}");
        }
    }
}

#[test]
fn a_full_buffer_counts_what_it_loses() {
    for policy in ["window", "ring", "thin"] {
        let settings = [("TINYPROF_EVENTS", policy), ("TINYPROF_EVENTS_MEMORY", "256KiB")];
        let profile = profile("many", &settings);
        let threads = &events(&profile).threads;
        let made: u64 = visits(&profile).into_iter().map(|(_, visits)| visits).sum();
        let kept: u64 = threads.iter().map(|thread| thread.visits.len() as u64).sum();
        let lost: u64 = threads.iter().map(ThreadEvents::lost).sum();
        assert_eq!(kept + lost, made, "{policy}");
        assert!(lost > made / 2, "{policy}");
        threads.iter().for_each(check_nesting);
        assert_eq!(threads[0].policy.name(), policy);
    }
}

#[test]
fn a_window_has_the_visits_of_a_region() {
    let settings = [("TINYPROF_EVENTS", "window"), ("TINYPROF_EVENTS_WINDOW", "solve@3-5")];
    let profile = profile("", &settings);
    let threads = &events(&profile).threads;
    let found = counted(&profile, threads);
    let expected = [
        ("main", 1),
        ("main<solve", 3),
        ("main<solve<iteration", 12),
        ("main<solve<iteration<kernel", 12),
        ("main<solve<exchange", 3),
        ("main<solve<exchange<MPI_Send", 3),
    ];
    assert_eq!(found, expected.map(|(path, visits)| (path.to_owned(), visits)).into());
    assert_eq!((threads[0].cut, threads[0].lost()), (1, 0), "main goes on");
}

#[test]
fn the_program_says_when_events_are_kept() {
    let settings = [("TINYPROF_EVENTS", "ring"), ("TINYPROF_EVENTS_WINDOW", "program")];
    let profile = profile("program", &settings);
    let found = counted(&profile, &events(&profile).threads);
    assert_eq!((found["main<solve"], found["main<solve<exchange"], found["main"]), (2, 2, 2));
    assert_eq!(found.get("solve"), None, "the other thread does not ask");
}

#[test]
fn a_program_saves_its_last_moments() {
    let place = Scratch::new();
    let mut command = place.command("test_events");
    command.arg("save").env("TINYPROF_REPORT", "off").env("TINYPROF_EVENTS", "ring");
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let saved = place.read("step.tprof");
    let found = counted(&saved, &events(&saved).threads);
    assert_eq!((found["main<solve"], found["main"]), (8, 1));
    assert!(saved.manifest.incomplete_because.is_some());
}

#[test]
fn nothing_is_kept_unless_it_is_asked_for() {
    assert_eq!(profile("", &[]).ranks[0].events, None);
    assert_eq!(profile("", &[("TINYPROF_EVENTS", "off")]).ranks[0].events, None);
    let place = Scratch::new();
    let mut command = place.command("test_events");
    let settings = [("TINYPROF_EVENTS", "ring"), ("TINYPROF_BUDGET", "1%")];
    let output = command.env("TINYPROF_REPORT", "off").envs(settings).output().unwrap();
    assert!(text(&output.stderr).contains("TINYPROF_EVENTS is ignored"), "{output:?}");
    assert_eq!(place.profile().ranks[0].events, None);
}
