//! Sends all that the ranks of a host have measured so far to whoever watches the job: only the
//! measurements of all ranks together tell why they wait.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use tinyprof_format::model::Profile;
use tinyprof_picture::frame::Measurements;

use crate::live::profile::{Name, write};
use crate::live::segments::{copies, event_maps, only_job, pieces};
use crate::live::told::{Head, Scratch, Told};
use crate::memory;
use crate::recover::jobs::jobs;
use crate::sys;

/// The longest profile of a host that is sent, in bytes. Without events it is far smaller.
const BYTES_MAX: u64 = 16 << 20;

/// When an agent reads the measurements of its host.
#[derive(Debug)]
pub(super) struct Timer {
    every: Duration,
    /// When it began to read the last ones, in ns.
    last_ns: Option<u64>,
}

impl Timer {
    /// Creates a timer that goes off at once, and then as often as that.
    pub(super) fn new(seconds: u32) -> Self {
        Self { every: Duration::from_secs(seconds.into()), last_ns: None }
    }

    /// Returns whether it has gone off since it was asked last.
    pub(super) fn has_gone_off(&mut self) -> bool {
        let is_due = self.last_ns.is_none_or(|last_ns| sys::since(last_ns) >= self.every);
        if is_due {
            self.last_ns = Some(sys::now().monotonic_ns);
        }
        is_due
    }
}

/// Returns what a job of this host has measured; nothing if that cannot be read or is too long:
/// whoever watches shows no answer without it.
pub(super) fn measurements(
    host: &str,
    directory: &Path,
    job: Option<&str>,
) -> Option<Measurements> {
    let profile = packed(directory, job).ok()?;
    let is_short = profile.len() as u64 <= BYTES_MAX;
    is_short.then(|| Measurements { host: host.to_owned(), profile })
}

/// Returns the packed profile of a job of this host as it is now, without its events.
fn packed(directory: &Path, job: Option<&str>) -> Result<Vec<u8>, Box<dyn Error>> {
    let threads = copies(directory)?;
    let pieces = pieces(&threads);
    let job = only_job(jobs(&pieces), job, directory)?;
    let ranks = event_maps(&job, sys::now(), |_, _, _| ());
    let scratch = Scratch::new()?;
    let name = Name { chosen: None, directory: scratch.path(), ending: "" };
    let described = job.description();
    let profile = write(described.metadata, &ranks, None, &described.profile, name)?;
    Ok(Told::of_profile(profile).packed()?)
}

/// Returns a profile that was packed.
///
/// # Errors
/// If it is none, or too long.
pub(in crate::live) fn unpacked(packed: &[u8]) -> Result<Profile, Box<dyn Error>> {
    let mut from = packed;
    let files = Head::read(&mut from)?.read_files(&mut from, BYTES_MAX)?;
    Ok(memory::read_options().read_of(&files)?)
}
