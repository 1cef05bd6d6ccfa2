//! A profile written as text is read back to the nanosecond, whatever the names and however sparse
//! the values.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tinyprof_format::file::{ProfileWriter, read_profile};
use tinyprof_format::model::{
    CallpathId, CallpathValues, Edge, EdgeKey, EdgeKind, EventMap, ExecutionSummary, MessageKey,
    MessageKind, Mode, Profile, RankFacts, Region, RegionKind, SeriesBucket, SiteId, Traffic,
};
use tinyprof_format::text::{Omitted, read_text, write_text};

/// Generates executions and, if there is a series, the visits of each.
fn values() -> impl Strategy<Value = CallpathValues> {
    let visits = prop::collection::vec(0_u64..1 << 40, 1..5);
    let executions = prop::collection::btree_map(0_u32..9, visits, 1..4);
    (executions, any::<bool>()).prop_map(|(executions, each)| {
        let mut values = CallpathValues::default();
        for (execution, visits_ns) in executions {
            let mut sum = ExecutionSummary::of_one_visit(execution, visits_ns[0]);
            visits_ns[1..]
                .iter()
                .for_each(|&ns| sum.absorb(&ExecutionSummary::of_one_visit(execution, ns)));
            values.executions.push(sum);
            if each {
                values
                    .series
                    .extend(visits_ns.iter().map(|&ns| SeriesBucket::of_one_visit(execution, ns)));
            }
        }
        values
    })
}

fn region(site: u64, name: &str, constants: &BTreeMap<String, String>) -> Region {
    Region {
        site: SiteId::from_bits(site),
        name: name.into(),
        module: "m".into(),
        file: "m.rs".into(),
        line: 1,
        column: 1,
        kind: RegionKind::Function,
        mode: Mode::Total,
        rank_local: false,
        constants: constants.clone(),
    }
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("solve".to_owned()),
        Just("null".to_owned()),
        Just(String::new()),
        "[-|+<>\",%\n~0-9a-c ]{1,6}",
        any::<String>()
    ]
}

type Plan = Vec<(usize, String, BTreeMap<String, String>, Vec<Option<CallpathValues>>)>;

/// Generates callpaths below earlier ones, some of the same name, with values on some of two ranks.
fn plan() -> impl Strategy<Value = Plan> {
    let key = prop_oneof![Just("tag".to_owned()), Just("times".to_owned()), name()];
    let constants = prop::collection::btree_map(key, name(), 0..3);
    let ranks = prop::collection::vec(prop::option::of(values()), 2);
    prop::collection::vec((any::<usize>(), name(), constants, ranks), 1..9)
}

fn written(plan: &Plan) -> Profile {
    let mut known: Vec<CallpathId> = Vec::new();
    let mut records = [Vec::new(), Vec::new()];
    for (site, (parent, name, constants, ranks)) in (1_u64..).zip(plan) {
        // One in three is a root.
        let parent = known.get(parent % (known.len() * 3 / 2 + 1)).copied();
        let site_id = SiteId::from_bits(site);
        let id = parent.map_or(CallpathId::root(site_id), |p| p.child(site_id));
        known.push(id);
        for (records, values) in records.iter_mut().zip(ranks) {
            records.push((
                id,
                parent,
                region(site, name, constants),
                values.clone().unwrap_or_default(),
            ));
        }
    }
    let ranks = records.map(|records| EventMap::from_records(records, RankFacts::default()));
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let target = scratch.path().join("run");
    let path = ProfileWriter::new().with_ranks_per_part(2).write(&target, &ranks);
    read_profile(&path.expect("it is written")).expect("it is read")
}

/// The data of a callpath that the text must preserve: its names, its constants, and for each rank
/// the execution and the time of each visit or sum.
type Kept = (Vec<String>, BTreeMap<String, String>, Vec<Vec<(u32, u64)>>);

