//! An agent's view of its own host.

use std::path::Path;

use tinyprof_picture::Picture;

use super::missing;
use crate::live::seen::Seen;
use crate::live::watch::Watch;

/// A watcher of the ranks of a job on this host.
#[derive(Debug)]
pub(super) struct Own {
    name: String,
    watch: Watch,
    last: Option<Picture>,
}

impl Own {
    pub(super) fn new(name: &str, directory: &Path, job: Option<String>) -> Self {
        Self { name: name.to_owned(), watch: Watch::of_memory(directory, job), last: None }
    }

    /// Looks once. Of a job that has ended, the last picture stays.
    pub(super) fn picture(&mut self) -> Picture {
        let why = match self.watch.look() {
            Seen::Running(sample) => {
                self.last = Some(sample.picture.clone());
                return sample.picture;
            }
            Seen::Ended(_) => match &self.last {
                Some(last) => return Picture { ended_hosts: last.hosts, ..last.clone() },
                None => "the job has ended there".to_owned(),
            },
            Seen::Nothing => "no such job records there yet".to_owned(),
            Seen::Several(jobs) => {
                format!("{} jobs record there: name one with --job", jobs.len())
            }
            Seen::Unreadable(why) => why,
        };
        let mut picture = self.last.clone().unwrap_or_default();
        picture.missing.add(missing(&self.name, why));
        picture
    }
}
