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
mod events;
mod export;
mod graph;
mod grouped;
mod html;
mod import;
mod instead;
mod kept;
mod launch;
#[cfg(feature = "top")]
mod live;
mod memory;
#[cfg(test)]
mod messages_example;
mod name;
mod near;
mod new_file;
mod numbers;
mod outcome;
mod pager;
mod paint;
mod parameter;
mod permissions;
mod recover;
mod render;
mod rules;
mod salvage;
mod select;
#[expect(unsafe_code, reason = "std neither reads the recorder's clocks nor maps files")]
mod sys;
mod waits;
mod why;
mod wrappers;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use arguments::{Arguments, profile};
use outcome::exit_code_of;

fn main() -> ExitCode {
    let arguments = Arguments::parse_from(with_command(std::env::args_os().collect()));
    render::choose_colors(arguments.color);
    memory::allow(arguments.memory);
    pager::allow(!arguments.no_pager && commands::prints_report(&arguments.command));
    match commands::run(&arguments.command) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => {
            render::error(&*error, instead::suggestion(&*error).as_deref());
            exit_code_of(&*error)
        }
    }
}

/// Inserts the command `report` if a profile, with or without its ending, takes the place of the
/// command.
fn with_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_profile = |argument: &OsString| argument.to_str().is_some_and(takes_place_of_command);
    if arguments.get(1).is_some_and(is_profile) {
        arguments.insert(1, "report".into());
    }
    arguments
}

fn takes_place_of_command(text: &str) -> bool {
    let is_command = || Arguments::command().find_subcommand(text).is_some() || text == "help";
    profile::is_profile(text) || (profile::is_profile_without_ending(text) && !is_command())
}
