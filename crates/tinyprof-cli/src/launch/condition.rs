//! The condition in `TINYPROF_ON` on the job that is started. Whatever becomes of it, the job runs
//! as it would without.

use std::env;
use std::fs::File;
use std::net::IpAddr;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use tinyprof_settings::Settings;

use super::roll_call::token;
use crate::arguments::RunArguments;
use crate::live::Watcher;
use crate::sys::print_to;
use crate::{live, render};

/// The variable by which the processes of the job are known.
pub(super) const VARIABLE: &str = live::VARIABLE;

/// The time that an action may still take when the job has ended.
const PATIENCE: Duration = Duration::from_secs(10);

/// The variables in which launchers say the rank of a process.
const RANKS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];

/// A condition on a job, and where to print.
#[derive(Debug)]
pub(super) struct OfRun {
    watcher: Watcher,
    token: String,
    directory: PathBuf,
    output: File,
}

/// A condition that is being watched.
#[derive(Debug)]
pub(super) struct Watching {
    is_over: Arc<AtomicBool>,
    end: Receiver<()>,
}

/// Returns the condition that an option or the environment asks for. One of the environment that
/// cannot be watched is noted.
///
/// # Errors
/// If an option asks for what cannot be watched.
pub(super) fn asked_for(arguments: &RunArguments) -> Result<Option<OfRun>, String> {
    let of_option = |variable: &str| {
        let settings = arguments.settings.iter().rev();
        settings.into_iter().find(|setting| setting.variable == variable)
    };
    let lookup = |variable: &str| match of_option(variable) {
        Some(setting) => Some(setting.value.clone()),
        None => env::var_os(variable),
    };
    // The program says itself what it refuses.
    let settings = Settings::read(lookup, |_, _| ());
    // Another one watches already: that of rank 0, or the one that has started the launcher.
    let is_watched = env::var_os(VARIABLE).is_some()
        || RANKS.iter().filter_map(env::var_os).any(|rank| rank != "0");
    let Some(trigger) = settings.on.clone().filter(|_| !is_watched) else { return Ok(None) };
    match OfRun::new(trigger, &settings) {
        Ok(condition) => Ok(Some(condition)),
        Err(why) if of_option("TINYPROF_ON").is_some() => Err(format!("-o on: {why}")),
        Err(why) => {
            render::notes(&[format!("TINYPROF_ON is not watched: {why}")]);
            Ok(None)
        }
    }
}

impl OfRun {
    fn new(trigger: tinyprof_settings::Trigger, settings: &Settings) -> Result<Self, String> {
        let cannot = |error: std::io::Error| error.to_string();
        let token = token().map_err(cannot)?;
        let steer = settings.steer.unwrap_or_default();
        let segments = settings.segment_directory.as_deref();
        let watcher = Watcher::new(trigger, steer, segments, token.clone())?;
        let output = std::io::stderr().as_fd().try_clone_to_owned().map_err(cannot)?.into();
        let directory = env::current_dir().map_err(cannot)?;
        Ok(Self { watcher, token, directory, output })
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Returns the file that has to stay open.
    pub(super) fn descriptor(&self) -> RawFd {
        self.output.as_raw_fd()
    }

    /// Begins to watch, in a process of its own. `peers` returns the hosts whose ranks are known.
    pub(super) fn begin(self, peers: impl Fn() -> Vec<IpAddr> + Send + 'static) -> Watching {
        let is_over = Arc::new(AtomicBool::new(false));
        let (sender, end) = channel();
        let told = Arc::clone(&is_over);
        thread::spawn(move || {
            if print_to(&self.output).and(env::set_current_dir(&self.directory)).is_ok() {
                self.watcher.watch(peers, || told.load(Relaxed));
            }
            sender.send(()).ok();
        });
        Watching { is_over, end }
    }
}

impl Watching {
    /// Ends it, now that the job has ended.
    pub(super) fn end(self) {
        self.is_over.store(true, Relaxed);
        self.end.recv_timeout(PATIENCE).ok();
    }
}
