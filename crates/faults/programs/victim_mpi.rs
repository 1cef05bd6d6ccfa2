//! The program under test as a job of several ranks: each visits a tree of callpaths, counts that
//! in shared memory, and prints a result.
//!
//! Arguments: levels of the tree, rounds (`forever` until it is killed), microseconds between
//! rounds. The environment names the files of the truth without the number of the rank
//! (`FAULTS_TRUTH`).

use std::io::Write;
use std::path::Path;

use mpi::traits::{Communicator, CommunicatorCollectives};
use tinyprof_faults::phase::Phase;
use tinyprof_faults::sys::spin_us;
use tinyprof_faults::truth::Truth;
use tinyprof_faults::work::visit_all;
use tinyprof_mpi as _;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next =
        |what: &str| arguments.next().unwrap_or_else(|| panic!("an argument is missing: {what}"));
    let levels = next("levels").parse().expect("a number of levels");
    let rounds = next("rounds");
    let rounds =
        if rounds == "forever" { u64::MAX } else { rounds.parse().expect("a number of rounds") };
    let pause_us = next("pause").parse().expect("microseconds between rounds");
    let universe = mpi::initialize().expect("MPI is not initialised yet");
    let world = universe.world();
    let name = std::env::var("FAULTS_TRUTH").expect("FAULTS_TRUTH names the files of the truth");
    let truth = Truth::open(Path::new(&format!("{name}-{}", world.rank())))
        .expect("the file of the truth is there");
    truth.set_process();
    world.barrier();
    truth.enter(Phase::Start);
    for round in 0..rounds {
        visit_all(truth, levels);
        spin_us(pause_us);
        // Interim profiles are written where all ranks have come to, so that they must not be far
        // apart.
        if round % 16 == 0 {
            world.barrier();
        }
        if round == 0 {
            truth.enter(Phase::Recording);
        }
    }
    // One call for a line: those of several ranks come through one pipe.
    let line = format!("the result is {}\n", truth.ended());
    drop(std::io::stdout().write_all(line.as_bytes()));
    world.barrier();
    truth.enter(Phase::Final);
    drop(universe);
}
