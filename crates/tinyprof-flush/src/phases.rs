//! The three phases of a flush (paper, section V): synchronise, aggregate, write.
//!
//! They take the event map and the communicator as values and hold no state, so they run on MPI
//! exactly as on virtual ranks. Every rank enters every collective on every path: a rank that fails
//! sends its failure as data.

mod aggregate;
mod chunks;
mod groups;
mod names;
mod plan;
mod synchronise;
#[cfg(test)]
mod tests;
mod tree;
mod union;
mod visit_costs;
mod workplace;
mod write;

use std::ffi::OsString;
use std::fmt;
use std::mem;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;

use tinyprof::__mpi::NotDone;
use tinyprof::collect::monotonic_ns;
use tinyprof_format::file::{EncodedRank, OutputFiles, UnfinishedProfile};
use tinyprof_format::model::{EventMap, PhaseTimes, Precision, ProfileId, RunState};

pub use plan::{Flushed, Plan};
pub use workplace::{WorkError, Workplace};

use crate::communicator::{Communicator, Interrupted};
use crate::observer::Milestone;
use names::Names;
use synchronise::GlobalPlan;
use write::{Outcome, OutputTarget};

/// The data that one rank brings to a flush.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Everything that the rank has measured.
    pub map: EventMap,
    /// The encoded data that leaves the rank.
    own: EncodedRank,
    /// The reason why nothing could be assembled, although something may have been measured.
    failure: Option<NotDone>,
}

impl Measured {
    /// Encodes the data that leaves this rank. In lower precision all times are rounded; the
    /// dictionary and the counts do not change.
    #[must_use]
    pub fn of(map: EventMap, precision: Precision) -> Self {
        let own = EncodedRank::of_event_map(&map.in_precision(precision));
        Self { map, own, failure: None }
    }

    /// Returns the reason why nothing could be assembled, if it could not.
    #[must_use]
    pub fn failure(&self) -> Option<NotDone> {
        self.failure
    }

    /// Creates the contribution of a rank that brings nothing. Its reason becomes that of all
    /// ranks.
    #[must_use]
    pub fn missing(failure: NotDone) -> Self {
        Self { failure: Some(failure), ..Self::default() }
    }
}

/// The reason why a step of the phases has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepError {
    /// An operation did not complete: the ranks are no longer at the same one.
    Interrupted(Interrupted),
    /// There will be no profile, for the same reason on every rank.
    NoProfile(String),
}

impl From<Interrupted> for StepError {
    fn from(interrupted: Interrupted) -> Self {
        Self::Interrupted(interrupted)
    }
}

/// Writes one profile of all ranks. Collective.
///
/// # Errors
/// When ranks did not come in time, or MPI failed. Then there is no profile of all ranks, except in
/// one case that no protocol can exclude: rank 0 has finished it and a rank never received the
/// result. Nothing is reported to the user.
pub async fn flush(
    communicator: &impl Communicator,
    measured: &mut Measured,
    plan: &Plan,
) -> Result<Flushed, Interrupted> {
    match flush_in_steps(communicator, measured, plan).await {
        Ok(flushed) => Ok(flushed),
        Err(StepError::NoProfile(reason)) => {
            Ok(Flushed { profile: Some(Err(reason)), ..Flushed::default() })
        }
        Err(StepError::Interrupted(interrupted)) => Err(interrupted),
    }
}

