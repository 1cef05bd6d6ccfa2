//! A part in the paper's text format: what an aggregator writes where that is asked for (paper,
//! section VI).

use super::encoded_rank::EncodedRank;
use super::part;
use super::rank_values::RankValues;
use super::section::FrameError;
use super::write::ManifestFacts;
use crate::bytes::Budget;
use crate::model::{
    CallpathFile, CallpathTable, CallpathValues, Manifest, PhaseTimes, Profile, RunMetadata,
};
use crate::text::write_text;

/// The text of `ranks`, the first of which is rank `first_rank` of the run, with a row for every
/// callpath of `dictionary`, in the same order in every part of a profile.
///
/// # Errors
/// When the text would be out of all proportion to what was measured; the text says so.
///
/// # Panics
/// As [`encode_part`](super::encode_part).
///
/// # Cost
/// That of [`encode_part`](super::encode_part) and of reading it, besides the text: the ranks have
/// encoded their series already.
pub fn encode_text_part(
    first_rank: u32,
    dictionary: &CallpathTable,
    ranks: &[EncodedRank],
) -> Result<Vec<u8>, String> {
    encode(first_rank, dictionary, ranks)
}

/// The same of ranks that may not be encoded yet.
pub(super) fn encode<R: RankValues>(
    first_rank: u32,
    dictionary: &CallpathTable,
    ranks: &[R],
) -> Result<Vec<u8>, String> {
    let bytes = part::encode(first_rank, dictionary, ranks);
    let mut values = vec![vec![CallpathValues::default(); ranks.len()]; dictionary.len()];
    let mut rows: Vec<&mut [CallpathValues]> = values.iter_mut().map(Vec::as_mut_slice).collect();
    // These are our own bytes: they claim what was measured.
    let budget = Budget::new(u64::MAX);
    let facts =
        part::decode(&bytes, (first_rank, ranks.len()), &dictionary.children(), &mut rows, &budget);
    let facts = facts.map_err(|error| match error {
        FrameError::Malformed(at) => at.reason,
        FrameError::NewerVersion { major, minor } => format!("it is of version {major}.{minor}"),
    })?;
    let profile =
        Profile { manifest: manifest(), callpaths: dictionary.clone(), ranks: facts, values };
    let mut text = Vec::new();
    write_text(&profile, &mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

/// Of which the text shows nothing.
fn manifest() -> Manifest {
    let (files, metadata, times) =
        (CallpathFile::default(), RunMetadata::default(), PhaseTimes::default());
    ManifestFacts::default().manifest(0, files, Vec::new(), metadata, times)
}
