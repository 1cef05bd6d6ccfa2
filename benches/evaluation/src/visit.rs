//! The cost of a visit of a region on this machine.

use std::hint::black_box;

use tinyprof::collect::monotonic_ns;
use tinyprof_bench_collective::rows::median;

#[tinyprof::profile]
fn measured(number: u64) -> u64 {
    black_box(number)
}

#[tinyprof::profile]
fn around(visits: u64) -> u64 {
    (0..visits).map(measured).sum()
}

/// Returns the cost of a visit, in picoseconds: the median of some rounds of nothing but visits.
pub(crate) fn visit_ps() -> u64 {
    const VISITS: u64 = 100_000;
    let rounds = (0..51).map(|_| {
        let start_ns = monotonic_ns();
        black_box(around(VISITS));
        (monotonic_ns() - start_ns) * 1000 / VISITS
    });
    median(rounds.collect::<Vec<_>>())
}
