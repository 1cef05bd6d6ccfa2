//! `faults`: runs programs with the profiler under every fault that it promises to survive, and
//! reports broken promises.
//!
//! `scripts/faults.sh` builds everything that it needs and starts it.

mod allocations;
mod configuration;
mod delays;
mod errors;
mod jobs;
mod judge;
mod kills;
mod limits;
mod place;
mod random;
mod results;
mod seeds;
mod syscalls;
mod table;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use configuration::{ALL, ALLOCATING, Configuration};
use results::{Results, print};

/// The number of programs that are killed, in a full loop and in a quick one.
const KILLS: (u32, u32) = (1_000, 40);

/// The number of jobs that are killed under one MPI, in a full loop and in a quick one.
const JOBS: (u64, u64) = (150, 5);

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// System calls that fail
    Syscalls,
    /// System calls that hang
    Delays,
    /// Allocations that fail
    Allocations,
    /// Limits to memory and files
    Limits,
    /// Programs that are killed
    Kills,
    /// Jobs under mpiexec that are killed; only where it is asked for
    Jobs,
}

/// Runs the loops over all faults.
#[derive(Debug, Parser)]
struct Arguments {
    /// Which loops [default: all but jobs]
    parts: Vec<Part>,
    /// A small sample of each loop
    #[arg(long)]
    quick: bool,
    /// Only this configuration of the program under test
    #[arg(long)]
    configuration: Option<String>,
    /// Only this case, as a failure names it; its directory is kept
    #[arg(long)]
    case: Option<String>,
    /// Lists the calls of an undisturbed run
    #[arg(long)]
    list: bool,
    /// Writes segments of programs that were killed into this directory, for the fuzzers, and does
    /// nothing else
    #[arg(long)]
    seeds: Option<PathBuf>,
    /// Prints the table of this file of results, and does nothing else
    #[arg(long)]
    table: Option<PathBuf>,
    /// A file to which results are appended, as lines of JSON
    #[arg(long)]
    results: Option<PathBuf>,
    /// Runs at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            print(&format!("faults: {error}\n"));
            ExitCode::from(2)
        }
    }
}

/// Runs the loops. Returns whether every promise was kept.
fn run(arguments: &Arguments) -> io::Result<bool> {
    let command = std::env::args().next().unwrap_or_default();
    let mut results = Results::new(arguments.results.clone(), command, arguments.jobs);
    if let Some(directory) = &arguments.seeds {
        seeds::write(directory)?;
        return Ok(true);
    }
    if let Some(file) = &arguments.table {
        print(&table::table(file)?);
        return Ok(true);
    }
    let embedded = [Part::Syscalls, Part::Delays, Part::Allocations, Part::Limits, Part::Kills];
    let parts = if arguments.parts.is_empty() { &embedded[..] } else { &arguments.parts };
    let name = arguments.configuration.as_deref();
    for &part in parts {
        let configurations: Vec<&Configuration> = configurations(part)
            .into_iter()
            .filter(|configuration| name.is_none_or(|name| name == configuration.name))
            .collect();
        if let Some(case) = &arguments.case {
            return repeat(
                part,
                name.or(configurations.first().map(|first| first.name)),
                &configurations,
                case,
            );
        }
        if part == Part::Kills {
            let kills = if arguments.quick { KILLS.1 } else { KILLS.0 };
            kills::all(name, kills, &mut results)?;
        }
        if part == Part::Jobs {
            jobs::all(name, if arguments.quick { JOBS.1 } else { JOBS.0 }, &mut results)?;
        }
        for configuration in configurations {
            match part {
                Part::Syscalls if arguments.list => syscalls::list(configuration)?,
                Part::Syscalls => syscalls::all(configuration, arguments.quick, &mut results)?,
                Part::Delays => delays::all(configuration, arguments.quick, &mut results)?,
                Part::Allocations => {
                    allocations::all(configuration, arguments.quick, &mut results)?;
                }
                Part::Limits => limits::all(configuration, arguments.quick, &mut results)?,
                Part::Kills | Part::Jobs => {}
            }
        }
    }
    Ok(results.failed == 0)
}

/// Returns the configurations that a loop covers.
fn configurations(part: Part) -> Vec<&'static Configuration> {
    match part {
        Part::Limits => limits::ALL.to_vec(),
        Part::Kills | Part::Jobs => Vec::new(),
        Part::Allocations => ALLOCATING.iter().collect(),
        Part::Syscalls | Part::Delays => ALL.iter().collect(),
    }
}

/// Runs one case again, and keeps its directory.
fn repeat(
    part: Part,
    name: Option<&str>,
    of: &[&'static Configuration],
    case: &str,
) -> io::Result<bool> {
    if part == Part::Kills {
        return kills::repeat(name.unwrap_or_default(), case);
    }
    if part == Part::Jobs {
        return jobs::repeat(name.unwrap_or_default(), case);
    }
    let configuration =
        of.first().ok_or_else(|| io::Error::other("there is no such configuration"))?;
    match part {
        Part::Syscalls => syscalls::repeat(configuration, case),
        Part::Delays => {
            Ok(delays::run(configuration, case.parse().map_err(io::Error::other)?, true)?
                .verdict
                .is_ok())
        }
        Part::Allocations => allocations::repeat(configuration, case),
        Part::Limits | Part::Kills | Part::Jobs => {
            Ok(limits::run(configuration, case, true)?.verdict.is_ok())
        }
    }
}
