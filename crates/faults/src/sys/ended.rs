//! How a program ended.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The way in which a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The program exited with this code.
    Code(i32),
    /// The program was ended by this signal.
    Signal(i32),
    /// The program was killed because it took too long.
    TooLong,
}

impl Ended {
    /// Returns how a child ended, from its exit status.
    #[must_use]
    pub fn of(status: ExitStatus) -> Self {
        // A program that did not exit was ended by a signal.
        status.code().map_or_else(|| Self::Signal(status.signal().unwrap_or_default()), Self::Code)
    }
}
