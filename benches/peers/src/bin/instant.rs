//! No profiler: two reads of the standard library's clock, and a sum. What people write by hand.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tinyprof_peers::{VISITS, measure, work};

fn main() {
    let mut total = Duration::ZERO;
    measure(|| {
        for _ in 0..VISITS {
            let start = Instant::now();
            work();
            total += start.elapsed();
        }
        black_box(total);
    });
}
