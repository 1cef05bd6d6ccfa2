//! Does one step for each line that it reads, and prints `done`. It stays in the region `run` until
//! its input ends; with `WATCHED_ROOTS`, each step is outside of all regions. With
//! `WATCHED_METRICS`, each step has two metrics.
#![expect(clippy::print_stdout, reason = "the tests read what it says")]

use std::sync::LazyLock;

use tinyprof::{profile, profile_scope, record};

static HAS_METRICS: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("WATCHED_METRICS").is_some());

#[profile]
fn step() {
    if *HAS_METRICS {
        record!(cells = 3, faces = 4);
    }
    profile_scope!("a \u{1b}[31mname");
}

#[profile]
fn run() {
    for _ in std::io::stdin().lines() {
        step();
        println!("done");
    }
}

fn main() {
    if std::env::var_os("WATCHED_ROOTS").is_none() {
        return run();
    }
    for _ in std::io::stdin().lines() {
        step();
        println!("done");
    }
}
