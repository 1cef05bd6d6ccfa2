//! Who holds the graphs of ranks: the aggregator of each group those of its group, nobody all.

use super::*;

#[test]
fn rank_0_gets_the_edges_of_its_own_group_alone() {
    let sites: Vec<u64> = (4..24).collect();
    let ranks: Vec<_> = (0..64).map(|number| rank(number, &sites, 1, 1)).collect();
    let scratch = tempfile::tempdir().unwrap();
    let plan = plan(scratch.path(), Some(8), UNLIMITED);
    let (_, sent) = virtual_ranks::run_counted(64, |communicator| {
        let (map, plan) = (&ranks[communicator.rank() as usize], &plan);
        async move { flush_map(&communicator, map, plan).await.unwrap() }
    });
    let bytes_from = |from: std::ops::Range<u32>| -> usize {
        let to_0 = sent.iter().filter(|message| message.to == 0 && from.contains(&message.from));
        to_0.map(|message| message.bytes).sum()
    };
    let (of_group, of_others) = (bytes_from(1..8), bytes_from(8..64));
    // From the others come statistics, united on the way, and where their parts are.
    assert!(of_others * 4 < of_group, "{of_others} bytes, {of_group} of its own group");
}

#[test]
fn edges_of_a_wide_run_are_those_of_alike_ranks_and_of_a_narrow_one_exact() {
    let id = CallpathId::root(SiteId::from_bits(4));
    let of = |number: u32| {
        let key = EdgeKey { kind: EdgeKind::Flow, partner: 0, from: id };
        let edge = Edge::of_one_instance(40_000 + u64::from(number));
        let values = CallpathValues {
            executions: vec![ExecutionSummary::of_one_visit(0, 1_000_000_000)],
            edges: [(key, edge)].into(),
            ..CallpathValues::default()
        };
        EventMap::from_records([(id, None, region(4), values)], RankFacts::default())
    };
    for (ranks, is_joined) in [(63, false), (64, true)] {
        let maps: Vec<EventMap> = (0..ranks).map(of).collect();
        let scratch = tempfile::tempdir().unwrap();
        flush_all(&maps, &plan(scratch.path(), Some(2), UNLIMITED));
        let profile = read_profile(&scratch.path().join("p.tprof")).unwrap();
        let sum_ns = |rank: &CallpathValues| rank.edges.values().next().unwrap().sum_ns;
        let sums: HashSet<u64> = profile.values[0].iter().map(sum_ns).collect();
        assert_eq!(sums.len(), if is_joined { 2 } else { 63 }, "a mean in each part");
    }
}
