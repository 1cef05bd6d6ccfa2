//! A program whose only mentions of profiling are its regions and one line. Every rank's visits
//! follow from its number; rank 1 visits nothing at all. Argument: how it ends (`well`, `code`,
//! `panic`, `panic-on-one`, `exit`: without finalising MPI, `large-on-2`: as `code`, after many
//! visits on rank 2).
#![expect(clippy::print_stdout, reason = "the tests read what the ranks print")]

use std::process::ExitCode;

use mpi::traits::Communicator;
use tinyprof::{profile, profile_loop};
use tinyprof_mpi as _;

#[profile]
fn worker() {}

#[profile]
fn odd() {}

#[profile]
fn run(rank: u32) {
    profile_loop!(
        "step",
        mode = each,
        for _ in 0..rank + 2 {
            std::hint::black_box(());
        }
    );
    if rank % 2 == 1 {
        odd();
    }
}

/// Starts two threads beside the main one; one of them still runs when the profile is written.
fn threads() {
    let work = || (0..5).for_each(|_| worker());
    std::thread::spawn(work).join().expect("the thread ends well");
    let (ready, visited) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        work();
        ready.send(()).expect("main waits for this");
        std::thread::park();
    });
    visited.recv().expect("the thread sends before it parks");
}

fn main() -> ExitCode {
    let end = std::env::args().nth(1).expect("the first argument says how to end");
    let universe = mpi::initialize().expect("MPI is not initialised yet");
    let rank = universe.world().rank().unsigned_abs();
    if rank != 1 {
        (0..3).for_each(|_| run(rank));
        threads();
    }
    if end == "large-on-2" && rank == 2 {
        (0..100).for_each(|_| run(1000));
    }
    println!("result of rank {rank}");
    match end.as_str() {
        "well" => ExitCode::SUCCESS,
        "code" | "large-on-2" => ExitCode::from(7),
        "exit" => std::process::exit(0),
        "panic" => panic!("on purpose"),
        "panic-on-one" if rank == 0 => panic!("on purpose"),
        _ => ExitCode::SUCCESS,
    }
}
