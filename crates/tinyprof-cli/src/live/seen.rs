//! The result of a look at a directory.

use super::sample::Sample;

/// A job that can be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobLine {
    /// The id by which `--job` selects it: a process id, or the name of a profile.
    pub(super) id: String,
    /// The program, and the number of ranks that were found.
    pub(super) what: String,
}

/// The result of a look at the directory.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    /// Nothing to watch yet.
    Nothing,
    /// Several jobs, with none selected.
    Several(Vec<JobLine>),
    /// The job in its current state.
    Running(Box<Sample>),
    /// The job has ended; its profile, if it exists.
    Ended(Option<Box<Sample>>),
    /// The job could not be read this time, with the reason.
    Unreadable(String),
}
