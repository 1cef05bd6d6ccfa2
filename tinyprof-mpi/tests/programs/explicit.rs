//! A program that controls its profiler. Arguments: the profile's name; how to end it (`flush`,
//! `drop`, `half`: only the even ranks are profiled, `amid`: while messages of the program's own
//! are under way); and how many threads may call MPI (`single`, `funneled`, `serialized`; otherwise
//! as many as there are).
#![expect(clippy::print_stdout, reason = "the tests read what the ranks print")]

use mpi::Threading;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use tinyprof::profile;
use tinyprof_mpi::{Aggregators, Profiler};

#[profile]
fn work() {}

#[profile]
fn after_the_flush() {}

/// Flushes while a receive is pending that would match any message, and while another thread
/// communicates with the other ranks.
fn amid_messages(
    world: &SimpleCommunicator,
    profiler: Profiler<'_>,
) -> Result<(), Box<dyn std::error::Error>> {
    const ROUNDS: i32 = 200;
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let talk = std::thread::spawn(move || {
        let world = SimpleCommunicator::world().duplicate();
        for round in 0..ROUNDS {
            let (said, _) = mpi::point_to_point::send_receive::<i32, _, _, _>(
                &(rank + round),
                &world.process_at_rank(next),
                &world.process_at_rank(previous),
            );
            assert_eq!(said, previous + round);
        }
    });
    let mut received = [0_i32];
    mpi::request::scope(|scope| {
        let waiting = world.any_process().immediate_receive_into(scope, &mut received[..]);
        let path = profiler.flush();
        world.process_at_rank(next).send(&[rank + 1000]);
        waiting.wait();
        path
    })?;
    talk.join().map_err(|_| "the other thread failed")?;
    println!("rank {rank}: {}", received[0]);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (name, end) = (arguments.next().expect("a name"), arguments.next().expect("how to end"));
    let threads = match arguments.next().as_deref() {
        Some("single") => Threading::Single,
        Some("funneled") => Threading::Funneled,
        Some("serialized") => Threading::Serialized,
        _ => Threading::Multiple,
    };
    let (universe, granted) =
        mpi::initialize_with_threading(threads).expect("MPI is not initialised yet");
    assert!(granted >= threads, "asked for {threads:?}, got {granted:?}");
    let world = universe.world();
    let rank = world.rank();
    let builder = || Profiler::builder(&name).aggregators(Aggregators::Count(2)).report(false);
    if end == "half" {
        let half = world
            .split_by_color(mpi::topology::Color::with_value(rank % 2))
            .expect("a colour is given");
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
    if end == "amid" {
        amid_messages(&world, profiler)?;
        return Ok(());
    }
    if end == "flush" {
        let path = profiler.flush()?;
        println!("rank {rank}: {path:?}");
        after_the_flush();
    }
    Ok(())
}
