//! Measures the flush of many ranks: under mpiexec, in one process, and on virtual ranks; and
//! writes the page of results.
//!
//! `measure` starts mpiexec with this program again (`flush`), which does all repetitions in one
//! job: no process is started in the measured time.

mod boundaries;
mod cost;
mod flush;
mod like;
mod measure;
mod memory;
mod page;
mod sys;
mod virtual_scale;

use std::process::ExitCode;

use clap::Parser;

#[derive(Debug, Parser)]
#[command(version, about)]
enum Command {
    /// One flush after the other, on the ranks that mpiexec started; rank 0 prints a row for each
    Flush(flush::Arguments),
    /// Starts `flush` under mpiexec, for several numbers of ranks, and keeps the rows
    Measure(measure::Arguments),
    /// What a boundary costs at which no checkpoint is due, on the ranks that mpiexec started; rank
    /// 0 prints a row
    Boundaries,
    /// What the parts of a flush cost, in one process, for growing numbers of values
    Cost(cost::Arguments),
    /// The phases on virtual ranks
    Virtual(virtual_scale::Arguments),
    /// Makes the page and its plots of the rows
    Page(page::Arguments),
}

#[expect(clippy::print_stderr, reason = "a program says what went wrong")]
fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Flush(arguments) => flush::run(&arguments),
        Command::Measure(arguments) => measure::run(&arguments),
        Command::Boundaries => boundaries::run(),
        Command::Cost(arguments) => cost::run(&arguments),
        Command::Virtual(arguments) => virtual_scale::run(&arguments),
        Command::Page(arguments) => page::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("collective: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a row as one line of JSON.
#[expect(clippy::print_stdout, reason = "rows are what the program is for")]
fn print_row(row: &impl serde::Serialize) -> Result<(), String> {
    let line = serde_json::to_string(row).map_err(|error| error.to_string())?;
    println!("{line}");
    Ok(())
}
