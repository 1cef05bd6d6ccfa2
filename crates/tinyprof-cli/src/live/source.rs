//! The source of the numbers: the memory of running programs, or else the newest interim profile.

use std::path::{Path, PathBuf};

use super::interim_profiles::InterimProfiles;
use super::seen::Seen;
use super::segments;

/// A watcher of a directory, which looks at it again and again.
#[derive(Debug)]
pub(super) struct Watch {
    directory: PathBuf,
    /// The job that the user asked for or chose.
    job: Option<String>,
    /// The job that was seen last.
    seen: Option<String>,
    interim_profiles: InterimProfiles,
}

impl Watch {
    pub(super) fn new(directory: &Path, job: Option<String>) -> Self {
        Self {
            directory: directory.to_owned(),
            job,
            seen: None,
            interim_profiles: InterimProfiles::new(directory),
        }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the job that the user asked for.
    pub(super) fn job(&self) -> Option<&str> {
        self.job.as_deref()
    }

    /// Watches the job of this id from now on.
    pub(super) fn choose(&mut self, id: String) {
        (self.job, self.seen) = (Some(id), None);
    }

    /// Looks once.
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
        let seen = self.interim_profiles.look(wanted.as_deref());
        match (&seen, &self.seen) {
            (Seen::Nothing, Some(_)) => Seen::Ended(None),
            _ => {
                if let Seen::Running(sample) = &seen {
                    self.seen = Some(sample.picture.name.clone());
                }
                seen
            }
        }
    }
}
