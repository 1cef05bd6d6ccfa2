//! Makes a step for each line that it reads, and says `done`. It is in the region `run` until there
//! are no more lines.
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
    run();
}
