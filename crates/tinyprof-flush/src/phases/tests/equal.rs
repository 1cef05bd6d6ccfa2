//! Tests of sites that get one name: they are one row, with the values of all.

use super::*;

#[inline(never)]
fn marked() -> usize {
    marked as fn() -> usize as usize
}

/// Returns the address of the function in the file of this executable.
fn address_in_file() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let executable = std::env::current_exe().unwrap();
    let first = maps.lines().find(|line| line.ends_with(executable.to_str().unwrap())).unwrap();
    marked() - usize::from_str_radix(first.split('-').next().unwrap(), 16).unwrap()
}

/// Returns what a rank has measured that has called from these addresses of the function, each
/// with a visit of some ns, and the flow between them.
fn rank(calls: &[(usize, u64)]) -> EventMap {
    let main = CallpathId::root(SiteId::from_bits(1));
    let root = (main, None, Region::named(SiteId::from_bits(1), "main"), CallpathValues::default());
    let mut before = EdgeKey::UNKNOWN;
    let below = calls.iter().map(|&(at, ns)| {
        let site = SiteId::from_bits(100 + at as u64);
        let executions = vec![ExecutionSummary::of_one_visit(0, ns)];
        let key = EdgeKey { kind: EdgeKind::Flow, partner: 0, from: before };
        before = main.child(site);
        let edges = [(key, Edge::of_one_instance(1))].into();
        let values = CallpathValues { executions, edges, ..CallpathValues::default() };
        let region = Region {
            module: "mpi".into(),
            file: std::env::current_exe().unwrap().to_str().unwrap().into(),
            ..Region::named(site, format!("MPI_Send at test+{:#x}", address_in_file() + 1 + at))
        };
        (main.child(site), Some(main), region, values)
    });
    let below: Vec<_> = below.collect();
    EventMap::from_records([root].into_iter().chain(below), RankFacts::default())
}

#[test]
fn copies_of_a_call_are_one_row_on_all_ranks() {
    let ranks = [
        rank(&[(1, 1)]),
        rank(&[(2, 20), (1, 300)]),
        rank(&[(2, 4000)]),
        rank(&[]),
        EventMap::default(),
    ];
    for series in [SeriesGather::Padded, SeriesGather::Counts] {
        for (aggregators, precision) in [(1, Precision::Exact), (3, Precision::EightBit)] {
            let scratch = tempfile::tempdir().unwrap();
            let state = RunState { precision, ..RunState::default() };
            let plan = Plan { series, state, ..plan(scratch.path(), Some(aggregators), 64) };
            let flushed = flush_all(&ranks, &plan);
            let profile = read_profile(&scratch.path().join("p.tprof")).unwrap();
            let names: Vec<&str> =
                profile.callpaths.rows().iter().map(|row| row.region.name.as_str()).collect();
            assert_eq!(names.len(), 2, "{names:?}");
            assert!(names[1].starts_with("MPI_Send at ") && names[1].contains("marked"));
            let found = profile.values[1].iter().map(|of| (of.visits(), of.inclusive_ns()));
            let expected = [(1, 1), (2, 320), (1, 4000), (0, 0), (0, 0)];
            assert_eq!(found.collect::<Vec<_>>(), expected);
            let flow = |from| EdgeKey { kind: EdgeKind::Flow, partner: 0, from };
            let own = profile.callpaths.rows()[1].id;
            let edges = |rank: usize| profile.values[1][rank].edges.keys().copied();
            assert_eq!(edges(0).collect::<Vec<_>>(), [flow(EdgeKey::UNKNOWN)]);
            assert_eq!(edges(1).collect::<Vec<_>>(), [flow(EdgeKey::UNKNOWN), flow(own)]);
            let report = flushed[0].report.as_ref().unwrap();
            assert_eq!(report.callpaths, profile.callpaths);
            assert_eq!(report.statistics.row(1).visits, 4);
        }
    }
}
