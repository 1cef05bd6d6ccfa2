//! What a command tells the script that called it, besides what it prints. The numbers stand in
//! every `--help`, and mean the same for every command: 1 is a failure, 2 wrong arguments (from the
//! parser of arguments).

use std::process::ExitCode;

/// How a command that ran to its end went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All was done, nothing was wrong.
    Done,
    /// What it was to look at is damaged, and it says how.
    Damaged,
    /// It was done, but something of the input was lost.
    Losses,
    /// It was done, and what it compared is above the limit that was set.
    AboveLimit,
}

impl Outcome {
    /// For commands that give nothing else.
    pub(crate) const fn done((): ()) -> Self {
        Self::Done
    }

    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Damaged | Self::Losses => 3,
            Self::AboveLimit => 4,
        })
    }
}
