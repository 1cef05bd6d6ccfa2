//! Agents: one on each host of a job, started for as long as somebody watches.
//!
//! ```text
//! top --job 4711 -- ssh or srun --> agent on n1 -- ssh or srun --> agents on n2, n3, ...
//!     <------------- pictures -----            <--- pictures ---
//! ```
//!
//! They talk through the pipes of whatever started them: nobody listens on a network, and who may
//! start a process in the job is who may watch it. An agent that watches for others merges what
//! they tell, so that each pipe carries one picture at a time, whatever the number of hosts.

mod crew;
mod measured;
mod own;
mod slurm;
mod way;

use std::error::Error;
use std::io::{self, ErrorKind, Read as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use tinyprof_picture::{Picture, frame};

use crate::arguments::AgentArguments;
use crate::recover::segment_directory;
use crate::sys;

pub(super) use crew::Crew;
pub(super) use measured::unpacked;
pub(super) use slurm::hosts_of_job;
pub(super) use way::{Started, Task, Way, way_to_hosts};

use measured::{Timer, measurements};
use own::Own;

/// Sends pictures of this host, and of those that it watches for others, until nobody reads them.
///
/// # Errors
/// If no process can be started.
pub(crate) fn run(arguments: &AgentArguments) -> Result<(), Box<dyn Error>> {
    let is_over = end_of_input();
    let task = Task {
        way: Way::new(arguments.remote_shell.as_deref(), arguments.slurm_job.as_deref()),
        directory: arguments.directory.clone(),
        job: arguments.job.clone(),
        interval: Duration::from_secs(arguments.interval.into()),
        measurements: arguments.measurements,
    };
    let (name, others) = arguments.hosts.split_first().ok_or("expected this host's name")?;
    let crew = Crew::start(&task, others);
    let directory = segment_directory(arguments.directory.as_deref());
    let mut own = Own::new(name, &directory, task.job.clone());
    let mut timer = task.measurements.map(Timer::new);
    let mut to = io::stdout().lock();
    while !is_over.load(Relaxed) {
        let begun_ns = sys::now().monotonic_ns;
        let mut all = own.picture();
        crew.add_to(&mut all);
        let mut measured = crew.take_measurements();
        if timer.as_mut().is_some_and(Timer::has_gone_off) {
            measured.extend(measurements(name, &directory, task.job.as_deref()));
        }
        let sent = frame::write(&mut to, &all).and_then(|()| {
            measured.iter().try_for_each(|one| frame::write_measurements(&mut to, one))
        });
        match sent {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            done => done?,
        }
        thread::sleep(task.interval.saturating_sub(sys::since(begun_ns)));
    }
    Ok(())
}

/// Returns a flag that is set when the input of this process ends: whoever started it is gone.
pub(super) fn end_of_input() -> Arc<AtomicBool> {
    let is_over = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&is_over);
    thread::spawn(move || {
        let mut bytes = [0; 64];
        while io::stdin().read(&mut bytes).is_ok_and(|read| read > 0) {}
        tell.store(true, Relaxed);
    });
    is_over
}

/// Adds a picture of others, or why it cannot be.
fn add(to: &mut Picture, picture: &Picture, host: &str) {
    if let Err(error) = to.merge(picture) {
        to.missing.add(missing(host, error.to_string()));
    }
}

fn missing(host: &str, why: impl Into<String>) -> tinyprof_picture::Missing {
    tinyprof_picture::Missing { host: host.to_owned(), why: why.into() }
}
