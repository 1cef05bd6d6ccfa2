//! Tests of the costs of a visit, which differ between hosts.

use tinyprof_format::file::read_manifest;

use super::*;

/// Flushes ranks whose costs of a visit and their errors are these, in picoseconds. Returns those
/// of the manifest: of any visit, and of one of a root region.
fn check(costs: &[(u64, u64)], expected: (u64, u64)) {
    let ranks: Vec<_> = (0..costs.len() as u32).map(|r| rank(r, &[0, 1], 1, 1)).collect();
    let scratch = tempfile::tempdir().unwrap();
    virtual_ranks::run(ranks.len() as u32, |communicator| {
        let number = communicator.rank() as usize;
        let (visit_cost_ps, visit_cost_error_ps) = costs[number];
        let plan = plan(scratch.path(), Some(1), UNLIMITED);
        let metadata = RunMetadata {
            visit_cost_ps,
            visit_cost_error_ps,
            root_visit_cost_ps: 2 * visit_cost_ps,
            root_visit_cost_error_ps: 2 * visit_cost_error_ps,
            ..plan.metadata.clone()
        };
        let (plan, map) = (Plan { metadata, ..plan }, &ranks[number]);
        async move { flush_map(&communicator, map, &plan).await.unwrap() }
    });
    let found = read_manifest(&scratch.path().join("p.tprof")).unwrap().metadata;
    assert_eq!((found.visit_cost_ps, found.visit_cost_error_ps), expected, "{costs:?}");
    let (cost_ps, error_ps) = expected;
    let of_root = (found.root_visit_cost_ps, found.root_visit_cost_error_ps);
    assert_eq!(of_root, (2 * cost_ps, 2 * error_ps), "{costs:?}");
}

#[test]
fn the_error_covers_the_costs_of_all_ranks() {
    check(&[(22_000, 3_000)], (22_000, 3_000));
    check(&[(22_000, 3_000), (23_000, 1_000)], (22_000, 3_000));
    check(&[(22_000, 3_000), (40_000, 5_000), (22_000, 0)], (22_000, 23_000));
    check(&[(22_000, 3_000), (12_000, 4_000)], (22_000, 14_000));
}

#[test]
fn ranks_that_do_not_know_their_cost_count_for_nothing() {
    check(&[(22_000, 3_000), (0, 0)], (22_000, 3_000));
    check(&[(0, 0), (22_000, 3_000)], (0, 0));
}
