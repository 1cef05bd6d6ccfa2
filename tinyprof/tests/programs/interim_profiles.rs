//! Passes flush points until there are three interim profiles in the current directory. The
//! argument selects the kind:
//!
//! * `roots`: executions on two threads;
//! * `loop`: steps of one long execution;
//! * `hand`: an explicit interim profile, whose path it prints;
//! * `exit`: one execution, then the end;
//! * `forever`: steps until it is killed.

#![expect(clippy::print_stdout, reason = "the test reads what the program prints")]

use std::path::Path;

use tinyprof::{profile, profile_loop};

#[profile]
fn execution() {}

#[profile]
fn steps(until: &str) {
    profile_loop!(
        "step",
        mode = total,
        flush_point,
        while !Path::new(until).exists() {
            work();
        }
    );
}

#[profile]
fn work() {}

fn main() {
    let how = std::env::args().nth(1).expect("how to come to flush points");
    let third = "p-interim-0003.tprof";
    match how.as_str() {
        "roots" => std::thread::scope(|scope| {
            scope.spawn(|| (0..100).for_each(|_| execution()));
            while !Path::new(third).exists() {
                execution();
            }
        }),
        "loop" => steps(third),
        "hand" => {
            execution();
            let path = tinyprof::collect::interim_profile()
                .expect("the disk is not full")
                .expect("recording is on");
            println!("{}", path.display());
            println!("{}", path.join("manifest.json").exists());
        }
        "forever" => steps("nothing is called that"),
        "exit" => execution(),
        other => panic!("no such way: {other}"),
    }
}
