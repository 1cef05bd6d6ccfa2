//! The report as JSON.

use insta::assert_snapshot;
use serde_json::json;
use tinyprof_format::model::{CallpathTable, Losses};
use tinyprof_report::{RankStatistics, Report, Spread, Statistics};
use tinyprof_views::{json_text, report_json};

use crate::fixture::{Node, event_map, fft, manifest, profile, profile_of, with_metrics};

#[test]
fn everything_is_there_in_raw_numbers() {
    let tree = [
        Node { name: "main", parent: None, ns: |rank| Some(1_000 + u64::from(rank) * 200) },
        Node { name: "odd\u{1b}", parent: Some(0), ns: |rank| (rank == 1).then_some(300) },
    ];
    let mut profile = profile_of(&tree, 2);
    profile.manifest.losses = Losses { visits_open: 3, ..Losses::default() };
    assert_snapshot!(json_text(&report_json(&Report::of_profile(&profile)).to_value()));
}

#[test]
fn paths_are_those_of_the_table() {
    let profile = profile_of(&fft(), 2);
    let json = report_json(&Report::of_profile(&profile)).to_value();
    let callpaths = json["callpaths"].as_array().expect("a list");
    assert_eq!(callpaths.len(), profile.callpaths.len());
    for ((index, _), callpath) in profile.callpaths.iter().zip(callpaths) {
        assert_eq!(callpath["path"], profile.callpaths.path(index));
    }
}

#[test]
fn a_deep_tree_of_long_names_stays_of_bounded_size() {
    let name = "n".repeat(1_000);
    let tree: Vec<Node<'_>> = (0..200_usize)
        .map(|depth| Node { name: &name, parent: depth.checked_sub(1), ns: |_| Some(1_000) })
        .collect();
    let json = report_json(&Report::of_profile(&profile_of(&tree, 1))).to_value();
    assert!(json["callpaths"][15]["path"].is_string());
    assert!(json["callpaths"][199]["path"].is_null());
    assert_eq!(json["callpaths"][199]["parent"], 198);
}

#[test]
fn a_sum_beyond_64_bits_is_a_float() {
    let time = Spread { sum_ns: 1 << 65, min_ns: u64::MAX, max_ns: u64::MAX, ..Spread::default() };
    let row = RankStatistics {
        ranks: 2,
        visits: u64::MAX,
        inclusive: time,
        exclusive: time,
        ..RankStatistics::default()
    };
    let tree = [Node { name: "main", parent: None, ns: |_| Some(1) }];
    let callpaths: CallpathTable = profile_of(&tree, 1).callpaths;
    let report = Report::new(&manifest(2, 1), &callpaths, Statistics::from_rows(vec![row]));
    let json = report_json(&report).to_value();
    assert_eq!(json["total_inclusive_ns"], 36_893_488_147_419_103_232.0);
    assert_eq!(json["callpaths"][0]["inclusive_ns"]["max"], u64::MAX);
    assert_eq!(json["name"], "fft");
}

#[test]
fn metrics_are_told_over_all_ranks_by_key() {
    let maps = with_metrics(vec![event_map(&fft(), 0), event_map(&fft(), 1)], 0);
    let profile = profile(&maps);
    let json = report_json(&Report::of_profile(&profile)).to_value();
    let metrics = |path: &str| {
        let index = profile.find(path).expect("a callpath of the FFT");
        json["callpaths"][index.row()]["metrics"].clone()
    };
    let mem = json!({"mem": {"values": 4, "sum": 53.0, "min": 12.0, "mean": 13.25, "max": 15.0}});
    assert_eq!(metrics("main"), mem);
    let residual = json!({"values": 3, "sum": null, "min": -1e-9, "mean": null, "max": null});
    assert_eq!(metrics("main<transform"), json!({"residual": residual}));
    assert_eq!(metrics("main<plan"), json!({}));
    let alone = report_json(&Report::of_event_map(&maps[0], "fft")).to_value();
    assert_eq!(alone["callpaths"][0]["metrics"]["mem"]["mean"], 13.0);
}
