//! Writers of whole profiles from one process.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::manifest_facts::ManifestFacts;
use super::rank_values::MapValues;
use super::{OutputFiles, OutputFormat, UnfinishedProfile, part, text_part, write_part};
use crate::error::WriteError;
use crate::model::{
    CallpathFile, CallpathTable, EventMap, Manifest, PartFile, PhaseTimes, RunMetadata, RunState,
};

/// A writer of whole profiles from one process.
///
/// A program without MPI uses it at its end, with its one event map.
///
/// ```
/// use tinyprof_format::file::{ProfileWriter, read_profile};
/// use tinyprof_format::model::{EventMap, RunState};
///
/// let scratch = std::env::temp_dir().join(format!("tinyprof-writer-{}", std::process::id()));
/// std::fs::create_dir_all(&scratch)?;
/// let because = Some("it was killed".to_owned());
/// let state = RunState { incomplete_because: because, ..RunState::default() };
/// let writer = ProfileWriter::new().with_ranks_per_part(2).with_state(state);
/// let ranks = [EventMap::default(), EventMap::default(), EventMap::default()];
/// let path = writer.write(&scratch.join("run"), &ranks)?;
/// assert_eq!(read_profile(&path)?.manifest.parts.len(), 2);
/// # std::fs::remove_dir_all(&scratch)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ProfileWriter {
    files: OutputFiles,
    ranks_per_part: usize,
    metadata: RunMetadata,
    times: PhaseTimes,
    state: RunState,
}

impl Default for ProfileWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl ProfileWriter {
    /// Creates a writer of private files in the native format, with one rank per part, that knows
    /// nothing about the run.
    pub fn new() -> Self {
        Self {
            files: OutputFiles::default(),
            ranks_per_part: 1,
            metadata: RunMetadata::default(),
            times: PhaseTimes::default(),
            state: RunState::default(),
        }
    }

    /// Sets the format and the permissions of the files.
    pub fn with_files(self, files: impl Into<OutputFiles>) -> Self {
        Self { files: files.into(), ..self }
    }

    /// Sets the number of ranks per part; 0 has the effect of 1.
    pub const fn with_ranks_per_part(mut self, ranks: usize) -> Self {
        self.ranks_per_part = if ranks == 0 { 1 } else { ranks };
        self
    }

    /// Sets the facts of the run.
    pub fn with_metadata(self, metadata: RunMetadata) -> Self {
        Self { metadata, ..self }
    }

    /// Sets the times of the flush.
    pub const fn with_times(mut self, times: PhaseTimes) -> Self {
        self.times = times;
        self
    }

    /// Sets the state of the run, such as the reason why the profile is incomplete, and the
    /// precision.
    pub fn with_state(self, state: RunState) -> Self {
        Self { state, ..self }
    }

    /// Writes the profile of `ranks`, and returns its final name.
    ///
    /// # Errors
    /// If a file cannot be written. Nothing is left behind then.
    ///
    /// # Panics
    /// If there are 2^32 ranks or more.
    pub fn write(self, target: &Path, ranks: &[EventMap]) -> Result<PathBuf, WriteError> {
        let times = self.times;
        self.write_timed(target, ranks, &|| times).map(|(path, _)| path)
    }

    /// Writes the profile of `ranks`, for a caller that has a clock, and returns its final name and
    /// its manifest.
    ///
    /// `times` is called when everything but the manifest is written, so that the profile can
    /// contain the time that this took.
    ///
    /// # Errors
    /// If a file cannot be written. Nothing is left behind then.
    ///
    /// # Panics
    /// If there are 2^32 ranks or more.
    pub fn write_timed(
        self,
        target: &Path,
        ranks: &[EventMap],
        times: &dyn Fn() -> PhaseTimes,
    ) -> Result<(PathBuf, Manifest), WriteError> {
        let Self { files, ranks_per_part, metadata, state, .. } = self;
        let unfinished = UnfinishedProfile::create(files, target, &std::process::id().to_string())?;
        let dictionary = dictionary_of(ranks);
        let ranks: Vec<_> =
            ranks.iter().map(|map| MapValues::new(map, &dictionary, state.precision)).collect();
        let written = write_files(files, &unfinished, &dictionary, &ranks, ranks_per_part);
        let finished = written.and_then(|(callpaths, parts, facts)| {
            let manifest = facts.manifest(narrow(ranks.len()), callpaths, parts, metadata, times());
            let manifest = manifest.with_state(state);
            unfinished.finish(&manifest).map(|path| (path, manifest))
        });
        if finished.is_err() {
            // Report the first error. A failure to remove the directory has the same cause.
            drop(unfinished.discard());
        }
        finished
    }
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
                text_part::encode(dictionary, group).map_err(|reason| WriteError {
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
