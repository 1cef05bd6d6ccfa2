//! Regions, calls and a loop, of which events are kept.
//!
//! Argument: `program` (two of ten steps ask for events), `save` (a profile at step 7), `many` (a
//! million visits), or nothing.

use tinyprof::__calls::{CallPlace, Recorder, Site};
use tinyprof::{events, profile, profile_loop};

/// A call as the wrappers of MPI's functions record it.
static SEND: Site = Site::mpi("MPI_Send", &[]);

fn send() {
    let recorder = Recorder::make().expect("recording is on");
    let _visited = recorder.open(&SEND, 0, 0, || CallPlace::Address(0)).end();
}

#[profile]
fn kernel() {}

#[profile]
fn exchange() {
    send();
}

#[profile]
fn solve(kernels: u64) {
    profile_loop!(
        "iteration",
        for _ in 0..kernels {
            kernel();
        }
    );
    exchange();
}

#[profile(name = "main")]
fn main() {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let kernels = if argument == "many" { 50_000 } else { 4 };
    for step in 0..10 {
        if argument == "program" && (step == 3 || step == 7) {
            events::record(|| solve(kernels));
        } else {
            solve(kernels);
        }
        if argument == "save" && step == 7 {
            events::save("step").expect("it is written");
        }
    }
    std::thread::spawn(move || solve(kernels)).join().expect("the thread does not panic");
}
