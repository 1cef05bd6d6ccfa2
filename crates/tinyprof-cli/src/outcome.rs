//! The exit codes by which a command reports to the calling script. Every `--help` lists them, and
//! they mean the same for every command: 1 is a failure, 2 wrong arguments (from the argument
//! parser).

use std::error::Error;
use std::fmt;
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
    /// The input has nothing of what was asked for, and a note says how to record it.
    NotRecorded,
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
            Self::NotRecorded => 1,
            Self::Damaged | Self::Losses => 3,
            Self::AboveLimit => 4,
            // As shells do.
            Self::NotExecutable => 126,
            Self::NotFound => 127,
        })
    }
}

/// An argument that was read, but that does not fit the profile: a mistake of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrongArgument(pub(crate) String);

impl fmt::Display for WrongArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for WrongArgument {}

/// Returns the exit code of a command that has failed.
pub(crate) fn exit_code_of(error: &(dyn Error + 'static)) -> ExitCode {
    if error.is::<WrongArgument>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}
