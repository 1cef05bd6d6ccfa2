//! The errors of a [`Profiler`](crate::Profiler).

use std::fmt;

/// The error that a profiler has been started before in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartError;

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a profiler has been started before in this run: there is one profile a run, keep the first",
        )
    }
}

impl std::error::Error for StartError {}

/// The error that the profile could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlushError {
    pub(crate) reason: String,
}

impl fmt::Display for FlushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for FlushError {}
