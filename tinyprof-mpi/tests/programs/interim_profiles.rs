//! A program that writes interim profiles in the current directory. Its argument selects how its
//! ranks come to their flush points:
//!
//! * `loop`: all go through the same steps until there are three interim profiles;
//! * `roots`: as `loop`, with one execution per step, and a profiler that has the interval;
//! * `uneven`: each has its own number of executions (a second argument is the least), and they do
//!   not communicate;
//! * `hand`: an interim profile by hand, in the middle of others at intervals;
//! * `forever`: steps until the program is killed;
//! * `serialised`: MPI is initialised with `MPI_THREAD_SERIALIZED`.
#![expect(clippy::print_stdout, reason = "the tests read what the ranks print")]

use std::path::Path;
use std::time::Duration;

use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::traits::*;
use tinyprof::{profile, profile_loop};
use tinyprof_mpi::Profiler;

/// Returns whether rank 0 sees the file that is waited for; equal on all ranks.
fn all_see(world: &impl Communicator, file: &str) -> bool {
    let (seen, mut all) = (u8::from(world.rank() == 0 && Path::new(file).exists()), 0);
    world.all_reduce_into(&seen, &mut all, SystemOperation::max());
    all > 0
}

#[profile]
fn steps(world: &impl Communicator, until: &str) {
    profile_loop!("step", mode = total, flush_point, while !all_see(world, until) {});
}

#[profile]
fn execution(world: &impl Communicator, until: &str) -> bool {
    all_see(world, until)
}

#[profile]
fn alone(value: &mut u64) {
    *value = value.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (*value >> 7);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let how = std::env::args().nth(1).expect("how to come to flush points");
    let threading = if how == "serialised" { Threading::Serialized } else { Threading::Funneled };
    let (universe, _) =
        mpi::initialize_with_threading(threading).expect("MPI is not initialised yet");
    let world = universe.world();
    let third = "p-interim-0003.tprof";
    match how.as_str() {
        "loop" => steps(&world, third),
        "forever" => {
            println!("process {}", std::process::id());
            steps(&world, "nothing is called that");
        }
        "roots" => {
            let builder =
                Profiler::builder("p").report(false).interim_interval(Duration::from_millis(20));
            let profiler = builder
                .keep_interim_profiles(tinyprof::collect::ALL_INTERIM_PROFILES)
                .start(&universe)?;
            while !execution(&world, third) {}
            profiler.flush()?;
        }
        "uneven" => {
            let mut value = 1 + u64::try_from(world.rank())?;
            let least =
                std::env::args().nth(2).map_or(Ok(300_000), |number| number.parse::<u64>())?;
            let executions = least * (1 + u64::try_from(world.rank())?);
            (0..executions).for_each(|_| alone(&mut value));
            assert_ne!(value, 0);
        }
        "hand" => {
            let profiler = Profiler::builder("p").report(false).start(&universe)?;
            while !execution(&world, "p-interim-0001.tprof") {}
            let path = profiler.interim_profile()?.ok_or("something was measured")?;
            let there = path.join("manifest.json").exists();
            println!("rank {}: {there}", world.rank());
            let number: u32 = path.to_string_lossy()["p-interim-".len()..][..4].parse()?;
            while !execution(&world, &format!("p-interim-{:04}.tprof", number + 1)) {}
            profiler.flush()?;
        }
        "serialised" => assert!((0..100).all(|_| !execution(&world, third))),
        other => return Err(format!("no such way: {other}").into()),
    }
    Ok(())
}
