//! A directory of this host that is watched: the memory of running programs, or else the newest
//! interim profile.

use std::path::{Path, PathBuf};

use tinyprof_report::escaped;

use super::interim_profiles::InterimProfiles;
use super::progress::Progress;
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
    interim_profiles: Option<InterimProfiles>,
    progress: Progress,
}

impl Watch {
    pub(super) fn new(directory: &Path, job: Option<String>) -> Self {
        let interim_profiles = Some(InterimProfiles::new(directory));
        Self { interim_profiles, ..Self::of_memory(directory, job) }
    }

    /// Returns a watcher that does not look at interim profiles: they are of all hosts.
    pub(super) fn of_memory(directory: &Path, job: Option<String>) -> Self {
        let (directory, progress) = (directory.to_owned(), Progress::default());
        Self { directory, job, seen: None, interim_profiles: None, progress }
    }

    /// Returns what is waited for.
    pub(super) fn awaited(&self) -> String {
        let directory = escaped(&self.directory.display().to_string());
        match &self.job {
            Some(job) => {
                format!("No job {} to watch in {directory} yet; waiting for it", escaped(job))
            }
            None => format!("Nothing to watch in {directory} yet; waiting for a job"),
        }
    }

    /// Returns the error of a look that found nothing.
    pub(super) fn nothing(&self) -> String {
        let directory = self.directory.display();
        let job =
            self.job.as_ref().map_or_else(|| "program".to_owned(), |job| format!("job {job}"));
        format!(
            "nothing to show in {directory}: no {job} that records runs there, and no interim profile is there"
        )
    }

    /// Watches the job of this id from now on.
    pub(super) fn choose(&mut self, id: String) {
        (self.job, self.seen) = (Some(id), None);
    }

    /// Returns the id of the job that is watched.
    pub(super) fn watched(&self) -> Option<&str> {
        self.seen.as_deref().or(self.job.as_deref())
    }

    /// Looks once.
    pub(super) fn look(&mut self) -> Seen {
        let wanted = self.watched().map(str::to_owned);
        let in_memory = match segments::look(&self.directory, wanted.as_deref(), &mut self.progress)
        {
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
        let profiles = self.interim_profiles.as_mut();
        let seen = profiles.map_or(Seen::Nothing, |profiles| profiles.look(wanted.as_deref()));
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
