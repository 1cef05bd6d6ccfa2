//! The command `tinyprof`: reads, compares and converts profiles, recovers them from what killed
//! programs left behind, and starts programs that are profiled without a rebuild.
//!
//! It depends only on the format: it knows neither MPI nor the recorder.
#![deny(unsafe_code)]

mod arguments;
mod check;
mod commands;
mod diff;
mod documents;
mod export;
mod html;
mod import;
mod launch;
mod live;
mod memory;
#[cfg(test)]
mod messages_example;
mod name;
mod new_file;
mod numbers;
mod outcome;
mod paint;
mod parameter;
mod permissions;
mod recover;
mod render;
mod salvage;
mod select;
#[expect(unsafe_code, reason = "std neither reads the recorder's clocks nor maps files")]
mod sys;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    render::choose_colors(arguments.color);
    memory::allow(arguments.memory);
    match commands::run(&arguments.command) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => {
            render::error(&*error);
            ExitCode::FAILURE
        }
    }
}
