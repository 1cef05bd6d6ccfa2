//! Worker threads under the region that gave them their work: `std` threads and a `rayon` pool.
//!
//! `cargo run -p tinyprof --example workers` writes a profile in which the parts appear under
//! `solve`, each execution with its own visits, however the pool distributed them.

use rayon::prelude::*;
use tinyprof::{profile, profile_scope};

#[profile]
fn part(values: &[f64]) -> f64 {
    profile_scope!("sum");
    values.iter().map(|x| x.sqrt()).sum()
}

#[profile]
fn solve(values: &[f64]) -> f64 {
    let here = tinyprof::current();
    let by_the_pool: f64 = values
        .par_chunks(1000)
        .map(|chunk| {
            // Each task enters its place, because a pool's threads work for many regions.
            let _under_solve = here.enter();
            part(chunk)
        })
        .sum();
    let by_threads: f64 = std::thread::scope(|scope| {
        let workers: Vec<_> = values
            .chunks(values.len() / 4)
            .map(|chunk| {
                scope.spawn(move || {
                    let _under_solve = here.enter();
                    part(chunk)
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("a sum does not panic")).sum()
    });
    by_the_pool + by_threads
}

#[expect(clippy::print_stdout, reason = "a program says its result")]
fn main() {
    let values: Vec<f64> = (0..100_000).map(f64::from).collect();
    for _ in 0..3 {
        println!("{:.3e}", solve(&values));
    }
}
