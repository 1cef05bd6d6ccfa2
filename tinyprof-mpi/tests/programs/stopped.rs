//! A program some of whose ranks stop before MPI ends, as if they had been sent SIGSTOP, and
//! continue on SIGCONT. Arguments: a directory, in which each of them leaves its process id as
//! `stopped-RANK`, and their ranks. With `TEST_STOPS=no`, the test stops them.

use std::process::Command;

use mpi::traits::{Communicator, CommunicatorCollectives};
use tinyprof::profile;
use tinyprof_mpi as _;

#[profile]
fn work() {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("the first argument is a directory")?;
    let universe = mpi::initialize().ok_or("MPI is not initialised yet")?;
    let world = universe.world();
    let rank = world.rank();
    (0..=rank).for_each(|_| work());
    // MPI connects ranks at their first message, for which both must be running.
    world.barrier();
    if arguments.any(|number| number == rank.to_string()) {
        let id = std::process::id().to_string();
        // Renamed when it is complete, for the test that waits for it.
        std::fs::write(format!("{directory}/new-{rank}"), &id)?;
        std::fs::rename(format!("{directory}/new-{rank}"), format!("{directory}/stopped-{rank}"))?;
        if std::env::var_os("TEST_STOPS").is_some() {
            return Ok(());
        }
        // The command ends after the signal has been sent, so this rank is stopped before it
        // continues.
        Command::new("kill").args(["-STOP", &id]).status()?;
    }
    Ok(())
}
