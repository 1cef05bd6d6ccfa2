//! Hints about the run as a whole, each threshold from both sides.

use tinyprof_format::model::{PhaseTimes, ProcessorFacts, Profile};
use tinyprof_report::{Finding, FindingKind, Report};

use crate::fixture::{Node, profile_of, tag};

fn node(name: &str, parent: Option<usize>, ns: fn(u32) -> Option<u64>) -> Node<'_> {
    Node { name, parent, ns }
}

fn hints(profile: &Profile) -> Vec<Finding> {
    let report = Report::of_profile(profile);
    // The end of a large run knows only statistics over ranks.
    let of_statistics = Report::new(
        &profile.manifest,
        &profile.callpaths,
        tinyprof_report::Statistics::of_profile(profile),
    );
    let kinds = |report: &Report| report.findings().iter().map(|h| h.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&report), kinds(&of_statistics));
    report.findings().to_vec()
}

/// A region with its time on each rank and its tag.
type Phase = (&'static str, fn(u32) -> Option<u64>, &'static str);

/// Returns a run of 4 ranks, of which each phase takes these nanoseconds; `main` has the rest.
fn run_of(phases: [Phase; 3]) -> Profile {
    let mut tree = vec![node("main", None, |_| Some(1_000_000_000))];
    tree.extend(phases.map(|(name, ns, _)| node(name, Some(0), ns)));
    let mut profile = profile_of(&tree, 4);
    profile.manifest.flush = PhaseTimes::default();
    tag(&mut profile, |region| {
        phases.iter().find(|(name, ..)| *name == region.name).map(|(.., tag)| *tag)
    });
    profile
}

#[test]
fn communication_that_dominates_is_named_with_its_region() {
    let found = hints(&run_of([
        ("alltoall", |rank| Some(550_000_000 + 70_000_000 * u64::from(rank)), "COMM"),
        ("barrier", |rank| Some(250_000_000 - 70_000_000 * u64::from(rank)), "COMM"),
        ("fft", |_| Some(20_000_000), "COMP"),
    ]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].kind, FindingKind::Communication);
    assert_eq!(
        found[0].words.headline,
        "Communication takes 80.0% of the time, most of it in alltoall (65.5%)"
    );
    assert_eq!(
        found[0].words.evidence,
        "A rank communicates for 800 ms of 1.00 s on average. In alltoall it takes 550 ms on one rank and \
         760 ms on rank 3: the difference is waiting."
    );
    assert!(found[0].lost_ns > 690e6 && !found[0].words.advice.is_empty());
}

#[test]
fn a_run_below_eighty_percent_has_an_answer_and_one_above_has_none() {
    let of = |waits: fn(u32) -> Option<u64>| {
        let phases = [
            ("exchange", waits, "COMM"),
            ("fft", |_| Some(100_000_000), "COMP"),
            ("plan", |_| Some(100_000_000), "COMP"),
        ];
        hints(&run_of(phases)).iter().map(|hint| hint.kind).collect::<Vec<_>>()
    };
    assert_eq!(of(|_| Some(210_000_000)), [FindingKind::Communication]);
    assert_eq!(of(|_| Some(190_000_000)), []);
    // Load balance and communication are 85 and 90 %: neither is bad alone.
    let uneven = |rank| Some([100_000_000, 280_000_000, 280_000_000, 280_000_000][rank as usize]);
    assert_eq!(of(uneven), [FindingKind::LoadBalance]);
}

#[test]
fn work_of_a_rank_in_many_small_regions_is_distributed_unevenly() {
    fn rank_0(rank: u32) -> Option<u64> {
        (rank == 0).then_some(60_000_000)
    }
    let mut tree = vec![node("main", None, |_| Some(1_000_000_000))];
    tree.push(node("wait", Some(0), |rank| {
        Some(if rank == 0 { 400_000_000 } else { 1_000_000_000 })
    }));
    tree.extend(
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].map(|name| node(name, Some(0), rank_0)),
    );
    let mut profile = profile_of(&tree, 4);
    tag(&mut profile, |region| (region.name == "wait").then_some("COMM"));
    let found = hints(&profile);
    let uneven =
        found.iter().find(|hint| hint.kind == FindingKind::LoadBalance).expect("it is told");
    assert_eq!(uneven.rank(), Some(0));
    assert_eq!(
        uneven.words.headline,
        "Work is distributed unevenly: load balance 25.0%, rank 0 has the most"
    );
}

