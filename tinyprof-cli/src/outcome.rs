//! What a command tells the script that called it, besides what it prints. The numbers stand in every `--help`.

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
}

impl Outcome {
    /// For commands that give nothing else.
    pub(crate) const fn done((): ()) -> Self {
        Self::Done
    }

    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Damaged => 1,
            Self::Losses => 2,
        })
    }
}
