//! Varying metrics of callpaths.

use tinyprof_format::model::{MetricBucket, MetricSummary, MetricValues};

use super::super::super::clock::set_manual;
use super::*;

#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tinyprof_sites"))]
static MEMORY: Site = Site::metric("memory");
/// The metric of the same name in another place of the program; without a dense index.
static MEMORY_ELSEWHERE: Site = Site::metric("memory");

fn values(arena: &Arena) -> Vec<(CallpathId, &'static str, MetricValues)> {
    let read = arena.metric_readings().map(|reading| reading.expect("nobody writes"));
    read.map(|r| (r.callpath, r.key, r.values)).collect()
}

#[test]
fn values_add_up_by_execution_and_stay_in_order_where_the_region_keeps_each() {
    let arena = Arena::new(Clock::Manual).unwrap();
    set_manual(1);
    for execution in 0..3_u32 {
        let root = open(&arena, &A);
        arena.record_innermost(&MEMORY, f64::from(execution));
        let inner = open(&arena, &B);
        for value in [1.5, -2.0] {
            arena.record_innermost(&MEMORY, value);
        }
        close(&arena, inner);
        close(&arena, root);
    }
    let of =
        |site: &Site| readings(&arena).into_iter().find(|r| std::ptr::eq(r.site, site)).unwrap().id;
    let (outer, inner) = (of(&A), of(&B));
    let all = values(&arena);
    let find = |id| all.iter().find(|(callpath, ..)| *callpath == id).unwrap();
    assert_eq!((all.len(), find(outer).1), (2, "memory"));
    let one = |e: u32| MetricSummary::of_one_value(e, f64::from(e));
    assert_eq!(
        find(outer).2,
        MetricValues { executions: (0..3).map(one).collect(), series: vec![] }
    );
    let two = |execution| MetricSummary {
        execution,
        executions: 1,
        values: 2,
        sum: -0.5,
        min: -2.0,
        max: 1.5,
        sum_squares: 6.25,
    };
    let each = (0..3).flat_map(|e| [1.5, -2.0].map(|value| MetricBucket::of_one_value(e, value)));
    assert_eq!(
        find(inner).2,
        MetricValues { executions: (0..3).map(two).collect(), series: each.collect() }
    );
}

#[test]
fn a_metric_is_no_callpath_and_costs_its_region_nothing() {
    let arena = Arena::new(Clock::Manual).unwrap();
    let root = open(&arena, &A);
    for _ in 0..10 {
        arena.record_innermost(&MEMORY, 1.0);
        arena.record_innermost(&MEMORY_ELSEWHERE, 2.0);
        close(&arena, open(&arena, &C));
    }
    close(&arena, root);
    let readings = readings(&arena);
    assert_eq!(readings.len(), 2);
    assert_eq!(readings.iter().map(visits).sum::<u64>(), 11);
    let both = values(&arena);
    assert!(both.iter().all(|(id, key, values)| {
        (*id, *key, values.values()) == (readings[1].id, "memory", 10)
    }));
    assert_eq!(both.len(), 2, "they become one where threads are merged");
}

#[test]
fn what_is_no_finite_number_or_outside_of_all_regions_is_counted() {
    let arena = Arena::new(Clock::Manual).unwrap();
    arena.record_innermost(&MEMORY, 1.0);
    let root = open(&arena, &A);
    arena.record_innermost(&MEMORY, f64::NAN);
    arena.record_innermost(&MEMORY, f64::INFINITY);
    arena.record_innermost(&MEMORY, 4.0);
    close(&arena, root);
    assert_eq!(arena.values_not_recorded.load(Relaxed), 3);
    assert_eq!(values(&arena)[0].2.executions, [MetricSummary::of_one_value(0, 4.0)]);
}

#[test]
fn a_long_series_of_values_folds_and_keeps_its_sums() {
    const VALUES: u32 = 200_000;
    let arena = Arena::new(Clock::Manual).unwrap();
    let inner = open(&arena, &B);
    (0..VALUES).for_each(|value| arena.record_innermost(&MEMORY, value.into()));
    close(&arena, inner);
    let values = &values(&arena)[0].2;
    assert!(values.series.len() <= 1 << 15);
    let mut next = 0_u32;
    for bucket in &values.series {
        let here = next..next + bucket.values;
        assert_eq!((bucket.min, bucket.max), (here.start.into(), (here.end - 1).into()));
        assert_eq!(bucket.sum, here.map(f64::from).sum::<f64>());
        next += bucket.values;
    }
    assert_eq!(next, VALUES);
}

#[test]
fn many_executions_of_values_fold_and_keep_their_sums() {
    let arena = Arena::new(Clock::Manual).unwrap();
    for value in 0..20_000_u32 {
        let root = open(&arena, &A);
        arena.record_innermost(&MEMORY, value.into());
        close(&arena, root);
    }
    let values = &values(&arena)[0].2;
    assert!(values.executions.len() <= 4_097);
    assert_eq!((values.values(), values.sum()), (20_000, (0..20_000).map(f64::from).sum::<f64>()));
}
