//! The three phases of a flush (paper, section V): synchronise, aggregate, write.
//!
//! They take the event map and the communicator as values and hold no state, so that they run the same on MPI
//! and on virtual ranks. Every rank enters every collective on every path: a rank that fails sends its failure
//! as data.

mod aggregate;
mod synchronise;
#[cfg(test)]
mod tests;
mod tree;
mod write;

use std::fmt;
use std::path::{Path, PathBuf};

use tinyprof::collect::monotonic_ns;
use tinyprof_format::file::{EncodedRank, UnfinishedProfile, profile_path};
use tinyprof_format::model::{EventMap, PhaseTimes, RunMetadata, RunState};
use tinyprof_format::report::Report;

use crate::communicator::Communicator;

/// What a flush needs to know besides the measurements. Rank 0's counts where ranks differ.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The name of the profile.
    pub(crate) target: PathBuf,
    /// How many aggregators; none for one to every sixteen ranks.
    pub(crate) aggregators: Option<u32>,
    /// Whether it is a checkpoint, and what there was of them before.
    pub(crate) state: RunState,
    /// Facts of the run.
    pub(crate) metadata: RunMetadata,
    /// How long phase 0 took on this rank.
    pub(crate) snapshot_ns: u64,
    /// The most bytes that one gather brings together: MPI counts them in an `int`.
    pub(crate) gather_bytes_max: usize,
}

/// What came of a flush.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Flushed {
    /// The profile, or why it was not written: the same on every rank. None if no rank had anything to write.
    pub(crate) profile: Option<Result<PathBuf, String>>,
    /// What was measured, on rank 0, unless nothing was, or the phases did not come so far.
    pub(crate) report: Option<Report>,
}

/// Writes one profile of all ranks. Collective.
pub(crate) async fn flush(communicator: &impl Communicator, map: &EventMap, plan: Plan) -> Flushed {
    let mut clock = Stopwatch::start();
    let mut own = EncodedRank::of_event_map(map);
    let agreed = synchronise::agree(communicator, map, &own, plan.aggregators).await;
    if agreed.dictionary.is_empty() {
        return Flushed::default();
    }
    own.renumber(&map.callpaths, &agreed.dictionary);
    let unfinished = (communicator.rank() == 0).then(|| {
        let token = std::process::id().to_string();
        UnfinishedProfile::create(&plan.target, &token).map_err(|error| not_written(&plan.target, &error))
    });
    let directory = announce(communicator, unfinished.as_ref()).await;
    let mut times =
        PhaseTimes { snapshot_ns: plan.snapshot_ns, synchronise_ns: clock.lap_ns(), ..Default::default() };
    let directory = match directory {
        Ok(directory) => directory,
        Err(reason) => return Flushed { profile: Some(Err(reason)), report: None },
    };
    let group = aggregate::Group::of(communicator.rank(), communicator.size(), agreed.aggregators);
    let largest_group = communicator.size().div_ceil(agreed.aggregators) as usize;
    let chunk_bytes = (plan.gather_bytes_max / largest_group).max(1);
    let collected = aggregate::collect(communicator, &group, &own, &agreed, chunk_bytes).await;
    times.aggregate_ns = clock.lap_ns();
    let outcome = collected.map(|ranks| write::write_part(&directory, &group, &agreed.dictionary, ranks));
    let total = write::unite(communicator, &group, outcome).await;
    times.write_ns = clock.lap_ns();
    let finished = unfinished.and_then(Result::ok).map(|unfinished| {
        let total = total.expect("rank 0 is the first aggregator, where the outcomes arrive");
        let facts = (plan.metadata, plan.state, times);
        write::finish(unfinished, total, &agreed.dictionary, communicator.size(), facts)
    });
    let (profile, report) = finished.unzip();
    let profile = profile.map(|written| written.map_err(|reason| not_written(&plan.target, &reason)));
    let profile = share(communicator, profile).await;
    Flushed { profile: Some(profile), report }
}

/// What a person reads who misses a profile.
fn not_written(target: &Path, reason: &dyn fmt::Display) -> String {
    format!("the profile {} was not written: {reason}", profile_path(target).display())
}

/// Tells every rank where the files go, or why they cannot go there.
async fn announce(
    communicator: &impl Communicator,
    created: Option<&Result<UnfinishedProfile, String>>,
) -> Result<PathBuf, String> {
    let own = created.map(|created| match created {
        Ok(unfinished) => Ok(unfinished.directory().to_owned()),
        Err(reason) => Err(reason.clone()),
    });
    share(communicator, own).await
}

/// Rank 0's path, or its reason why there is none, on every rank.
async fn share(
    communicator: &impl Communicator,
    own: Option<Result<PathBuf, String>>,
) -> Result<PathBuf, String> {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    const PATH: u8 = 0;
    const REASON: u8 = 1;
    let message = match own {
        None => Vec::new(),
        Some(Ok(path)) => [&[PATH], path.as_os_str().as_bytes()].concat(),
        Some(Err(reason)) => [&[REASON], reason.as_bytes()].concat(),
    };
    let message = communicator.broadcast(message).await;
    match message.split_first() {
        Some((&PATH, path)) => Ok(OsString::from_vec(path.to_vec()).into()),
        Some((_, reason)) => Err(String::from_utf8_lossy(reason).into_owned()),
        None => Err("rank 0 sent an empty message".to_owned()),
    }
}

/// Nanoseconds between moments of a flush.
struct Stopwatch {
    last_ns: u64,
}

impl Stopwatch {
    fn start() -> Self {
        Self { last_ns: monotonic_ns() }
    }

    fn lap_ns(&mut self) -> u64 {
        let now = monotonic_ns();
        now.saturating_sub(std::mem::replace(&mut self.last_ns, now))
    }
}
