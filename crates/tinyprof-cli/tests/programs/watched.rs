//! Does one step for each line that it reads, and prints `done`. It stays in the region `run` until
//! its input ends; with `WATCHED_ROOTS`, each step is outside of all regions.
#![expect(clippy::print_stdout, reason = "the tests read what it says")]

use tinyprof::{profile, profile_scope};

#[profile]
fn step() {
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
