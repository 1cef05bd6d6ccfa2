//! The command `tinyprof`: reads profiles.
//!
//! It depends on the format only: it knows neither MPI nor the recorder.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod render;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::Arguments;

fn main() -> ExitCode {
    match commands::run(&Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            render::error(&*error);
            ExitCode::FAILURE
        }
    }
}
