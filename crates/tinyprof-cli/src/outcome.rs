//! The exit codes by which a command reports to the calling script. Every `--help` lists them, and
//! they mean the same for every command: 1 is a failure, 2 wrong arguments (from the argument
//! parser).

use std::process::ExitCode;

/// The outcome of a command that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was done without problems.
    Done,
    /// The input is damaged, and the output says how.
    Damaged,
    /// The work was done, but parts of the input were lost.
    Losses,
    /// The work was done, and the comparison is above the given limit.
    AboveLimit,
    /// The program that was to be started was found, but is not executable.
    NotExecutable,
    /// The program that was to be started was not found.
    NotFound,
}

impl Outcome {
    /// Returns the outcome of commands that have no other.
    pub(crate) const fn done((): ()) -> Self {
        Self::Done
    }

    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Damaged | Self::Losses => 3,
            Self::AboveLimit => 4,
            // As shells do.
            Self::NotExecutable => 126,
            Self::NotFound => 127,
        })
    }
}
