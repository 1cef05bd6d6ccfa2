//! A parallel FFT over MPI, profiled by TinyProf.
//!
//! A one-dimensional complex transform of N points over P ranks, done `--runs` times by the
//! six-step algorithm of [`sixstep`]. Profiling takes the line `use tinyprof_mpi as _;` and
//! attributes on the functions that deserve a name. The profile is written when MPI is finalised.
//!
//! An error that every rank sees in the same way (a size that cannot be split, a wrong result) ends
//! in exit code 1 on every rank. Rank 0 alone reports it, after MPI is finalised, so that no rank
//! is left waiting.

mod arguments;
mod error;
mod exchange;
mod layout;
mod signal;
mod sixstep;
mod stopwatch;
mod transpose;
mod verify;

use std::process::ExitCode;

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use rustfft::num_complex::Complex64;
use tinyprof::profile;
use tinyprof_mpi as _; // The only line needed: this crate intercepts MPI_Init and MPI_Finalize.

use crate::arguments::Arguments;
use crate::layout::Layout;
use crate::signal::Signal;
use crate::sixstep::{Direction, SixStep};
use crate::stopwatch::Stopwatch;
use crate::verify::Findings;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says its results")]
fn main() -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("fft: MPI is initialised already");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    let is_reporter = world.rank() == 0;
    let arguments = match Arguments::read(is_reporter) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let (ranks, rank) = ranks_and_rank(&world);
    let size = arguments.size.unwrap_or_else(|| Layout::default_size(ranks));
    let layout = match Layout::new(size, ranks) {
        Ok(layout) => layout,
        Err(error) => {
            if is_reporter {
                eprintln!("fft: {error}");
            }
            return ExitCode::FAILURE;
        }
    };

    let findings = compute(&arguments, layout, &world, rank).agreed_by_all(&world);
    if is_reporter {
        println!("fft: {layout}, runs = {}", arguments.runs);
        print!("{findings}");
        if !findings.are_good() {
            eprintln!("fft: the result is wrong: an error is above {:e}", verify::TOLERANCE);
        }
    }
    if findings.are_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Does all runs, then the verification if requested. Returns this rank's own errors. Collective.
fn compute(
    arguments: &Arguments,
    layout: Layout,
    world: &SimpleCommunicator,
    rank: usize,
) -> Findings {
    let mut fft = SixStep::plan(layout, rank, Direction::Forward);
    let mut data = vec![Complex64::default(); layout.share()];
    let mut findings = Findings::default();
    let stopwatch = arguments.time.then(|| Stopwatch::start(world));
    for number in 0..arguments.runs {
        run(&Signal::of_run(number, layout.size()), &mut fft, world, &mut data, &mut findings);
    }
    if let Some(stopwatch) = stopwatch {
        stopwatch.stop(world, &format!("fft: {} runs", arguments.runs));
    }
    if arguments.verify {
        let last = Signal::of_run(arguments.runs - 1, layout.size());
        verify::verify(&last, layout, world, rank, &mut data, &mut findings);
    }
    findings
}

/// Does one run. It is the root region: every visit is one execution in the profile, so `main` has
/// no attribute.
#[profile]
fn run(
    signal: &Signal,
    fft: &mut SixStep,
    world: &SimpleCommunicator,
    data: &mut [Complex64],
    findings: &mut Findings,
) {
    let first = fft.layout().first(fft.rank());
    signal.initialise(first, data);
    fft.transform(world, data);
    if fft.rank() % 2 == 1 {
        findings.audited(signal.audit(first, data));
    }
}

/// Returns the number of ranks and the rank of this process.
fn ranks_and_rank(world: &SimpleCommunicator) -> (usize, usize) {
    let plain = |n: i32| usize::try_from(n).expect("MPI counts ranks from zero");
    (plain(world.size()), plain(world.rank()))
}
