//! What is written is read back, exactly, whatever the ranks held.
#![expect(clippy::unwrap_used, reason = "the sites of this test are small numbers")]

use proptest::prelude::*;
use tinyprof_format::file::{read_profile, write_profile};
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, Mode, PhaseTimes, RankFacts, Region, RegionKind,
    RunMetadata, SeriesBucket, SiteId,
};

fn region(site: u64) -> Region {
    let name = match site % 4 {
        0 => "solve".to_owned(),
        1 => "a<b,\"c\"|d".to_owned(),
        2 => "größe 😀".to_owned(),
        _ => "n".repeat(4096),
    };
    Region {
        site: SiteId::from_bits(site),
        name,
        module: format!("krate::m{}", site % 3),
        file: "src/main.rs".into(),
        line: u32::try_from(site).unwrap(),
        column: 5,
        kind: [RegionKind::Function, RegionKind::Scope, RegionKind::Loop][usize::try_from(site % 3).unwrap()],
        mode: if site.is_multiple_of(2) { Mode::Each } else { Mode::Total },
        rank_local: site % 5 == 2,
        constants: (0..site % 3).map(|i| (format!("k{i}"), format!("\"größe\"\n{site}"))).collect(),
    }
}

fn values() -> impl Strategy<Value = CallpathValues> {
    let summary = (0_u32..3, any::<u32>(), any::<u32>(), 1_u64..5).prop_map(|(gap, a, b, visits)| {
        let (min, max) = (u64::from(a.min(b)), u64::from(a.max(b)));
        let one = ExecutionSummary::of_one_visit(gap, min);
        if visits == 1 {
            return one;
        }
        let square = one.sum_squares_ns2 * 3.0;
        ExecutionSummary { visits, sum_ns: min + max, max_ns: max, sum_squares_ns2: square, ..one }
    });
    let bucket = (0_u32..4, any::<u32>(), 1_u32..3).prop_map(|(execution, ns, visits)| SeriesBucket {
        visits,
        min_ns: u64::from(ns) / u64::from(visits),
        ..SeriesBucket::of_one_visit(execution, u64::from(ns))
    });
    (prop::collection::vec(summary, 1..6), prop::collection::vec(bucket, 0..40)).prop_map(
        |(mut executions, mut series)| {
            let mut next = 0;
            for e in &mut executions {
                e.execution += next;
                next = e.execution + 1;
            }
            series.sort_by_key(|b| b.execution);
            CallpathValues { executions, series }
        },
    )
}

/// One rank: a tree of callpaths whose parents are picked among the earlier ones.
fn event_map() -> impl Strategy<Value = EventMap> {
    let facts = ("[a-z]{1,8}", any::<u32>(), 0_u32..9).prop_map(|(host, process_id, threads)| RankFacts {
        host,
        process_id,
        threads,
        ..Default::default()
    });
    let visit = (0_u64..6, any::<prop::sample::Index>(), values());
    (prop::collection::vec(visit, 0..12), facts).prop_map(|(visits, facts)| {
        let mut known: Vec<CallpathId> = Vec::new();
        let mut records = Vec::new();
        for (site, parent, values) in visits {
            let parent = (!known.is_empty() && site > 1).then(|| *parent.get(&known));
            let site_id = SiteId::from_bits(site);
            let id = parent.map_or(CallpathId::root(site_id), |p| p.child(site_id));
            if !known.contains(&id) {
                known.push(id);
                records.push((id, parent, region(site), values));
            }
        }
        EventMap::from_records(records, facts)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_profile_is_the_union_of_what_the_ranks_held(
        ranks in prop::collection::vec(event_map(), 1..9),
        per_part in 1_usize..5,
    ) {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("run");
        let path =
            write_profile(&target, &ranks, per_part, RunMetadata::default(), PhaseTimes::default()).unwrap();
        prop_assert_eq!(&path, &scratch.path().join("run.tprof"));
        let profile = read_profile(&path).unwrap();
        let absent = CallpathValues::default();
        prop_assert_eq!(profile.ranks.len(), ranks.len());
        prop_assert_eq!(profile.manifest.parts.len(), ranks.len().div_ceil(per_part));
        for (rank, map) in ranks.iter().enumerate() {
            let index = map.callpaths.index_by_id();
            prop_assert_eq!(&profile.ranks[rank].host, &map.facts.host);
            prop_assert_eq!(profile.ranks[rank].process_id, map.facts.process_id);
            for (at, callpath) in profile.callpaths.iter() {
                let expected = index.get(&callpath.id).map(|i| &map.values[i.row()]);
                prop_assert_eq!(profile.values(at, rank), expected.unwrap_or(&absent));
            }
        }
    }
}
