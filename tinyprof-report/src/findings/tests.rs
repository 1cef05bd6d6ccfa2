//! Tests of each threshold from both sides.

use super::*;

/// Returns regions with the same times on all ranks except the last, which takes `percent` of that
/// time in the first `slow` of them.
fn regions(count: usize, slow: usize, percent: u64) -> Vec<Vec<u64>> {
    let of = |region: usize| {
        let ns = 1_000 * (region as u64 + 1);
        vec![ns, ns, ns, if region < slow { ns * percent / 100 } else { ns }]
    };
    (0..count).map(of).collect()
}

#[test]
fn a_straggler_is_slow_enough_in_enough_regions() {
    let found = straggler(&regions(4, 4, 111)).expect("eleven percent in all of them");
    assert_eq!((found.rank, found.slow_regions, found.regions), (3, 4, 4));
    assert!((found.slower_by - 0.11).abs() < 1e-12 && (found.lost_ns - 1_100.0).abs() < 1e-9);
    assert_eq!(straggler(&regions(4, 4, 109)), None);
    // Three of four regions are enough, two of four are not.
    assert!(straggler(&regions(4, 3, 130)).is_some());
    assert_eq!(straggler(&regions(4, 2, 200)), None);
}

#[test]
fn few_regions_or_ranks_make_no_straggler() {
    assert!(straggler(&regions(STRAGGLER_REGIONS_MIN, STRAGGLER_REGIONS_MIN, 200)).is_some());
    assert_eq!(straggler(&regions(STRAGGLER_REGIONS_MIN - 1, STRAGGLER_REGIONS_MIN, 200)), None);
    assert!(straggler(&vec![vec![10, 10, 20]; 3]).is_some());
    assert_eq!(straggler(&vec![vec![10, 20]; 3]), None);
    assert_eq!(straggler(&[]), None);
    assert_eq!(straggler(&vec![vec![0, 0, 0]; 3]), None);
}

#[test]
fn of_two_stragglers_the_one_that_loses_most_is_told() {
    let found = straggler(&vec![vec![100, 100, 100, 150, 140]; 3]).expect("two of them");
    assert_eq!(found.rank, 3);
}

#[test]
fn an_imbalance_is_a_part_of_the_mean_and_of_the_run() {
    assert_eq!(imbalanced(125.0, 100.0, 1_000.0), Some(25.0));
    assert_eq!(imbalanced(124.9, 100.0, 1_000.0), None);
    assert_eq!(imbalanced(150.0, 100.0, 2_500.0), Some(50.0));
    assert_eq!(imbalanced(150.0, 100.0, 2_501.0), None);
    assert_eq!(imbalanced(0.0, 0.0, 0.0), None);
}

#[test]
fn a_region_is_too_small_if_its_measurement_counts() {
    // 25 us are one percent of 2.5 ms.
    assert!(is_too_small(1_000, 499_000.0, 25_000.0, 2_500_000.0));
    assert!(!is_too_small(1_000, 500_000.0, 25_000.0, 2_500_000.0));
    assert!(!is_too_small(1_000, 499_000.0, 25_000.0, 2_500_001.0));
    assert!(!is_too_small(0, 0.0, 0.0, 0.0));
}
