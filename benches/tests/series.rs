//! Test of the memory of a loop in mode `each`, for runs of any length.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot do its work fails, and its figures are worth knowing"
)]
#![cfg(target_os = "linux")]

use tinyprof::{profile_loop, profile_scope};

fn iterate(iterations: u64) {
    profile_loop!(
        "step",
        mode = each,
        size = i,
        for i in 0..iterations {
            std::hint::black_box(i);
        }
    );
}

/// Returns the KiB of the segments: shared memory, unless none was available.
fn segments_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let kib = |name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_end_matches("kB").trim().parse::<u64>().unwrap()
    };
    kib("Anonymous:") + kib("Pss_Shmem:")
}

fn check(more: u64) {
    assert!(tinyprof::collect::take_over(tinyprof::collect::Ending::default));
    segments_kib();
    profile_scope!("root");
    iterate(1_000_000);
    let after_a_million = segments_kib();
    iterate(more);
    let after_more = segments_kib();
    println!("{after_a_million} KiB after 10^6 iterations, {after_more} KiB after {more} more");
    // The test's own stack may have grown by a page or two.
    assert!(after_more <= after_a_million + 16, "{after_a_million} KiB, then {after_more} KiB");
    let map = tinyprof::collect::snapshot();
    let visits: Vec<u64> =
        map.values.iter().map(tinyprof_format::model::CallpathValues::visits).collect();
    assert!(visits.contains(&(1_000_000 + more)), "{visits:?}");
}

#[test]
fn a_loop_of_millions_of_iterations_takes_what_one_of_a_million_takes() {
    check(3_000_000);
}

#[test]
#[ignore = "takes half a minute, and that in a release build"]
fn a_loop_of_a_thousand_million_iterations_takes_what_one_of_a_million_takes() {
    check(1_000_000_000);
}
