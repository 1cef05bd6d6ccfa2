//! The counting allocator: bytes and calls of each callpath.

use tinyprof::alloc::Counting;
use tinyprof::{profile, profile_scope};
use tinyprof_format::model::{EventMap, MetricValues};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

#[profile]
fn outer() -> usize {
    let first = vec![1_u8; 100];
    {
        profile_scope!("inner");
        let mut second = Vec::<u8>::with_capacity(10);
        // Room for 10 more: the reallocation requests 30 bytes, which adds 20.
        second.reserve_exact(30);
        std::hint::black_box(&mut second);
    }
    let boxed = Box::new([0_u64; 4]);
    std::hint::black_box((&first, &boxed));
    first.len()
}

#[profile]
fn frugal() -> u32 {
    std::hint::black_box(7)
}

fn allocated<'a>(map: &'a EventMap, path: &str) -> Option<&'a MetricValues> {
    let row = map
        .callpaths
        .iter()
        .find(|(index, _)| map.callpaths.path(*index) == path)
        .expect("visited")
        .0;
    map.values[row.row()].metrics.get("alloc_bytes")
}

#[test]
fn each_callpath_has_the_bytes_and_calls_of_its_own() {
    let outside = vec![0_u8; 1000];
    for _ in 0..3 {
        assert_eq!(outer() + frugal() as usize, 107);
    }
    drop(outside);
    let map = tinyprof::collect::snapshot();
    let of_outer = allocated(&map, "outer").unwrap();
    assert_eq!((of_outer.values(), of_outer.sum()), (6, 3.0 * 132.0));
    let of_inner = allocated(&map, "outer<inner").unwrap();
    assert_eq!((of_inner.values(), of_inner.sum()), (6, 3.0 * 30.0));
    assert_eq!(allocated(&map, "frugal"), None);
    assert_eq!(map.facts.losses.values_not_recorded, 0);
}
