//! Writers of whole profiles from one process.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::manifest_facts::ManifestFacts;
use super::rank_values::MapValues;
use super::{OutputFiles, OutputFormat, UnfinishedProfile, part, text_part, write_part};
use crate::error::WriteError;
use crate::model::{
    CallpathFile, CallpathTable, EventMap, PartFile, PhaseTimes, RunMetadata, RunState,
};

/// Writes the profile of `ranks`, in parts of `ranks_per_part`, and returns its final name.
///
/// A program without MPI calls this at its end, with its one event map.
///
/// # Errors
/// If a file cannot be written. Nothing is left behind then.
///
/// # Panics
/// If `ranks_per_part` is 0, or there are 2^32 ranks or more.
pub fn write_profile(
    target: &Path,
    ranks: &[EventMap],
    ranks_per_part: usize,
    metadata: RunMetadata,
    flush: PhaseTimes,
) -> Result<PathBuf, WriteError> {
    let target = (OutputFiles::default(), target);
    write_profile_with(target, ranks, ranks_per_part, metadata, flush, RunState::default())
}

/// Writes the profile of `ranks` in `state`, in its precision, and with the format and permissions
/// in `files`.
///
/// # Errors
/// If a file cannot be written. Nothing is left behind then.
///
/// # Panics
/// If `ranks_per_part` is 0, or there are 2^32 ranks or more.
pub fn write_profile_with(
    (files, target): (impl Into<OutputFiles>, &Path),
    ranks: &[EventMap],
    ranks_per_part: usize,
    metadata: RunMetadata,
    flush: PhaseTimes,
    state: RunState,
) -> Result<PathBuf, WriteError> {
    write_timed((files.into(), target), ranks, ranks_per_part, metadata, &|| flush, state)
}

/// Writes the profile of a process with one event map, for a caller that has a clock.
///
/// `flush` is called when everything but the manifest is written, so that the profile can contain
/// the time that this took.
///
/// # Errors
/// If a file cannot be written. Nothing is left behind then.
pub fn write_timed_profile(
    files: impl Into<OutputFiles>,
    target: &Path,
    map: &EventMap,
    metadata: RunMetadata,
    flush: &dyn Fn() -> PhaseTimes,
    state: RunState,
) -> Result<PathBuf, WriteError> {
    write_timed((files.into(), target), std::slice::from_ref(map), 1, metadata, flush, state)
}

fn write_timed(
    (files, target): (OutputFiles, &Path),
    ranks: &[EventMap],
    ranks_per_part: usize,
    metadata: RunMetadata,
    flush: &dyn Fn() -> PhaseTimes,
    state: RunState,
) -> Result<PathBuf, WriteError> {
    let unfinished = UnfinishedProfile::create(files, target, &std::process::id().to_string())?;
    let dictionary = dictionary_of(ranks);
    let ranks: Vec<_> =
        ranks.iter().map(|map| MapValues::new(map, &dictionary, state.precision)).collect();
    let written = write_files(files, &unfinished, &dictionary, &ranks, ranks_per_part);
    let finished = written.and_then(|(callpaths, parts, facts)| {
        let manifest = facts.manifest(narrow(ranks.len()), callpaths, parts, metadata, flush());
        unfinished.finish(&manifest.with_state(state))
    });
    if finished.is_err() {
        // Report the first error. A failure to remove the directory has the same cause.
        drop(unfinished.discard());
    }
    finished
}

/// Writes the profile of a process with one event map: an interim profile, or a profile after
/// interim profiles.
///
/// # Errors
/// If a file cannot be written. Nothing is left behind then.
pub fn write_profile_in_state(
    files: impl Into<OutputFiles>,
    target: &Path,
    map: &EventMap,
    metadata: RunMetadata,
    flush: PhaseTimes,
    state: RunState,
) -> Result<PathBuf, WriteError> {
    write_profile_with((files, target), std::slice::from_ref(map), 1, metadata, flush, state)
}

/// Writes the profile of a run that did not reach its end. The profile contains the reason why it
/// is incomplete.
///
/// # Errors
/// If a file cannot be written. Nothing is left behind then.
///
/// # Panics
/// If `ranks_per_part` is 0, or there are 2^32 ranks or more.
pub fn write_incomplete_profile(
    target: &Path,
    ranks: &[EventMap],
    ranks_per_part: usize,
    metadata: RunMetadata,
    because: String,
) -> Result<PathBuf, WriteError> {
    let state = RunState { incomplete_because: Some(because), ..RunState::default() };
    let target = (OutputFiles::default(), target);
    write_profile_with(target, ranks, ranks_per_part, metadata, PhaseTimes::default(), state)
}

/// Returns the callpaths of all ranks, with distinct ids. For a single rank this is usually its own
/// table.
fn dictionary_of(ranks: &[EventMap]) -> Cow<'_, CallpathTable> {
    match ranks {
        [map] if map.callpaths.has_distinct_ids() => Cow::Borrowed(&map.callpaths),
        _ => {
            let union = |all: CallpathTable, map: &EventMap| all.union(&map.callpaths);
            Cow::Owned(ranks.iter().fold(CallpathTable::default(), union).with_distinct_ids())
        }
    }
}

fn write_files(
    files: OutputFiles,
    unfinished: &UnfinishedProfile,
    dictionary: &CallpathTable,
    ranks: &[MapValues<'_>],
    ranks_per_part: usize,
) -> Result<(CallpathFile, Vec<PartFile>, ManifestFacts), WriteError> {
    let callpaths = unfinished.write_callpaths(dictionary)?;
    let mut parts = Vec::new();
    let mut facts = ManifestFacts::default();
    for (number, group) in ranks.chunks(ranks_per_part).enumerate() {
        let first_rank = narrow(number * ranks_per_part);
        let bytes = match files.format {
            OutputFormat::Tprof => part::encode(first_rank, dictionary, group),
            OutputFormat::Csv => {
                text_part::encode(first_rank, dictionary, group).map_err(|reason| WriteError {
                    action: "write",
                    path: unfinished.directory().to_owned(),
                    source: std::io::Error::other(reason),
                })?
            }
        };
        let ranks = first_rank..first_rank + narrow(group.len());
        parts.push(write_part(files, unfinished.directory(), narrow(number), ranks, &bytes)?);
        facts.absorb(ManifestFacts::of_values(group));
    }
    Ok((callpaths, parts, facts))
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("there are fewer than 2^32 ranks")
}
