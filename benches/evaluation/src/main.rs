//! Repeats the evaluation of the paper (Table II, Figures 7 to 9, an always-on run), and those of
//! the papers on messages, and writes the pages.
//!
//! It starts programs under mpiexec and needs no MPI itself. The measurements of a part are kept
//! when the part is complete, so that a stopped run continues from there.

mod always_on;
mod application;
mod content;
mod context;
mod formats;
mod formula;
mod how;
mod kept;
mod messages;
mod page;
mod parts;
mod processes;
mod progress;
mod run;
mod scaling;
mod statistics;
mod table_two;
mod visit;

use std::process::ExitCode;

use clap::Parser;

#[derive(Debug, Parser)]
#[command(version, about)]
enum Command {
    /// Measures what is not measured yet, part by part
    Run(run::Arguments),
    /// Makes the page and its plots of what was measured
    Page(page::Arguments),
    /// Measures what is missing of the tables of the papers on messages
    Messages(messages::Arguments),
    /// Puts these tables into their page
    MessagesPage(messages::PageArguments),
}

#[expect(clippy::print_stderr, reason = "a program says what went wrong")]
fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Run(arguments) => run::run(&arguments),
        Command::Page(arguments) => page::run(&arguments),
        Command::Messages(arguments) => messages::run(&arguments),
        Command::MessagesPage(arguments) => messages::page(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("evaluation: {reason}");
            ExitCode::FAILURE
        }
    }
}