#[test]
fn an_imbalance_that_explains_the_distribution_is_told_in_place_of_it() {
    let found = hints(&run_of([
        ("solve", |rank| Some(if rank == 2 { 900_000_000 } else { 300_000_000 }), "COMP"),
        ("wait", |rank| Some(if rank == 2 { 100_000_000 } else { 700_000_000 }), "COMM"),
        ("plan", |_| Some(0), "COMP"),
    ]));
    assert_eq!(found.iter().map(|hint| hint.kind).collect::<Vec<_>>(), [FindingKind::Imbalance]);
}

#[test]
fn input_and_output_that_dominate_are_named() {
    let of = |writes: fn(u32) -> Option<u64>| {
        hints(&run_of([
            ("write_field", writes, "IO"),
            ("fft", |_| Some(100_000_000), "COMP"),
            ("plan", |_| Some(100_000_000), "COMP"),
        ]))
    };
    let found = of(|_| Some(210_000_000));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].kind, found[0].words.headline.as_str()),
        (
            FindingKind::InputOutput,
            "Input and output take 21.0% of the time, all of it in write_field"
        )
    );
    assert_eq!(of(|_| Some(190_000_000)), []);
}

/// Returns a profile of 5 ranks on 4 CPUs, which compute for 1 s in which they could not run for
/// `delay_ns`; unknown if none.
fn of_delay(cpus: u32, delay_ns: Option<u64>) -> Profile {
    let mut profile = profile_of(&[node("main", None, |_| Some(1_000_000_000))], 5);
    profile.manifest.metadata.cpus = cpus;
    let known = delay_ns.map(|delay_ns| ProcessorFacts {
        wall_ns: 1_000_000_000,
        cpu_ns: 1_000_000_000 - delay_ns,
        threads_ns: 1_000_000_000,
        delay_ns,
        ..ProcessorFacts::default()
    });
    profile.ranks.iter_mut().for_each(|rank| rank.processor = known.unwrap_or_default());
    profile
}

#[test]
fn ranks_that_were_measured_to_wait_for_a_cpu_are_told_so() {
    let found = hints(&of_delay(4, Some(200_000_000)));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].kind, found[0].words.headline.as_str()),
        (
            FindingKind::Crowded,
            "Ranks wait for a CPU 20.0% of the time: 5 share the 4 CPUs of a host"
        )
    );
    assert_eq!(
        found[0].words.evidence,
        "A rank was ready to run, but had no CPU, for 200 ms of 1.00 s on average. At least 200 ms \
         of it was computation."
    );
    assert!((found[0].lost_ns - 200e6).abs() < 1.0, "{found:?}");
    let bound = hints(&of_delay(8, Some(200_000_000)));
    assert_eq!(bound[0].words.headline, "Ranks wait for a CPU 20.0% of the time");
    assert_eq!(hints(&of_delay(4, Some(49_000_000))), [], "too little");
    assert_eq!(hints(&of_delay(4, None)), [], "more ranks than CPUs prove nothing");
}

#[test]
fn a_measured_delay_comes_before_what_it_explains() {
    let tree = [
        node("main", None, |_| Some(1_000_000_000)),
        node("solve", Some(0), |rank| Some(if rank == 0 { 990_000_000 } else { 200_000_000 })),
    ];
    let mut profile = profile_of(&tree, 5);
    assert!(!hints(&profile).is_empty());
    for rank in &mut profile.ranks {
        let (threads_ns, delay_ns) = (1_000_000_000, 60_000_000);
        rank.processor = ProcessorFacts { threads_ns, delay_ns, ..ProcessorFacts::default() };
    }
    let kinds: Vec<_> = hints(&profile).iter().map(|hint| hint.kind).collect();
    assert_eq!(kinds[0], FindingKind::Crowded);
    assert!(kinds.len() > 1, "{kinds:?}");
}

#[test]
fn a_run_that_is_short_beside_its_profile_is_not_judged() {
    let tree = [node("main", None, |_| Some(1_000_000))];
    let of = |write_ns: u64| {
        let mut profile = profile_of(&tree, 2);
        profile.manifest.flush = PhaseTimes { write_ns, ..PhaseTimes::default() };
        hints(&profile).iter().map(|hint| hint.kind).collect::<Vec<_>>()
    };
    assert_eq!(of(100_000), [FindingKind::ShortRun]);
    assert_eq!(of(99_000), []);
}