fn kept(profile: &Profile) -> Vec<Kept> {
    let mut all: Vec<Kept> = Vec::new();
    for (index, callpath) in profile.callpaths.iter() {
        let (mut names, mut above) = (vec![callpath.region.name.clone()], callpath.parent);
        while let Some(at) = above {
            names.push(profile.callpaths.get(at).region.name.clone());
            above = profile.callpaths.get(at).parent;
        }
        let ranks =
            profile.values[index.row()].iter().map(|values| match values.series.as_slice() {
                [] => values.executions.iter().map(|e| (e.execution, e.sum_ns)).collect(),
                series => series.iter().map(|b| (b.execution, b.sum_ns)).collect(),
            });
        all.push((names, callpath.region.constants.clone(), ranks.collect()));
    }
    all.sort();
    all
}

fn text_of(profile: &Profile) -> Vec<u8> {
    let mut text = Vec::new();
    write_text(profile, &mut text).expect("text is written");
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn every_time_comes_back(plan in plan()) {
        let profile = written(&plan);
        let text = text_of(&profile);
        let imported = read_text(&text).expect("our own text is read");
        prop_assert_eq!(&imported.salvage.problems, &[], "{}", String::from_utf8_lossy(&text));
        prop_assert_eq!(kept(&imported.profile), kept(&profile));
        let again = read_text(&text_of(&imported.profile)).expect("our own text is read");
        prop_assert_eq!(kept(&again.profile), kept(&profile));
    }
}

fn one_callpath(values: CallpathValues) -> Profile {
    written(&vec![(0, "main".into(), BTreeMap::new(), vec![Some(values), None])])
}

#[test]
fn large_numbers_of_executions_are_numbered_anew() {
    let executions =
        vec![ExecutionSummary::of_one_visit(3, 1), ExecutionSummary::of_one_visit(u32::MAX - 1, 2)];
    let profile = one_callpath(CallpathValues { executions, ..CallpathValues::default() });
    let text = String::from_utf8(text_of(&profile)).expect("UTF-8");
    assert!(text.ends_with("\"0.000000001-0.000000002|\"\n"), "{text}");
}

#[test]
fn a_folded_series_stands_for_its_sums() {
    let bucket = SeriesBucket { execution: 0, visits: 4, sum_ns: 10, min_ns: 1, max_ns: 5 };
    let executions =
        vec![ExecutionSummary::of_one_visit(0, 4), ExecutionSummary::of_one_visit(1, 6)];
    let profile = one_callpath(CallpathValues {
        executions,
        series: vec![bucket],
        ..CallpathValues::default()
    });
    let text = text_of(&profile);
    let imported = read_text(&text).expect("it is read").profile;
    assert_eq!(imported.values[0][0].inclusive_ns(), 10, "{}", String::from_utf8_lossy(&text));
}

#[test]
fn what_is_left_out_is_counted() {
    let executions = vec![ExecutionSummary {
        visits: 5,
        sum_variance_ns2: 1.0,
        ..ExecutionSummary::of_one_visit(0, 4)
    }];
    let metrics = [(
        "mem".to_owned(),
        tinyprof_format::model::MetricValues {
            executions: vec![tinyprof_format::model::MetricSummary::of_one_value(0, 1.0)],
            series: Vec::new(),
        },
    )];
    let profile = one_callpath(CallpathValues {
        executions,
        metrics: metrics.into(),
        messages: [(MessageKey::new(MessageKind::FileOut, 0, 8), Traffic { count: 1, bytes: 8 })]
            .into(),
        edges: [(
            EdgeKey { kind: EdgeKind::Flow, partner: 0, from: EdgeKey::UNKNOWN },
            Edge::of_one_instance(3),
        )]
        .into(),
        series: Vec::new(),
    });
    let omitted = write_text(&profile, &mut Vec::new()).expect("it is written");
    assert_eq!(
        omitted,
        Omitted { metrics: 1, messages: 1, edges: 1, sums_of_visits: 1, estimates: 1 }
    );
}
