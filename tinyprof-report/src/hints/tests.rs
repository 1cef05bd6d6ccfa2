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

/// Returns `count` iterations that rise linearly from 100 ns by `percent` percent.
fn ramp(count: usize, percent: f64) -> Vec<f64> {
    let rest = float_of(count - 1);
    (0..count).map(|i| 100.0 + percent * float_of(i.saturating_sub(1)) / rest).collect()
}

#[test]
fn growth_is_great_enough() {
    // The means of the first and last quarters are three quarters of the ramp apart.
    let found = growing(&ramp(41, 40.0)).expect("0.75 * 40 % are enough");
    assert!(found.late_ns / found.early_ns > 1.0 + GROWTH_MIN);
    assert!((15..=26).contains(&found.since), "{found:?}");
    assert_eq!(growing(&ramp(41, 25.0)), None);
    assert_eq!(growing(&ramp(41, -40.0)), None);
}

#[test]
fn a_step_is_growth_and_says_since_when() {
    let step =
        |at: usize| -> Vec<f64> { (0..40).map(|i| if i < at { 100.0 } else { 150.0 }).collect() };
    let found = growing(&step(30)).expect("a step");
    assert_eq!((found.since, found.early_ns, found.late_ns), (30, 100.0, 150.0));
    assert!((found.lost_ns - 500.0).abs() < 1e-9);
    // The last three alone are an event, not growth.
    assert_eq!(growing(&step(37)), None);
}

#[test]
fn growth_in_no_order_or_of_few_iterations_is_none() {
    // The last quarter is longer because of one outlier.
    let mut outlier = vec![100.0; 40];
    outlier[35] = 1_000.0;
    assert_eq!(growing(&outlier), None);
    assert!(growing(&ramp(GROWTH_ITERATIONS_MIN, 60.0)).is_some());
    assert_eq!(growing(&ramp(GROWTH_ITERATIONS_MIN - 1, 60.0)), None);
    assert_eq!(growing(&[f64::NAN; 20]), None);
    // A random order of seven values is like this one time in ten.
    assert_eq!(growing(&[0.0, 100.0, 160.0, 130.0, 90.0, 150.0, 120.0, 170.0]), None);
}

#[test]
fn a_first_iteration_is_slow_from_twice_the_median() {
    assert_eq!(
        slow_first(&[200.0, 90.0, 100.0, 110.0]),
        Some(SlowFirst { first_ns: 200.0, median_ns: 100.0 })
    );
    assert_eq!(slow_first(&[199.0, 90.0, 100.0, 110.0]), None);
    assert_eq!(slow_first(&[200.0, 90.0, 110.0]), None);
    assert_eq!(slow_first(&[1.0, 0.0, 0.0, 0.0]), None);
    assert_eq!(slow_first(&[]), None);
}

#[test]
fn a_region_is_too_small_if_its_measurement_counts() {
    // 25 us are one percent of 2.5 ms.
    assert!(is_too_small(1_000, 499_000.0, 25_000.0, 2_500_000.0));
    assert!(!is_too_small(1_000, 500_000.0, 25_000.0, 2_500_000.0));
    assert!(!is_too_small(1_000, 499_000.0, 25_000.0, 2_500_001.0));
    assert!(!is_too_small(0, 0.0, 0.0, 0.0));
}

#[test]
fn order_is_that_of_spearman() {
    let check = |values: &[f64], expected: f64| {
        assert!((order(values) - expected).abs() < 1e-12, "{values:?}");
    };
    check(&[1.0, 2.0, 3.0], 1.0);
    check(&[3.0, 2.0, 1.0], -1.0);
    check(&[2.0, 2.0, 2.0], 0.0);
    check(&[1.0, 3.0, 2.0], 0.5);
    // Ties share the mean of their ranks.
    check(&[1.0, 1.0, 2.0], 0.75_f64.sqrt());
}
