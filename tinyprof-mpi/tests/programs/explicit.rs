//! A program that holds its profiler. Arguments: the profile's name, and how to end it (`flush`, `drop`, `half`:
//! only the even ranks are profiled).
#![expect(clippy::print_stdout, reason = "the tests read what the ranks print")]

use mpi::traits::Communicator;
use tinyprof::profile;
use tinyprof_mpi::{Aggregators, Profiler};

#[profile]
fn work() {}

#[profile]
fn after_the_flush() {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (name, end) = (arguments.next().expect("a name"), arguments.next().expect("how to end"));
    let universe = mpi::initialize().expect("MPI is not initialised yet");
    let world = universe.world();
    let rank = world.rank();
    let builder = || Profiler::builder(&name).aggregators(Aggregators::Count(2)).report(false);
    if end == "half" {
        let half =
            world.split_by_color(mpi::topology::Color::with_value(rank % 2)).expect("a colour is given");
        (0..=rank).for_each(|_| work());
        if rank % 2 == 0 {
            let path = builder().start_on(&universe, &half)?.flush()?;
            println!("rank {rank}: {path:?}");
        }
        return Ok(());
    }
    let profiler = builder().start(&universe)?;
    assert!(builder().start(&universe).is_err(), "one profiler a run");
    (0..=rank).for_each(|_| work());
    if end == "flush" {
        let path = profiler.flush()?;
        println!("rank {rank}: {path:?}");
        after_the_flush();
    }
    Ok(())
}
