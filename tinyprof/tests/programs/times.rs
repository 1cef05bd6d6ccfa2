//! Spins for the number of milliseconds in its argument, and prints how long that took: the
//! nanoseconds of `CLOCK_MONOTONIC` inside the region, and around it.

#![expect(clippy::print_stdout, reason = "the test compares the numbers with the profile")]

use tinyprof::collect::monotonic_ns;
use tinyprof::profile;

#[profile]
fn spin(spin_ns: u64) -> u64 {
    let begin_ns = monotonic_ns();
    loop {
        let spun_ns = monotonic_ns() - begin_ns;
        if spun_ns >= spin_ns {
            return spun_ns;
        }
    }
}

fn main() {
    let spin_ms: u64 =
        std::env::args().nth(1).and_then(|text| text.parse().ok()).expect("milliseconds");
    // One-time work happens before the measurement.
    spin(0);
    let begin_ns = monotonic_ns();
    let inside_ns = spin(spin_ms * 1_000_000);
    println!("{inside_ns} {}", monotonic_ns() - begin_ns);
}
