//! Reports of programs whose code was sampled, on several threads.

use std::sync::Arc;

use tinyprof_format::model::{
    CYCLES, CallpathId, CallpathValues, EventMap, ExecutionSummary, INSTRUCTIONS, MetricSummary,
    MetricValues, ProcessorFacts, Profile, RankFacts, Region, SAMPLED_SECONDS, SAMPLES_MODULE,
    SAMPLES_PERIOD, SiteId, WORKER_SECONDS,
};
use tinyprof_report::{FindingKind, Report, TextOptions};

use crate::fixture::{profile, region};

const MS: u64 = 1_000_000;

/// Returns the values of samples, one a ms.
fn samples(number: u64) -> CallpathValues {
    let one = ExecutionSummary::of_one_visit(0, 0);
    let executions = vec![ExecutionSummary { visits: number, ..one }];
    let mut values = CallpathValues { executions, ..CallpathValues::default() };
    values.estimate_samples(MS);
    values
}

fn visit(ms: u64) -> CallpathValues {
    let executions = vec![ExecutionSummary::of_one_visit(0, ms * MS)];
    CallpathValues { executions, ..CallpathValues::default() }
}

fn place(site: u64, name: &str) -> Region {
    let constants = [(SAMPLES_PERIOD.to_owned(), MS.to_string())].into();
    Region { module: SAMPLES_MODULE.to_owned(), constants, ..region(site, name) }
}

fn metric(values: &mut CallpathValues, key: &str, of: MetricSummary) {
    let one = MetricValues { executions: vec![of], series: Vec::new() };
    values.metrics.insert(key.to_owned(), one);
}

/// Returns a run of regions `main` and `step`, in which `step` was sampled at some places: name,
/// samples, and those of workers.
fn rank(main_ms: u64, step_ms: u64, places: &[(&str, u64, u64)]) -> EventMap {
    let (main, step) = (SiteId::from_bits(1), SiteId::from_bits(2));
    let (root, inner) = (CallpathId::root(main), CallpathId::root(main).child(step));
    let mut records = vec![
        (root, None, Arc::new(region(1, "main")), visit(main_ms)),
        (inner, Some(root), Arc::new(region(2, "step")), visit(step_ms)),
    ];
    for (site, (name, number, of_workers)) in (3..).zip(places) {
        let mut values = samples(*number);
        if *of_workers > 0 {
            let seconds = f64::from(u32::try_from(*of_workers).expect("few")) * 1e-3;
            let one = MetricSummary::of_one_value(0, seconds);
            metric(&mut values, WORKER_SECONDS, MetricSummary { values: *of_workers, ..one });
        }
        let id = inner.child(SiteId::from_bits(site));
        records.push((id, Some(inner), Arc::new(place(site, name)), values));
    }
    EventMap::from_records(records, RankFacts::default())
}

#[test]
fn an_imbalance_names_the_function_that_samples_know() {
    let even: &[(&str, u64, u64)] = &[("relax (a.c:12)", 400, 0), ("copy (a.c:20)", 100, 0)];
    let late: &[(&str, u64, u64)] = &[("relax (a.c:12)", 900, 0), ("copy (a.c:20)", 105, 0)];
    let mut maps: Vec<EventMap> = (0..3).map(|_| rank(1_100, 500, even)).collect();
    maps.push(rank(1_100, 1_005, late));
    let report = Report::of_profile(&profile(&maps));
    let found = report.findings().iter().find(|found| found.kind == FindingKind::Imbalance);
    let found = found.expect("the region with its samples is imbalanced");
    let sampled = found.sampled.as_ref().expect("there are samples");
    assert_eq!(sampled.name, "relax (a.c:12)");
    assert_eq!((sampled.here_ns, sampled.elsewhere_ns), (900e6, Some(400e6)));
    let words = "By samples it is in relax (a.c:12): 900 ms, and 400 ms on the others.";
    assert!(found.words.evidence.ends_with(words), "{}", found.words.evidence);
}

/// Returns a rank of 4 threads on 2 processors: one works alone in `assemble`, all in `sweep`.
fn threaded() -> Profile {
    let mut map =
        rank(1_000, 1_000, &[("assemble (a.c:3)", 500, 0), ("sweep (a.c:9)", 1_600, 1_200)]);
    let seconds = [0.9, 0.3, 0.3, 0.6].map(|of| MetricSummary::of_one_value(0, of));
    let all = seconds.into_iter().reduce(|mut all, one| {
        all.absorb(&one);
        all
    });
    metric(&mut map.values[1], SAMPLED_SECONDS, all.expect("four"));
    map.facts.processor = ProcessorFacts {
        wall_ns: 1_000 * MS,
        cpu_ns: 2_100 * MS,
        threads_at_work: 4,
        processors_allowed: 2,
        ..ProcessorFacts::default()
    };
    profile(&[map])
}

#[test]
fn a_line_says_how_many_threads_were_busy_and_which_function_has_one_alone() {
    let profile = threaded();
    let report = Report::of_profile(&profile);
    let text = report.to_text(&TextOptions::default().with_width(1000));
    let line = "threads: 2.1 of 4 busy, on 2 processors; on one thread alone: assemble 50.0% of the \
                time; in step the longest thread takes 71.4% more than the mean\n";
    assert!(text.contains(line), "{text}");
    let row = |name: &str| {
        let found = report.callpaths.iter().find(|(_, row)| row.region.name.starts_with(name));
        found.expect("it is there").0
    };
    assert_eq!(report.busy_threads(row("sweep")), Some(4.0));
    assert_eq!(report.busy_threads(row("assemble")), None, "it has one");
    assert!(report.busy_threads(row("step")).is_some_and(|busy| (busy - 2.1 / 0.9).abs() < 1e-9));
    // 1.6 s of 4 threads for a second each, 0.5 s of one.
    let share = |name, ns| report.base().share(report.time_of_one_thread(row(name), ns));
    assert_eq!(share("sweep", 1_600_000_000), 0.4);
    assert_eq!((share("assemble", 500_000_000), share("step", 1_000_000_000)), (0.5, 1.0));
    assert!(!text.contains(WORKER_SECONDS), "{text}");
}

#[test]
fn cycles_and_instructions_of_samples_are_those_of_the_run() {
    let run = |cycles: f64, instructions: f64| {
        let mut map = rank(1_000, 1_000, &[("relax (a.c:12)", 1_000, 0)]);
        for (key, sum) in [(CYCLES, cycles), (INSTRUCTIONS, instructions)] {
            let one = MetricSummary::of_one_value(0, sum);
            metric(&mut map.values[2], key, MetricSummary { values: 1_000, ..one });
        }
        Report::of_profile(&profile(&[map]))
    };
    let (base, other) = (run(3e9, 6e9), run(3e9, 4.5e9));
    let counters = base.counters().expect("they were counted");
    assert_eq!((counters.instructions_per_cycle(), counters.gigahertz()), (2.0, 3.0));
    let text = base.to_text(&TextOptions::default().with_width(1000));
    let line = "computation: 2.00 instructions per cycle at 3.00 GHz; least in relax (a.c:12) 2.00, \
                100% of the cycles\n";
    assert!(text.contains(line), "{text}");
    let found = other.scalability(&base).expect("both are useful");
    let factors = found.factors.expect("both have counters");
    assert_eq!((found.computation, factors.frequency), (1.0, 1.0));
    assert_eq!((factors.instructions, factors.instructions_per_cycle), (6.0 / 4.5, 0.75));
    let text = Report::of_profile(&threaded()).to_text(&TextOptions::default());
    assert!(!text.contains("GHz"), "{text}");
}