async fn flush_in_steps(
    communicator: &impl Communicator,
    measured: &mut Measured,
    plan: &Plan,
) -> Result<Flushed, StepError> {
    let clock = Stopwatch::start();
    plan.observer.reached(Milestone::Encoded);
    let agreed = Arc::new(synchronise::agree(communicator, measured, plan).await?);
    if agreed.dictionary.is_empty() {
        return Ok(Flushed::default());
    }
    plan.observer.reached(Milestone::Agreed);
    let mut own = mem::take(&mut measured.own);
    own.renumber(&measured.map.callpaths, &agreed.dictionary);
    let unfinished = (communicator.rank() == 0).then(|| {
        let files = OutputFiles { format: plan.format, permissions: plan.permissions };
        let target = plan.target.clone();
        let token = std::process::id().to_string();
        let create = move || UnfinishedProfile::create(files, &target, &token).map(Arc::new);
        plan.workplace.try_run(create).map_err(|error| not_written(plan, &error))
    });
    let created = unfinished.as_ref();
    let flushed =
        aggregate_and_write(communicator, (own, measured), plan, agreed, created, clock).await;
    let is_written = matches!(&flushed, Ok(Flushed { profile: Some(Ok(_)), .. }));
    if let (Some(Ok(unfinished)), false) = (unfinished, is_written) {
        // The failure itself is reported; if its remains could not be removed, that most likely has
        // the same cause.
        drop(
            plan.workplace.run(move || Arc::into_inner(unfinished).map(UnfinishedProfile::discard)),
        );
    }
    flushed
}

/// Runs phases 2 and 3, in the directory that rank 0 has created.
async fn aggregate_and_write(
    communicator: &impl Communicator,
    (own, measured): (EncodedRank, &Measured),
    plan: &Plan,
    agreed: Arc<GlobalPlan>,
    unfinished: Option<&Result<Arc<UnfinishedProfile>, String>>,
    mut clock: Stopwatch,
) -> Result<Flushed, StepError> {
    let limit = plan.message_bytes_max;
    let names = unfinished.filter(|created| created.is_ok());
    let names = names.map(|_| Names::find(&agreed, plan));
    let Announced { directory, id, equal } =
        announce(communicator, unfinished, names.as_ref(), plan).await?;
    let (own, agreed) = names::merge(&equal, own, measured, agreed);
    plan.observer.reached(Milestone::Announced);
    let mut times = PhaseTimes {
        snapshot_ns: plan.snapshot_ns,
        synchronise_ns: clock.lap_ns(),
        ..Default::default()
    };
    // This rank's values are on no other rank yet. So the segments name the profile before any
    // profile can contain these values.
    if let Some(id) = id {
        (plan.on_profile_id)(id, &plan.target);
    }
    let files = OutputFiles { format: agreed.format, permissions: plan.permissions };
    let place = OutputTarget { directory, files };
    let group = agreed.groups.group_of(communicator.rank());
    let chunk_bytes = (limit / agreed.groups.largest() as usize).max(1);
    let collected = aggregate::collect(communicator, &group, own, &agreed, chunk_bytes).await?;
    times.aggregate_ns = clock.lap_ns();
    plan.observer.reached(Milestone::Collected);
    let outcome = collected.map(|collected| {
        let for_part = Arc::clone(&agreed);
        let size = communicator.size();
        let written = plan.workplace.run(move || {
            let ranks = collected.decode(&for_part);
            write::write_part(&place, (&group, size), &for_part.dictionary, ranks)
        });
        let outcome =
            written.unwrap_or_else(|failure| Outcome::failed(&agreed.dictionary, &group, failure));
        plan.observer.reached(Milestone::Written {
            number: group.number,
            writers: agreed.groups.count(),
            ranks: group.ranks,
            bytes: outcome.bytes(),
        });
        outcome
    });
    let total = write::unite(communicator, &agreed.groups, &group, outcome, limit).await?;
    plan.observer.reached(Milestone::United);
    times.write_ns = clock.lap_ns();
    let unfinished = unfinished.and_then(|created| created.as_ref().ok());
    let finished = unfinished.zip(names).zip(total).map(|((unfinished, names), total)| {
        let state = RunState { precision: agreed.precision, ..plan.state.clone() };
        let facts = (agreed.visit_costs.widen(&plan.metadata), state, times);
        let (unfinished, ranks) = (Arc::clone(unfinished), communicator.size());
        let finish =
            move || write::finish(&unfinished, total, &names.into_dictionary(), ranks, facts);
        match plan.workplace.run(finish) {
            Ok((written, report)) => (written, Some(report)),
            Err(failure) => (Err(failure.to_string()), None),
        }
    });
    if finished.is_some() {
        plan.observer.reached(Milestone::Finished);
    }
    let (profile, report) = finished.unzip();
    let profile = profile.map(|written| written.map_err(|reason| not_written(plan, &reason)));
    let shared = share(communicator, profile.clone(), limit).await;
    let profile = match (shared, profile) {
        // The profile is complete, even if not all ranks have received the result.
        (Err(_), Some(Ok(path))) | (Ok(path), _) => Ok(path),
        (Err(StepError::NoProfile(reason)), _) => Err(reason),
        (Err(interrupted), _) => return Err(interrupted),
    };
    plan.observer.reached(Milestone::Told);
    Ok(Flushed { profile: Some(profile), report: report.flatten(), overruled: agreed.overruled })
}

