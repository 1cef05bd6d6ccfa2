//! A job on other hosts, as its agents tell of it.

use std::thread;
use std::time::Duration;

use tinyprof_picture::Picture;
use tinyprof_report::cells::counted;

use crate::sys;

use super::agents::{Crew, Task};
use super::sample::Sample;
use super::seen::Seen;

/// How long a first look waits for the first pictures.
const FIRST: Duration = Duration::from_secs(20);

/// A watcher of the hosts of a job.
#[derive(Debug)]
pub(super) struct Remote {
    crew: Crew,
    hosts: usize,
    begun_ns: u64,
}

impl Remote {
    pub(super) fn start(task: &Task, hosts: &[String]) -> Self {
        let crew = Crew::start(task, hosts);
        Self { crew, hosts: hosts.len(), begun_ns: sys::now().monotonic_ns }
    }

    /// Returns what is looked at, for people.
    pub(super) fn what(&self) -> String {
        counted(self.hosts as u64, "host")
    }

    /// Returns whether all agents have ended.
    pub(super) fn is_over(&self) -> bool {
        self.crew.have_ended()
    }

    /// Waits until there is something to look at from each host, but not for long.
    pub(super) fn wait(&self) {
        while !self.crew.have_told() && !self.is_late() {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns whether agents should have told something by now.
    fn is_late(&self) -> bool {
        sys::since(self.begun_ns) >= FIRST
    }

    /// Looks once.
    pub(super) fn look(&self) -> Seen {
        let mut picture = Picture::default();
        self.crew.add_to(&mut picture);
        if picture.ranks.is_empty() {
            let Some(one) = picture.missing.worst.first() else { return Seen::Nothing };
            let why = format!("nothing of {}: {}", one.host, one.why);
            return if !self.is_late() && !self.crew.have_told() {
                Seen::Nothing
            } else {
                Seen::Unreadable(why)
            };
        }
        let has_ended = picture.has_ended() || self.is_over();
        let sample = Sample {
            source: format!("agents on {}", self.what()),
            moment_ns: self.crew.newest_ns().unwrap_or(self.begun_ns),
            picture,
            ..Sample::default()
        };
        if has_ended {
            Seen::Ended(Some(Box::new(sample)))
        } else {
            Seen::Running(Box::new(sample))
        }
    }
}
