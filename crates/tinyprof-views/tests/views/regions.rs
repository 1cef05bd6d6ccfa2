//! Reports by region.

use insta::assert_snapshot;
use tinyprof_format::model::{CallpathId, EventMap, Profile, RankFacts, Region, SiteId};
use tinyprof_report::{Report, TextOptions, Totals};
use tinyprof_views::{Top, View as _, by_region, json_text, report_json};

use crate::fixture::{profile, region, values};

/// A visit of the region with this name and site, below the record at this position.
type Visited = (&'static str, u64, Option<usize>, u64);

/// `walk` calls itself by way of `step`; `send` is called at three places.
const TREE: [Visited; 7] = [
    ("main", 1, None, 1_000),
    ("walk", 2, Some(0), 700),
    ("step", 3, Some(1), 600),
    ("walk", 2, Some(2), 500),
    ("send", 4, Some(3), 300),
    ("send", 4, Some(1), 40),
    ("send", 4, Some(0), 100),
];

fn event_map(tree: &[Visited], rank: u32, region_of: impl Fn(u64, &str) -> Region) -> EventMap {
    let mut ids: Vec<CallpathId> = Vec::new();
    let mut records = Vec::new();
    for (name, site, parent, ns) in tree {
        let parent = parent.map(|at| ids[at]);
        let site = SiteId::from_bits(*site);
        let id = parent.map_or_else(|| CallpathId::root(site), |parent| parent.child(site));
        ids.push(id);
        let ns = ns * 1_000_000 * u64::from(rank + 1);
        records.push((id, parent, region_of(site.to_bits(), name), values(ns)));
    }
    EventMap::from_records(records, RankFacts::default())
}

fn run(region_of: impl Fn(u64, &str) -> Region) -> Profile {
    let maps: Vec<EventMap> = (0..2).map(|rank| event_map(&TREE, rank, &region_of)).collect();
    profile(&maps)
}

fn of_regions(profile: &Profile) -> Report {
    by_region(&Totals::of_profile(profile))
}

#[test]
fn a_region_is_summed_over_its_callpaths_and_no_time_counts_twice() {
    let report = report_json(&of_regions(&run(region))).to_value();
    let regions = report["regions"].as_array().expect("a list");
    let of = |name: &str| {
        let found = regions.iter().find(|region| region["name"] == name).expect(name);
        let ms = |time: &str, what: &str| found[time][what].as_u64().expect("a time") / 1_000_000;
        assert_eq!(found["visits"], found["callpaths"].as_u64().expect("a number") * 2 * 20);
        let sums = ["inclusive_ns", "exclusive_ns"].map(|time| ms(time, "sum"));
        (sums, ms("exclusive_ns", "max"), found["callpaths"].as_u64())
    };
    assert_eq!(regions.len(), 4);
    assert_eq!(of("main"), ([3_000, 600], 400, Some(1)));
    // Inclusive is that of the outer callpath; exclusive is 60 outside and 200 inside.
    assert_eq!(of("walk"), ([2_100, 780], 520, Some(2)));
    assert_eq!(of("step"), ([1_800, 300], 200, Some(1)));
    assert_eq!(of("send"), ([1_320, 1_320], 880, Some(3)));
    assert_eq!(report["total_inclusive_ns"], 3_000_000_000_u64);
}

#[test]
fn the_flat_table_is_sorted_by_exclusive_time() {
    let report = of_regions(&run(region));
    assert_snapshot!(report.to_text(&TextOptions::default().with_width(120)));
    assert_snapshot!(Top::new(&report, 2).text(80));
}

#[test]
fn the_tree_says_which_regions_take_the_most_time() {
    let text = Report::of_profile(&run(region)).to_text(&TextOptions::default());
    let line = text.lines().find(|line| line.starts_with("regions: ")).expect("a line");
    assert_eq!(
        line,
        "regions: send 44.0% of the time in 3 callpaths, walk 26.0% in 2 callpaths, main 20.0%"
    );
}

#[test]
fn a_tree_that_folds_too_much_is_followed_by_regions() {
    let names: Vec<String> = (0..100).map(|at| format!("part_{at}")).collect();
    let tree = |parts: usize| {
        let mut records = Vec::new();
        let main = CallpathId::root(SiteId::from_bits(1));
        records.push((main, None, region(1, "main"), values(1_000_000_000)));
        for (site, name) in (100..).zip(&names[..parts]) {
            let part = main.child(SiteId::from_bits(site));
            let ns = 1_000_000_000 / parts as u64;
            records.push((part, Some(main), region(site, name), values(ns)));
            let kernel = part.child(SiteId::from_bits(2));
            records.push((kernel, Some(part), region(2, "kernel"), values(ns * 9 / 10)));
        }
        let maps = [EventMap::from_records(records, RankFacts::default())];
        Report::of_profile(&profile(&maps)).to_text(&TextOptions::default())
    };
    let text = tree(100);
    assert!(text.lines().count() <= 40, "{text}");
    let (_, list) = text.split_once("more than a third is folded").expect(&text);
    let kernel = list.lines().find(|line| line.ends_with("kernel")).expect(&text);
    assert_eq!(kernel.split_whitespace().collect::<Vec<_>>(), ["900ms", "90.0%", "100", "kernel"]);
    assert!(!tree(12).contains("is folded"), "all fit");
}

#[test]
fn calls_of_an_mpi_function_are_one_region() {
    let profile = run(|site, name| {
        // Each call site has its own site.
        if name == "send" {
            Region { module: "mpi".into(), ..region(site, "MPI_Send at f (a.c:3)") }
        } else {
            region(site, name)
        }
    });
    let json = json_text(&report_json(&of_regions(&profile)).to_value());
    assert!(json.contains("\"name\": \"MPI_Send\""), "{json}");
    let hint = of_regions(&profile).findings().iter().all(|hint| hint.place.is_none());
    assert!(hint, "the table has no callpaths");
}
