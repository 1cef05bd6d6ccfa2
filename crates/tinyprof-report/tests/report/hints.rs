//! Hints of a report on a whole profile, over ranks and iterations.

use tinyprof_format::model::{EventMap, PhaseTimes, Profile, SeriesBucket};
use tinyprof_report::{FINDINGS_MAX, Finding, FindingKind, IterationPoint, Iterations, Report};

use crate::fixture::{Node, event_map, fft, profile, profile_of, tag};

const RANKS: u32 = 8;

fn node(name: &str, parent: Option<usize>, ns: fn(u32) -> Option<u64>) -> Node<'_> {
    Node { name, parent, ns }
}

/// Gives the region called `name` a series on every rank. `buckets` has the number of visits of
/// each bucket, and the time of a visit.
fn with_series(maps: &mut [EventMap], name: &str, buckets: &[(u32, u64)]) {
    for (rank, map) in (0_u64..).zip(maps) {
        let at = map
            .callpaths
            .iter()
            .position(|(_, callpath)| callpath.region.name == name)
            .expect("it is there");
        let of = |&(visits, ns): &(u32, u64)| SeriesBucket {
            visits,
            sum_ns: (ns + rank) * u64::from(visits),
            ..SeriesBucket::of_one_visit(0, ns + rank)
        };
        map.values[at].series = buckets.iter().map(of).collect();
    }
}

fn hints(profile: &Profile) -> Vec<Finding> {
    // The runs here are short: their profiles take no time.
    let mut profile = profile.clone();
    profile.manifest.flush = PhaseTimes::default();
    Report::of_profile(&profile).findings().to_vec()
}

fn kinds(profile: &Profile) -> Vec<FindingKind> {
    hints(profile).iter().map(|hint| hint.kind).collect()
}

#[test]
fn a_quiet_run_has_no_hints() {
    let tree = [node("main", None, |_| Some(1_000_000)), node("solve", Some(0), |_| Some(900_000))];
    assert_eq!(kinds(&profile_of(&tree, RANKS)), []);
    assert_eq!(kinds(&profile_of(&[], 0)), []);
    // The FFT's late rank is late in two regions of many.
    assert_eq!(kinds(&profile_of(&fft(), RANKS)), [FindingKind::Imbalance]);
}

#[test]
fn a_mean_over_ranks_that_never_came_says_so() {
    let tree = [
        node("main", None, |_| Some(1_000_000)),
        node("write", Some(0), |rank| (rank < 2).then_some(600_000)),
        node("rest", Some(0), |rank| Some(if rank < 2 { 400_000 } else { 1_000_000 })),
    ];
    let found = hints(&profile_of(&tree, RANKS));
    let write =
        found.iter().find(|hint| hint.words.headline.starts_with("write ")).expect("a hint");
    assert_eq!(
        write.words.evidence,
        "Its exclusive time is 600 us there and 150 us per rank over all 8 ranks, 6 of which never run it; the \
         others may wait 450 us."
    );
}

#[test]
fn where_ranks_wait_for_each_other_the_longest_is_not_slow() {
    let tree = [
        node("main", None, |_| Some(1_000_000)),
        node("solve", Some(0), |rank| Some(if rank == 0 { 100_000 } else { 900_000 })),
        node("wait", Some(0), |rank| Some(if rank == 0 { 900_000 } else { 100_000 })),
    ];
    let mut profile = profile_of(&tree, RANKS);
    assert_eq!(kinds(&profile), [FindingKind::Imbalance]);
    tag(&mut profile, |region| (region.name == "wait").then_some("COMM"));
    assert_eq!(kinds(&profile), []);
}

#[test]
fn a_slow_rank_is_told_once_and_not_in_each_region() {
    fn slow(rank: u32, ns: u64) -> Option<u64> {
        Some(if rank == 5 { ns * 3 / 2 } else { ns })
    }
    let tree = [
        node("main", None, |rank| slow(rank, 6_000_000)),
        node("a", Some(0), |rank| slow(rank, 1_000_000)),
        node("b", Some(0), |rank| slow(rank, 2_000_000)),
        node("c", Some(0), |rank| slow(rank, 3_000_000)),
    ];
    let found = hints(&profile_of(&tree, RANKS));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].kind, found[0].rank(), found[0].place),
        (FindingKind::Straggler, Some(5), None)
    );
    assert_eq!(found[0].words.headline, "Rank 5 is slow everywhere");
    assert_eq!(
        found[0].words.evidence,
        "It takes 50.0% more time than the median rank, and is slower in 3 of 3 regions: 3.00 ms in all."
    );
}

