//! The transitive closure of a graph over MPI, by distributed relational algebra, profiled by
//! TinyProf.
//!
//! Profiling takes the line `use tinyprof_mpi as _;`, attributes on the functions that deserve a
//! name, and one `profile_loop!`. The profile is written when MPI is finalised.
//!
//! An error ends in exit code 1 on every rank. One rank reports it, after MPI is finalised, so that
//! no rank is left waiting.

mod arguments;
mod balance;
mod closure;
mod exchange;
mod failure;
mod generate;
mod input;
mod output;
mod ranks;
mod relation;
mod repeat;

use std::process::ExitCode;

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof_mpi as _; // The only line needed: this crate intercepts MPI_Init and MPI_Finalize.

use crate::arguments::Arguments;
use crate::closure::{distribute, fixpoint};
use crate::failure::Failed;
use crate::ranks::Ranks;
use crate::relation::Tuple;

#[expect(clippy::print_stderr, reason = "a program says what went wrong")]
fn main() -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("tc: MPI is initialised already");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    match Arguments::read(Communicator::rank(&world) == 0) {
        Ok(arguments) => run(&arguments, &world).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        Err(code) => code,
    }
}

#[expect(clippy::print_stdout, reason = "a program says its results")]
fn run(arguments: &Arguments, world: &SimpleCommunicator) -> Result<(), Failed> {
    let own = edges(arguments, world)?;
    let (edges, closure) = repeat::repeat(arguments, world, || {
        let edges = distribute(world, own.clone());
        let closure = fixpoint(world, &edges);
        (edges, closure)
    });
    let mut counts = [edges.index().len() as u64, closure.paths.index().len() as u64];
    world.sum(&mut counts);
    if Ranks::rank(world) == 0 {
        let ([edges, paths], ranks) = (counts, Ranks::size(world));
        println!(
            "tc: {edges} edges, {paths} paths, {} iterations, {ranks} ranks",
            closure.iterations
        );
    }
    match &arguments.output {
        Some(file) => output::output(world, &closure.paths, file),
        None => Ok(()),
    }
}

/// Returns the edges that this rank reads or makes, whoever owns them.
fn edges(arguments: &Arguments, world: &SimpleCommunicator) -> Result<Vec<Tuple<2>>, Failed> {
    match (&arguments.file, arguments.graph()) {
        (Some(file), _) => input::input(world, file),
        (None, Some(graph)) => {
            Ok(graph.edges_of(Ranks::rank(world) as u64, Ranks::size(world) as u64))
        }
        (None, None) => Ok(Vec::new()),
    }
}
