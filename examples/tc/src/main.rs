//! Transitive closure over MPI. The program comes with the relational algebra; until then this package is a
//! reserved place that builds, runs on any number of ranks and says so.

use mpi::traits::*;
use tinyprof_mpi as _;

#[expect(clippy::print_stdout, reason = "a program says what it has to say")]
fn main() {
    let Some(universe) = mpi::initialize() else { return };
    if universe.world().rank() == 0 {
        println!("tc: this package is reserved for the transitive closure, which is not written yet");
    }
}