/// Returns the message for users about a profile that was not written.
fn not_written(plan: &Plan, reason: &dyn fmt::Display) -> String {
    format!("the profile {} was not written: {reason}", plan.format.path(&plan.target).display())
}

/// The message of rank 0 to every rank, before ranks send their data.
struct Announced {
    directory: PathBuf,
    id: Option<ProfileId>,
    /// The rows of the dictionary that are equal: see [`names`].
    equal: Vec<u8>,
}

/// Tells every rank the directory of the files, the number of the profile and the rows that are
/// equal, or the reason why it cannot be written.
async fn announce(
    communicator: &impl Communicator,
    created: Option<&Result<Arc<UnfinishedProfile>, String>>,
    names: Option<&Names>,
    plan: &Plan,
) -> Result<Announced, StepError> {
    let id = plan.state.profile_id.map_or(0, ProfileId::to_word).to_le_bytes();
    let equal = names.map(Names::to_bytes).unwrap_or_default();
    let own = created.map(|created| match created {
        Ok(unfinished) => {
            let path = unfinished.directory().as_os_str().as_bytes();
            Ok([&id, &(path.len() as u64).to_le_bytes(), path, &equal].concat())
        }
        Err(reason) => Err(reason.clone()),
    });
    let told = share_bytes(communicator, own, plan.message_bytes_max).await?;
    announced(&told)
        .ok_or_else(|| StepError::NoProfile("rank 0 sent an incomplete message".to_owned()))
}

fn announced(told: &[u8]) -> Option<Announced> {
    let (id, rest) = told.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (path, equal) = rest.split_at_checked(length)?;
    Some(Announced {
        directory: OsString::from_vec(path.to_vec()).into(),
        id: ProfileId::from_word(u64::from_le_bytes(*id)),
        equal: equal.to_vec(),
    })
}

/// Shares rank 0's path, or its reason why there is none, with every rank.
async fn share(
    communicator: &impl Communicator,
    own: Option<Result<PathBuf, String>>,
    chunk_bytes: usize,
) -> Result<PathBuf, StepError> {
    let own = own.map(|own| own.map(|path| path.into_os_string().into_vec()));
    let path = share_bytes(communicator, own, chunk_bytes).await?;
    Ok(OsString::from_vec(path).into())
}

/// Shares rank 0's bytes, or its reason why there are none, with every rank.
async fn share_bytes(
    communicator: &impl Communicator,
    own: Option<Result<Vec<u8>, String>>,
    chunk_bytes: usize,
) -> Result<Vec<u8>, StepError> {
    const VALUE: u8 = 0;
    const REASON: u8 = 1;
    let message = match own {
        None => Vec::new(),
        Some(Ok(bytes)) => [&[VALUE], bytes.as_slice()].concat(),
        Some(Err(reason)) => [&[REASON], reason.as_bytes()].concat(),
    };
    let message = chunks::broadcast(communicator, message, chunk_bytes).await?;
    match message.split_first() {
        Some((&VALUE, bytes)) => Ok(bytes.to_vec()),
        Some((_, reason)) => {
            Err(StepError::NoProfile(String::from_utf8_lossy(reason).into_owned()))
        }
        None => Err(StepError::NoProfile("rank 0 sent an empty message".to_owned())),
    }
}

/// A stopwatch, which gives the nanoseconds between points of a flush.
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
