//! Times each event of a buffer that is full: the usual one, and the slowest, for which a bin is
//! given up. Prints the table of docs/events.md:
//!
//!     cargo run --release -p tinyprof-events --example slowest_event
//!
//! It records the same events several times and takes the shortest time of each, so that
//! interruptions by the system do not count.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_types,
    clippy::cast_possible_truncation,
    reason = "it prints times of a program of its own, with small numbers"
)]

use std::sync::atomic::AtomicU64;
use std::time::Instant;

use tinyprof_events::buffer::Times;
use tinyprof_events::{Buffer, EventClass, EventPolicy, Visit};

const RUNS: usize = 15;

/// Returns the shortest time of each event, in ns, with that of reading the clock.
fn times_ns(policy: EventPolicy, bytes: usize) -> Vec<u64> {
    // Two bytes for each of gap and duration: the buffer is filled twice.
    let events = bytes / 5 * 2;
    let mut shortest = vec![u64::MAX; events];
    let words: Vec<AtomicU64> = (0..bytes / 8).map(|_| AtomicU64::new(0)).collect();
    for _ in 0..RUNS {
        words.iter().for_each(|word| word.store(0, std::sync::atomic::Ordering::Relaxed));
        let Some(buffer) = Buffer::prepare(&words, policy, Times::default()) else { continue };
        for (number, shortest) in (0_u64..).zip(&mut shortest) {
            let begin = number * 1_000;
            let (callpath, depth) = (number as u32 % 50, 2 + number as u32 % 6);
            let class = EventClass::ALL[1 + number as usize % 3];
            let visit = Visit { callpath, class, depth, begin, end: begin + 700 };
            let before = Instant::now();
            if !buffer.record_usual(visit) {
                buffer.record(visit);
            }
            let ns = before.elapsed().as_nanos().try_into().unwrap_or(u64::MAX);
            *shortest = ns.min(*shortest);
        }
    }
    shortest
}

fn main() {
    let mut clock: Vec<u128> = (0..1001).map(|_| Instant::now().elapsed().as_nanos()).collect();
    clock.sort_unstable();
    println!("each with {} ns to read the clock", clock[500]);
    println!("| policy | memory | median | 99.9 % | slowest |\n|---|---:|---:|---:|---:|");
    for policy in [EventPolicy::Window, EventPolicy::Ring, EventPolicy::Thin] {
        for bytes in [256 << 10, 1 << 20, 4 << 20, 16 << 20, 128 << 20] {
            let mut times = times_ns(policy, bytes);
            times.sort_unstable();
            let at = |part: usize| times[(times.len() - 1) * part / 1_000];
            let (usual, rare, slowest) = (at(500), at(999), at(1_000));
            println!(
                "| {policy:?} | {} KiB | {usual} ns | {rare} ns | {slowest} ns |",
                bytes >> 10
            );
        }
    }
}
