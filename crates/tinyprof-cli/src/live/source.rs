//! The source of the numbers: the memory of running programs, or else the newest interim profile;
//! or agents on the hosts of a job.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tinyprof_report::escaped;

use super::agents::Progress;
use super::interim_profiles::InterimProfiles;
use super::remote::Remote;
use super::seen::Seen;
use super::segments;

/// The time between two looks over which a single picture computes rates.
const RATES_OVER: Duration = Duration::from_millis(250);
/// The same where agents look once a second.
const RATES_OVER_THERE: Duration = Duration::from_millis(1_250);

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

    fn awaited(&self) -> String {
        let directory = escaped(&self.directory.display().to_string());
        match &self.job {
            Some(job) => {
                format!("No job {} to watch in {directory} yet; waiting for it", escaped(job))
            }
            None => format!("Nothing to watch in {directory} yet; waiting for a job"),
        }
    }

    fn nothing(&self) -> String {
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

    /// Looks once.
    pub(super) fn look(&mut self) -> Seen {
        let wanted = self.seen.clone().or_else(|| self.job.clone());
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

/// What is watched.
#[derive(Debug)]
pub(super) enum Source {
    /// A directory of this host.
    Here(Box<Watch>),
    /// The hosts of a job.
    There(Remote),
}

impl Source {
    /// Looks once.
    pub(super) fn look(&mut self) -> Seen {
        match self {
            Self::Here(watch) => watch.look(),
            Self::There(remote) => remote.look(),
        }
    }

    /// Waits before the first look, if it would come too early.
    pub(super) fn wait(&self) {
        if let Self::There(remote) = self {
            remote.wait();
        }
    }

    /// Returns the time between two looks over which a single picture computes rates.
    pub(super) fn rates_over(&self) -> Duration {
        match self {
            Self::Here(_) => RATES_OVER,
            Self::There(_) => RATES_OVER_THERE,
        }
    }

    /// Watches the job of this id from now on, of several of this host.
    pub(super) fn choose(&mut self, id: String) {
        if let Self::Here(watch) = self {
            watch.choose(id);
        }
    }

    /// Returns what is waited for.
    pub(super) fn awaited(&self) -> String {
        match self {
            Self::Here(watch) => watch.awaited(),
            Self::There(remote) => format!("Nothing to watch on {} yet", remote.what()),
        }
    }

    /// Returns the error of a look that found nothing.
    pub(super) fn nothing(&self) -> String {
        match self {
            Self::Here(watch) => watch.nothing(),
            Self::There(remote) => {
                format!("nothing to show: no agent on {} answers", remote.what())
            }
        }
    }
}
