//! A job on other hosts, as its agents tell of it.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use tinyprof_picture::Picture;
use tinyprof_report::cells::counted;

use crate::sys;

use super::agents::{Crew, Task};
use super::sample::Sample;
use super::seen::Seen;
use super::whole::Whole;

/// How long a first look waits for the first pictures.
const FIRST: Duration = Duration::from_secs(20);
/// The longest wait for the first measurements after that.
const FIRST_MEASUREMENTS: Duration = Duration::from_secs(3);

/// A watcher of the hosts of a job.
#[derive(Debug)]
pub(super) struct Remote {
    crew: Crew,
    hosts: usize,
    /// None if there are too many hosts.
    whole: Option<Whole>,
    begun_ns: u64,
}

impl Remote {
    pub(super) fn start(task: &Task, hosts: &[String]) -> Self {
        let crew = Crew::start(task, hosts);
        let whole = task.measurements.map(|_| Whole::default());
        Self { crew, hosts: hosts.len(), whole, begun_ns: sys::now().monotonic_ns }
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
    pub(super) fn wait(&mut self) {
        let mut told_ns = None;
        while !self.is_late() {
            if self.crew.have_told() {
                let since_ns = *told_ns.get_or_insert_with(|| sys::now().monotonic_ns);
                if self.have_measured() || sys::since(since_ns) >= FIRST_MEASUREMENTS {
                    return;
                }
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Takes what hosts have measured, and returns whether there is something of each, or nothing
    /// is expected.
    fn have_measured(&mut self) -> bool {
        self.whole.as_mut().is_none_or(|whole| {
            whole.add(self.crew.take_measurements());
            whole.hosts() >= self.hosts
        })
    }

    /// Returns whether agents should have told something by now.
    fn is_late(&self) -> bool {
        sys::since(self.begun_ns) >= FIRST
    }

    /// Looks once.
    pub(super) fn look(&mut self) -> Seen {
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
        // Of ranks that are not in the picture nobody knows whom they wait for.
        let is_known = self.have_measured() && picture.is_whole();
        let why = self.whole.as_mut().filter(|_| is_known).and_then(Whole::why);
        let has_ended = picture.has_ended() || self.is_over();
        let sample = Sample {
            source: format!("agents on {}", self.what()),
            moment_ns: self.crew.newest_ns().unwrap_or(self.begun_ns),
            picture,
            why,
            // Known by host only, whose tables of callpaths are others.
            waited_for: BTreeMap::new(),
        };
        if has_ended {
            Seen::Ended(Some(Box::new(sample)))
        } else {
            Seen::Running(Box::new(sample))
        }
    }
}
