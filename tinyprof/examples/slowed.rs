//! Equal work in every run, of which one region does more on request, to see what `tinyprof diff`
//! shows: `slowed [PERCENT [EXECUTIONS]]`.
//!
//! `TINYPROF_OUT=base1 slowed`, ..., `TINYPROF_OUT=new1 slowed 30`, ... write runs of both sides.
//! docs/diff.md has the outcome of a series.

use std::hint::black_box;

use tinyprof::{profile, profile_scope};

/// The work of a region of the usual length, about a millisecond.
const ROUNDS: u64 = 400_000;

/// The values of the array, which is larger than the usual cache of a core.
const VALUES: usize = 1 << 19;

/// Arithmetic: as fast as the processor.
#[profile]
fn compute(rounds: u64) -> u64 {
    (0..rounds).fold(1, |state: u64, round| {
        black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round))
    })
}

/// A pass over an array: as fast as the memory.
#[profile]
fn sweep(values: &mut [u64]) {
    for value in values {
        *value = black_box(value.wrapping_add(1));
    }
}

#[profile]
fn step(values: &mut [u64], percent: u64) {
    compute(ROUNDS);
    sweep(values);
    profile_scope!("slowed");
    compute(ROUNDS + ROUNDS * percent / 100);
}

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let percent = numbers.first().copied().unwrap_or(0);
    let executions = numbers.get(1).copied().unwrap_or(20);
    let mut values = vec![0; VALUES];
    for _ in 0..executions {
        step(&mut values, percent);
    }
}
