//! The agents that this process has started, and what they have told.

use std::io::{BufRead as _, BufReader};
use std::mem;
use std::process::{ChildStderr, ChildStdout};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tinyprof_picture::frame::{Measurements, Sent};
use tinyprof_picture::{Picture, frame};

use super::{Started, Task, add, missing};
use crate::sys;

/// The most agents that one process starts. Beyond that, they start those of others.
const FAN_OUT: usize = 32;

/// The time without a picture from which on a host counts as silent, in intervals.
const SILENT_INTERVALS: u32 = 3;

/// The time that an agent is given to start.
const START: Duration = Duration::from_secs(5);

/// The longest line of an agent's error that is shown, in characters.
const LINE_MAX: usize = 160;

/// Agents. They end with this value.
#[derive(Debug)]
pub(in crate::live) struct Crew {
    agents: Vec<Agent>,
    interval: Duration,
}

#[derive(Debug)]
struct Agent {
    /// Its host, and those that it watches for us.
    hosts: Vec<String>,
    /// Ends with this value.
    _process: Option<Started>,
    told: Arc<Mutex<Told>>,
    begun_ns: u64,
}

/// All that was heard of an agent.
#[derive(Debug, Default)]
struct Told {
    /// Its last picture, and when it came, in ns.
    picture: Option<(Picture, u64)>,
    /// Measurements of its hosts that nobody has taken yet.
    measurements: Vec<Measurements>,
    /// The last line of its errors.
    line: String,
    has_ended: bool,
}

impl Crew {
    /// Starts agents for these hosts.
    pub(in crate::live) fn start(task: &Task, hosts: &[String]) -> Self {
        let size = hosts.len().div_ceil(FAN_OUT).max(1);
        let agents = hosts.chunks(size).map(|hosts| Agent::start(task, hosts)).collect();
        Self { agents, interval: task.interval }
    }

    /// Adds what they have told to a picture, and whom nothing is known of.
    pub(in crate::live) fn add_to(&self, all: &mut Picture) {
        for agent in &self.agents {
            agent.add_to(all, self.interval * SILENT_INTERVALS);
        }
    }

    /// Returns what hosts have measured since this was called last.
    pub(in crate::live) fn take_measurements(&self) -> Vec<Measurements> {
        let take = |agent: &Agent| {
            let mut taken = Vec::new();
            change(&agent.told, |told| taken = mem::take(&mut told.measurements));
            taken
        };
        self.agents.iter().flat_map(take).collect()
    }

    /// Returns when the newest picture came, in ns.
    pub(in crate::live) fn newest_ns(&self) -> Option<u64> {
        let came = |agent: &Agent| agent.told(|told| told.picture.as_ref().map(|(_, came)| *came));
        self.agents.iter().filter_map(came).max()
    }

    /// Returns whether each agent has sent a picture, or has ended.
    pub(in crate::live) fn have_told(&self) -> bool {
        self.agents.iter().all(|agent| agent.told(|told| told.has_ended || told.picture.is_some()))
    }

    /// Returns whether all agents have ended.
    pub(in crate::live) fn have_ended(&self) -> bool {
        self.agents.iter().all(|agent| agent.told(|told| told.has_ended))
    }
}

impl Agent {
    fn start(task: &Task, hosts: &[String]) -> Self {
        let told = Arc::new(Mutex::new(Told::default()));
        let process = match Started::new(task.command(hosts)) {
            Ok((process, output, errors)) => {
                let frames = Arc::clone(&told);
                thread::spawn(move || read_frames(output, &frames));
                let lines = Arc::clone(&told);
                thread::spawn(move || read_lines(errors, &lines));
                Some(process)
            }
            Err(why) => {
                change(&told, |told| (told.line, told.has_ended) = (why, true));
                None
            }
        };
        Self { hosts: hosts.to_vec(), _process: process, told, begun_ns: sys::now().monotonic_ns }
    }

    fn told<T>(&self, of: impl FnOnce(&Told) -> T) -> T {
        of(&self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add_to(&self, all: &mut Picture, silent: Duration) {
        let host = &self.hosts[0];
        let trouble = self.told(|told| {
            let Some((picture, came)) = &told.picture else {
                let since = sys::since(self.begun_ns);
                let is_late = since >= START;
                let late = || is_late.then(|| format!("no answer for {} s", since.as_secs()));
                return told.why().or_else(late);
            };
            let age = sys::since(*came);
            let age_ns = u64::try_from(age.as_nanos()).unwrap_or(u64::MAX);
            // A host without its agent is not waited for when the job ends.
            let ended_hosts = if told.has_ended { picture.hosts } else { picture.ended_hosts };
            let age_ns = picture.age_ns.saturating_add(age_ns);
            let aged = Picture { age_ns, ended_hosts, ..picture.clone() };
            add(all, &aged, host);
            if picture.has_ended() {
                return None;
            }
            told.why().or_else(|| (age > silent).then(|| format!("silent for {} s", age.as_secs())))
        });
        if let Some(why) = trouble {
            self.hosts.iter().for_each(|host| all.missing.add(missing(host, why.clone())));
        }
    }
}

impl Told {
    /// Returns why it tells no more.
    fn why(&self) -> Option<String> {
        let line = if self.line.is_empty() { "its agent has ended" } else { &self.line };
        self.has_ended.then(|| line.to_owned())
    }
}

fn change(told: &Mutex<Told>, with: impl FnOnce(&mut Told)) {
    with(&mut told.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Takes what an agent sends until there is no more, or it is not understood.
fn read_frames(output: ChildStdout, told: &Mutex<Told>) {
    let mut output = BufReader::new(output);
    loop {
        match frame::read(&mut output) {
            Ok(Some(Sent::Picture(picture))) => {
                change(told, |told| told.picture = Some((*picture, sys::now().monotonic_ns)));
            }
            Ok(Some(Sent::Measurements(one))) => change(told, |told| {
                told.measurements.retain(|older| older.host != one.host);
                told.measurements.push(one);
            }),
            Ok(None) => return change(told, |told| told.has_ended = true),
            Err(error) => {
                return change(told, |told| {
                    (told.line, told.has_ended) = (error.to_string(), true);
                });
            }
        }
    }
}

/// Keeps the last line.
fn read_lines(errors: ChildStderr, told: &Mutex<Told>) {
    for line in BufReader::new(errors).split(b'\n') {
        let Ok(line) = line else { return };
        let line: String = String::from_utf8_lossy(&line).trim().chars().take(LINE_MAX).collect();
        if !line.is_empty() {
            change(told, |told| told.line = line);
        }
    }
}
