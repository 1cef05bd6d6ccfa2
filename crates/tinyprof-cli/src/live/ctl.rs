//! `tinyprof ctl`: commands to a job that runs, on this host or on others.

mod conditions;
mod held;
mod ranks;
mod recording;
mod reset;
mod status;
mod subscribe;
mod switched;
mod threads;

use std::error::Error;

use crate::arguments::{CtlArguments, CtlCommand};
pub(super) use conditions::watch;
pub(super) use held::{hold_by, release_by};
pub(super) use recording::record_by;
pub(super) use status::status_by;

/// Gives the command.
///
/// # Errors
/// If there is no such job, it accepts no commands, or nobody obeys.
pub(crate) fn run(arguments: &CtlArguments) -> Result<(), Box<dyn Error>> {
    match &arguments.command {
        CtlCommand::Status(on) => status::run(on),
        CtlCommand::Record { time, name, on } => recording::run(on, *time, name.as_deref()),
        CtlCommand::Hold { time, on } => held::hold(on, *time),
        CtlCommand::Release(on) => held::release(on),
        CtlCommand::Reset(on) => reset::run(on),
        CtlCommand::Filter { patterns, on } => reset::filter(on, patterns),
        CtlCommand::Metrics { patterns, on } => reset::metrics(on, patterns),
        CtlCommand::Off(on) => switched::off(on),
        CtlCommand::Subscribe(arguments) => subscribe::run(arguments),
        CtlCommand::On(arguments) => match arguments.condition() {
            Some(condition) => conditions::run(arguments, &condition),
            None => switched::on(&arguments.job()),
        },
    }
}
