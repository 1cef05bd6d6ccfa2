//! What a look at a directory finds.

use super::sample::Sample;

/// A job that can be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobLine {
    /// What `--job` calls it: a process id, or the name of a profile.
    pub(super) id: String,
    /// Which program, and how many ranks of it were found.
    pub(super) what: String,
}

/// What a look at the directory has found.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    /// Nothing to watch yet.
    Nothing,
    /// Several jobs, and nobody said which.
    Several(Vec<JobLine>),
    /// The job, as it is now.
    Running(Box<Sample>),
    /// The job has ended; its profile, if that is there.
    Ended(Option<Box<Sample>>),
    /// It could not be read this time, and why.
    Unreadable(String),
}
