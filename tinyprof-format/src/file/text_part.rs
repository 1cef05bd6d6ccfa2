//! The text form of a part, for output in the paper's text format (paper, section VI).

use std::io;

use super::encoded_rank::EncodedRank;
use super::manifest_facts::ManifestFacts;
use super::part;
use super::rank_values::RankValues;
use crate::bytes::MemoryLimit;
use crate::error::DecodeError;
use crate::model::{
    CallpathFile, CallpathTable, CallpathValues, Manifest, PhaseTimes, Profile, RunMetadata,
};
use crate::text::{TextError, write_text};

/// Returns the text of `ranks`, with a row for every callpath of `dictionary`, in the same order in
/// every part of a profile. The first of them is rank `first_rank` of the run.
///
/// # Errors
/// If the text would be disproportionately longer than the measurements.
///
/// # Panics
/// As [`encode_part`](super::encode_part).
///
/// # Cost
/// That of [`encode_part`](super::encode_part) and of reading its output, in addition to the text,
/// because the ranks have already encoded their series.
pub fn encode_text_part(
    first_rank: u32,
    dictionary: &CallpathTable,
    ranks: &[EncodedRank],
) -> Result<Vec<u8>, TextError> {
    encode(first_rank, dictionary, ranks)
}

/// Encodes a text part as [`encode_text_part`] does, also from ranks that are not yet encoded.
pub(super) fn encode<R: RankValues>(
    first_rank: u32,
    dictionary: &CallpathTable,
    ranks: &[R],
) -> Result<Vec<u8>, TextError> {
    let bytes = part::encode(first_rank, dictionary, ranks);
    let mut values = vec![vec![CallpathValues::default(); ranks.len()]; dictionary.len()];
    let mut rows: Vec<&mut [CallpathValues]> = values.iter_mut().map(Vec::as_mut_slice).collect();
    // These bytes come from this process, so their claims can be trusted.
    let memory_limit = MemoryLimit::new(u64::MAX);
    let facts = part::decode(
        &bytes,
        (first_rank, ranks.len()),
        (dictionary, &dictionary.children()),
        &mut rows,
        &memory_limit,
    );
    let facts = facts.map_err(|error| io::Error::other(DecodeError::from(error)))?;
    let profile =
        Profile { manifest: manifest(), callpaths: dictionary.clone(), ranks: facts, values };
    let mut text = Vec::new();
    write_text(&profile, &mut text)?;
    Ok(text)
}

/// Returns an empty manifest. The text shows nothing of it.
fn manifest() -> Manifest {
    let (files, metadata, times) =
        (CallpathFile::default(), RunMetadata::default(), PhaseTimes::default());
    ManifestFacts::default().manifest(0, files, Vec::new(), metadata, times)
}