#[test]
fn iterations_that_grow_or_begin_slowly_are_told_with_their_number() {
    let tree = [
        node("main", None, |_| Some(10_000_000)),
        node("step\u{1b}[2J", Some(0), |_| Some(8_000_000)),
        node("read", Some(0), |_| Some(2_000_000)),
    ];
    let mut maps: Vec<EventMap> = (0..RANKS).map(|rank| event_map(&tree, rank)).collect();
    let step: Vec<(u32, u64)> = (0..40).map(|i| (1, if i < 25 { 150 } else { 290 })).collect();
    with_series(&mut maps, "step\u{1b}[2J", &step);
    with_series(&mut maps, "read", &[(1, 900), (1, 100), (1, 101), (1, 99), (1, 100)]);
    let found = hints(&profile(&maps));
    let told: Vec<_> = found.iter().map(|hint| (hint.kind, hint.iteration)).collect();
    assert_eq!(
        told,
        [(FindingKind::Growth, Some(25)), (FindingKind::SlowFirst, Some(0))],
        "{found:?}"
    );
    assert!(
        found[0].words.headline.starts_with(r"step\u{1b}[2J takes longer"),
        "{}",
        found[0].words.headline
    );
    assert!(found.len() <= FINDINGS_MAX);
}

#[test]
fn a_series_is_laid_over_the_ranks() {
    let tree = [node("main", None, |_| Some(1_000))];
    let mut maps: Vec<EventMap> = (0..3).map(|rank| event_map(&tree, rank)).collect();
    with_series(&mut maps, "main", &[(1, 10), (1, 30), (1, 20)]);
    maps[1].values[0].series.truncate(2);
    maps[2].values[0].series.clear();
    let profile = profile(&maps);
    let (index, _) = profile.callpaths.iter().next().expect("main");
    let found = Iterations::of_callpath(&profile, index, 100).expect("two ranks have one");
    assert_eq!((found.visits, found.visits_per_point, found.folded), (3, 1, 1));
    let point =
        |ranks, min, mean, max, max_rank| IterationPoint { ranks, min, mean, max, max_rank };
    let expected = [
        point(2, 10.0, 10.5, 11.0, 1),
        point(2, 30.0, 30.5, 31.0, 1),
        point(1, 20.0, 20.0, 20.0, 0),
    ];
    assert_eq!(found.points, expected);
    // Two visits per point: the last point has one.
    let found = Iterations::of_callpath(&profile, index, 2).expect("two ranks have one");
    assert_eq!((found.visits_per_point, found.points.len(), found.points[0].mean), (2, 2, 20.5));
}

#[test]
fn folded_series_are_told_from_others() {
    let tree = [node("main", None, |_| Some(1_000))];
    let mut maps: Vec<EventMap> = (0..2).map(|rank| event_map(&tree, rank)).collect();
    with_series(&mut maps[..1], "main", &[(4, 10), (4, 20), (1, 30)]);
    with_series(&mut maps[1..], "main", &[(2, 40), (2, 60), (2, 80), (2, 80), (1, 90)]);
    maps[1].values[0].series.iter_mut().skip(4).for_each(|bucket| bucket.execution = 1);
    let profile = profile(&maps);
    let (index, _) = profile.callpaths.iter().next().expect("main");
    let found = Iterations::of_callpath(&profile, index, 100).expect("both ranks have one");
    assert_eq!((found.visits, found.visits_per_point, found.folded), (9, 4, 4));
    let max: Vec<f64> = found.points.iter().map(|point| point.max).collect();
    assert_eq!(max, [50.0, 80.0, 90.0]);
    assert_eq!(found.execution_starts, Vec::<usize>::new());
    maps[0].values[0].series.clear();
    let found =
        Iterations::of_callpath(&self::profile(&maps), index, 100).expect("one rank has one");
    assert_eq!((found.visits_per_point, found.execution_starts), (2, vec![4]));
}
