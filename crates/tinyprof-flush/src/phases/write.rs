//! Phase 3: each aggregator writes its part. When all have done so, rank 0 writes the manifest
//! (paper, section V-B).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tinyprof::__mpi::NotDone;
use tinyprof::collect::monotonic_ns;
use tinyprof_format::file::{
    self, EncodedRank, ManifestFacts, OutputFiles, OutputFormat, UnfinishedProfile, encode_part,
    encode_text_part, join_alike,
};
use tinyprof_format::model::{
    CallpathTable, ExecutionSummary, PartFile, PhaseTimes, RunMetadata, RunState,
};
use tinyprof_report::{Report, Statistics};

use super::groups::{Group, Groups};
use super::{chunks, tree};
use crate::communicator::{Communicator, Interrupted};

/// The result of writing the parts of one or several neighbouring aggregators.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outcome {
    parts: Vec<PartFile>,
    facts: ManifestFacts,
    /// The first failure, if there was one.
    failure: Option<String>,
    #[serde(skip)]
    statistics: Statistics,
}

impl Outcome {
    /// Returns the outcome of a part that could not be written, for a reason that does not come
    /// from the system.
    pub(super) fn failed(dictionary: &CallpathTable, group: &Group, failure: NotDone) -> Self {
        let reason = format!("the part of the ranks from {} on: {failure}", group.first_rank);
        let statistics = Statistics::new(dictionary.len());
        Self { failure: Some(reason), statistics, ..Self::default() }
    }

    /// Returns the length of all parts together.
    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

/// The directory and format of a profile's files: rank 0 has created the directory and tells all
/// ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutputTarget {
    pub(super) directory: PathBuf,
    pub(super) files: OutputFiles,
}

/// Writes the part of a group of a run of `size` ranks.
pub(super) fn write_part(
    place: &OutputTarget,
    (group, size): (&Group, u32),
    dictionary: &CallpathTable,
    ranks: Vec<Result<EncodedRank, String>>,
) -> Outcome {
    let mut outcome =
        Outcome { statistics: Statistics::new(dictionary.len()), ..Outcome::default() };
    let mut ranks: Vec<EncodedRank> = match ranks.into_iter().collect() {
        Ok(ranks) => ranks,
        Err(reason) => return Outcome { failure: Some(reason), ..outcome },
    };
    outcome.facts = ManifestFacts::of_ranks(&ranks);
    for (rank, encoded) in (group.first_rank..).zip(&ranks) {
        let mut summaries: Vec<&[ExecutionSummary]> = vec![&[]; dictionary.len()];
        for callpath in &encoded.callpaths {
            summaries[callpath.row as usize] = &callpath.executions;
        }
        outcome
            .statistics
            .add_rank(dictionary, rank, &encoded.facts, |index| summaries[index.row()]);
    }
    let narrow =
        |count: usize| u32::try_from(count).expect("there are fewer than 2^32 ranks and callpaths");
    let bytes = match place.files.format {
        OutputFormat::Tprof => {
            join_alike(&mut ranks, size);
            Ok(encode_part(group.first_rank, dictionary, &ranks))
        }
        OutputFormat::Csv => {
            encode_text_part(dictionary, &ranks).map_err(|error| error.to_string())
        }
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(reason) => return Outcome { failure: Some(reason), ..outcome },
    };
    let range = group.first_rank..group.first_rank + narrow(ranks.len());
    match file::write_part(place.files, &place.directory, group.number, range, &bytes) {
        Ok(part) => outcome.parts.push(part),
        Err(error) => outcome.failure = Some(error.to_string()),
    }
    outcome
}

/// Brings the outcomes of all aggregators to rank 0. Collective over the aggregators; others pass
/// nothing.
pub(super) async fn unite(
    communicator: &impl Communicator,
    groups: &Groups,
    group: &Group,
    outcome: Option<Outcome>,
    chunk_bytes: usize,
) -> Result<Option<Outcome>, Interrupted> {
    let Some(outcome) = outcome else { return Ok(None) };
    let rank_of = |number| groups.aggregator(number);
    let how = Union { chunk_bytes };
    tree::reduce(communicator, groups.count(), group.number, rank_of, outcome, &how).await
}

struct Union {
    chunk_bytes: usize,
}

impl tree::Reduction for Union {
    type Value = Outcome;

    async fn hand_over(
        &self,
        to: &impl Communicator,
        rank: u32,
        value: Outcome,
    ) -> Result<(), Interrupted> {
        let json = serde_json::to_vec(&value).unwrap_or_default();
        let length = (json.len() as u64).to_le_bytes();
        let message = [&length, json.as_slice(), &value.statistics.to_bytes()].concat();
        chunks::send(to, rank, &message, self.chunk_bytes).await
    }

    async fn absorb(
        &self,
        from: &impl Communicator,
        rank: u32,
        value: &mut Outcome,
    ) -> Result<(), Interrupted> {
        let later = chunks::receive(from, rank, self.chunk_bytes).await?;
        let Some(theirs) = decode(&later) else {
            let unreadable = || "an aggregator's report could not be read".to_owned();
            value.failure.get_or_insert_with(unreadable);
            return Ok(());
        };
        value.parts.extend(theirs.parts);
        value.facts.absorb(theirs.facts);
        value.failure = value.failure.take().or(theirs.failure);
        value.statistics.merge(&theirs.statistics);
        Ok(())
    }
}

fn decode(bytes: &[u8]) -> Option<Outcome> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let (json, statistics) =
        rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let outcome: Outcome = serde_json::from_slice(json).ok()?;
    Some(Outcome { statistics: Statistics::from_bytes(statistics)?, ..outcome })
}

/// Completes the profile on rank 0, unless a part has failed. Returns the result, and the report in
/// either case. The dictionary has the names of call sites.
pub(super) fn finish(
    unfinished: &UnfinishedProfile,
    total: Outcome,
    dictionary: &CallpathTable,
    ranks: u32,
    (metadata, state, mut times): (RunMetadata, RunState, PhaseTimes),
) -> (Result<PathBuf, String>, Report) {
    let begin_ns = monotonic_ns();
    let (callpaths, written) = match unfinished.write_callpaths(dictionary) {
        Ok(file) => (file, Ok(())),
        Err(error) => (Default::default(), Err(error.to_string())),
    };
    times.write_ns += monotonic_ns().saturating_sub(begin_ns);
    let manifest =
        total.facts.manifest(ranks, callpaths, total.parts, metadata, times).with_state(state);
    let report = Report::new(&manifest, dictionary, total.statistics);
    let result = match total.failure {
        Some(failure) => Err(failure),
        None => {
            written.and_then(|()| unfinished.finish(&manifest).map_err(|error| error.to_string()))
        }
    };
    (result, report)
}
