//! Where the numbers come from: the memory of running programs, or else the newest checkpoint.

use std::path::{Path, PathBuf};

use super::checkpoints::Checkpoints;
use super::sample::Sample;
use super::segments;

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

/// Looks at a directory again and again.
#[derive(Debug)]
pub(super) struct Watch {
    directory: PathBuf,
    /// The job that was asked for or chosen.
    job: Option<String>,
    /// The job that was seen last.
    seen: Option<String>,
    checkpoints: Checkpoints,
}

impl Watch {
    pub(super) fn new(directory: &Path, job: Option<String>) -> Self {
        Self { directory: directory.to_owned(), job, seen: None, checkpoints: Checkpoints::new(directory) }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Watches the job of this id from now on.
    pub(super) fn choose(&mut self, id: String) {
        (self.job, self.seen) = (Some(id), None);
    }

    /// One look.
    pub(super) fn look(&mut self) -> Seen {
        let wanted = self.seen.clone().or_else(|| self.job.clone());
        let in_memory = match segments::look(&self.directory, wanted.as_deref()) {
            Ok(found) => found,
            Err(error) => return Seen::Unreadable(error),
        };
        match in_memory {
            segments::Found::Job(id, sample) => {
                self.seen = Some(id);
                return Seen::Running(sample);
            }
            segments::Found::Several(lines) => return Seen::Several(lines),
            segments::Found::None => {}
        }
        let seen = self.checkpoints.look(wanted.as_deref());
        match (&seen, &self.seen) {
            (Seen::Nothing, Some(_)) => Seen::Ended(None),
            _ => {
                if let Seen::Running(sample) = &seen {
                    self.seen = Some(sample.name.clone());
                }
                seen
            }
        }
    }
}
