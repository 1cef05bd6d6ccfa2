//! The text form of a part, for output in the paper's text format (paper, section VI).

use std::io;

use super::encoded_rank::EncodedRank;
use super::manifest_facts::ManifestFacts;
use super::rank_values::RankValues;
use crate::error::DecodeError;
use crate::model::{
    CallpathFile, CallpathTable, CallpathValues, Manifest, PhaseTimes, Profile, RunMetadata,
};
use crate::text::{TextError, write_text};

/// Returns the text of `ranks`, with a row for every callpath of `dictionary`, in the same order in
/// every part of a profile.
///
/// # Errors
/// If the text would be disproportionately longer than the measurements.
///
/// # Cost
/// The times of all ranks are in memory together. Ranks that have already encoded their series
/// decode them.
pub fn encode_text_part(
    dictionary: &CallpathTable,
    ranks: &[EncodedRank],
) -> Result<Vec<u8>, TextError> {
    encode(dictionary, ranks)
}

/// Encodes a text part as [`encode_text_part`] does, also from ranks that are not yet encoded.
pub(super) fn encode<R: RankValues>(
    dictionary: &CallpathTable,
    ranks: &[R],
) -> Result<Vec<u8>, TextError> {
    let mut values = vec![vec![CallpathValues::default(); ranks.len()]; dictionary.len()];
    for (place, rank) in ranks.iter().enumerate() {
        for (row, position) in rank.rows() {
            let times = rank.times(position);
            values[row as usize][place] =
                times.map_err(|error| io::Error::other(DecodeError::from(error)))?;
        }
    }
    let facts = ranks.iter().map(RankValues::facts).collect();
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
