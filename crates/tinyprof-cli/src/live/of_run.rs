//! `TINYPROF_ON`: the condition on a job that `tinyprof run` has started, watched by a process of
//! its own, without a client.

use std::error::Error;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use tinyprof_settings::{Steer, Trigger, TriggerAction};

use super::agents::hosts_of_job;
use super::ctl::watch;
use super::segments::{copies, pieces};
use super::until::Condition;
use crate::arguments::{HostChoice, OnArguments, OnJob, SegmentChoice};
use crate::recover::jobs::{Job, jobs};
use crate::recover::segment_directory;
use crate::render;

/// The variable by which processes of the job are known.
pub(crate) const VARIABLE: &str = "TINYPROF_RUN";

/// The time between two looks for the job.
const LOOK: Duration = Duration::from_millis(200);

/// The looks after which ranks that are not on this host are looked for on others.
const LOOKS: u32 = 50;

/// A condition on the job that is about to be started.
#[derive(Debug)]
pub(crate) struct Watcher {
    condition: Condition,
    trigger: Trigger,
    directory: PathBuf,
    /// The value of [`VARIABLE`].
    token: String,
    /// The job of Slurm in which it is started.
    slurm_job: Option<String>,
}

/// The place of the ranks of the job.
enum Where {
    /// All on this host, one of them in this process.
    Here(u32),
    /// Some on this host alone are known of.
    Partly(u32),
    /// On hosts of a job of Slurm, or on these.
    Hosts(Option<String>, Vec<String>),
}

impl Watcher {
    /// Returns the watcher of a job whose segments will be in `directory`, with this token.
    ///
    /// # Errors
    /// If it is no condition, or the job would not do what is wanted; for people.
    pub(crate) fn new(
        trigger: Trigger,
        steer: Steer,
        directory: Option<&Path>,
        token: String,
    ) -> Result<Self, String> {
        let condition = Condition::new(&trigger.condition)?;
        let needs = |action: TriggerAction, least: &str| {
            format!("the job will not obey {action:?}: start it with -o steer={least} as well")
                .to_lowercase()
        };
        for action in &trigger.actions {
            match (action, steer) {
                (TriggerAction::Record, Steer::Off) => return Err(needs(*action, "on")),
                (TriggerAction::Hold, Steer::Off | Steer::On) => {
                    return Err(needs(*action, "hold"));
                }
                _ => {}
            }
        }
        let directory = segment_directory(directory);
        let slurm_job = std::env::var("SLURM_JOB_ID").ok().filter(|job| !job.is_empty());
        Ok(Self { condition, trigger, directory, token, slurm_job })
    }

    /// Watches the jobs that are started, one after the other, until the condition has held as
    /// often as is wanted, or `is_over`. Says once what it could not do. `peers` returns the hosts
    /// whose ranks are known.
    pub(crate) fn watch(&self, peers: impl Fn() -> Vec<IpAddr>, is_over: impl Fn() -> bool) {
        let (mut fired, mut has_noted, mut has_watched) = (0, false, false);
        while fired < self.trigger.times
            && let Some(place) = self.wait_for_job(&peers, &is_over)
        {
            if let Where::Partly(_) = place
                && !has_noted
            {
                has_noted = true;
                self.note("is watched for the ranks of this host alone: others are not known of");
            }
            has_watched = true;
            match self.watch_at(place, fired, &is_over) {
                Ok(times) => fired = times,
                Err(error) => return self.note(&format!("is not watched any more: {error}")),
            }
        }
        match (fired, has_watched) {
            (0, true) => self.note("has never held"),
            (0, false) => self.note(
                "was not watched: the job has ended before it was known on which hosts its ranks are",
            ),
            _ => {}
        }
    }

    fn note(&self, what: &str) {
        render::notes(&[format!("TINYPROF_ON: {} {what}", self.condition.text())]);
    }

    fn watch_at(
        &self,
        place: Where,
        fired: u32,
        is_over: &impl Fn() -> bool,
    ) -> Result<u32, Box<dyn Error>> {
        let (job, hosts) = match place {
            // A job of Slurm may have the number of a process.
            Where::Here(process) | Where::Partly(process) => (Some(format!("#{process}")), vec![]),
            Where::Hosts(job, hosts) => (job, hosts),
        };
        let segments = SegmentChoice { directory: Some(self.directory.clone()), job };
        let on = OnJob::of(&segments, &HostChoice { hosts, remote_shell: None });
        watch(&OnArguments::of_run(&self.trigger, on), &self.condition, fired, is_over)
    }

    /// Waits for a job, and for all of its ranks as long as they may still begin; `None` if it is
    /// over before.
    fn wait_for_job(
        &self,
        peers: &impl Fn() -> Vec<IpAddr>,
        is_over: &impl Fn() -> bool,
    ) -> Option<Where> {
        for looks in 0_u32.. {
            if is_over() {
                return None;
            }
            let here = self.ranks_here();
            if let Some((process, true)) = here {
                return Some(Where::Here(process));
            }
            if looks >= LOOKS {
                let slurm_job = self.slurm_job.as_deref();
                if let Some(job) = slurm_job.filter(|job| hosts_of_job(job).is_some()) {
                    return Some(Where::Hosts(Some(job.to_owned()), vec![]));
                }
                let hosts: Vec<String> = peers().iter().map(IpAddr::to_string).collect();
                match (hosts.is_empty(), here) {
                    (false, _) => return Some(Where::Hosts(None, hosts)),
                    (true, Some((process, _))) => return Some(Where::Partly(process)),
                    (true, None) => {}
                }
            }
            sleep(LOOK);
        }
        None
    }

    /// Returns a process of a job with the token, and whether all of its ranks are on this host.
    fn ranks_here(&self) -> Option<(u32, bool)> {
        let files = copies(&self.directory).ok()?;
        let pieces = pieces(&files);
        let is_ours = |job: &Job<'_>| {
            let process = job.pieces().next()?.segment.header().process_id;
            self.has_started(process).then_some(process)
        };
        jobs(&pieces).iter().find_map(|job| {
            let process = is_ours(job)?;
            let is_all = job.size().is_none_or(|size| job.ranks() >= size as usize);
            Some((process, is_all))
        })
    }

    fn has_started(&self, process: u32) -> bool {
        let wanted = format!("{VARIABLE}={}", self.token);
        let variables = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        variables.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
    }
}
