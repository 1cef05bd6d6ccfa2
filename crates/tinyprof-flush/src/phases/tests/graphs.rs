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
