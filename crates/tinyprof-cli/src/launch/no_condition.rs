//! In place of the condition in `TINYPROF_ON`, where the command was built without what watches
//! jobs.

use std::convert::Infallible;
use std::env;
use std::net::IpAddr;
use std::os::fd::RawFd;

use crate::arguments::RunArguments;
use crate::render;

pub(super) const VARIABLE: &str = "TINYPROF_RUN";

/// A condition, of which there is none.
#[derive(Debug)]
pub(super) struct OfRun(Infallible);

#[derive(Debug)]
pub(super) struct Watching(Infallible);

/// Returns no condition.
///
/// # Errors
/// If an option asks for one.
pub(super) fn asked_for(arguments: &RunArguments) -> Result<Option<OfRun>, String> {
    let why = "this tinyprof was built without its feature top, which watches conditions";
    if arguments.settings.iter().any(|setting| setting.variable == "TINYPROF_ON") {
        return Err(format!("-o on: {why}"));
    }
    if env::var_os("TINYPROF_ON").is_some() {
        render::notes(&[format!("TINYPROF_ON is not watched: {why}")]);
    }
    Ok(None)
}

impl OfRun {
    pub(super) fn token(&self) -> &str {
        match self.0 {}
    }

    pub(super) fn descriptor(&self) -> RawFd {
        match self.0 {}
    }

    pub(super) fn begin(self, _: impl Fn() -> Vec<IpAddr>) -> Watching {
        match self.0 {}
    }
}

impl Watching {
    pub(super) fn end(self) {
        match self.0 {}
    }
}
