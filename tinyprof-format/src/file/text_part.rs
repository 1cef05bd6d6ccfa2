//! A part in the paper's text format: what an aggregator writes where that is asked for (paper, section VI).

use super::encoded_rank::EncodedRank;
use super::part::{self, encode_part};
use super::section::FrameError;
use super::write::ManifestFacts;
use crate::model::{CallpathFile, CallpathTable, Manifest, PhaseTimes, Profile, RunMetadata};
use crate::text::write_text;

/// The text of `ranks`, the first of which is rank `first_rank` of the run, with a row for every callpath of `dictionary`,
/// in the same order in every part of a profile.
///
/// # Errors
/// When the text would be out of all proportion to what was measured; the text says so.
///
/// # Panics
/// As [`encode_part`].
///
/// # Cost
/// That of [`encode_part`] and of reading it, besides the text: the ranks have encoded their series already.
pub fn encode_text_part(
    first_rank: u32,
    dictionary: &CallpathTable,
    ranks: &[EncodedRank],
) -> Result<Vec<u8>, String> {
    let rows = u32::try_from(dictionary.len()).map_err(|_| "there are 2^32 callpaths or more".to_owned())?;
    let bytes = encode_part(first_rank, rows, ranks);
    let part = part::decode(&bytes, dictionary.len(), ranks.len()).map_err(|error| match error {
        FrameError::Malformed(at) => at.reason,
        FrameError::NewerVersion { major, minor } => format!("it is of version {major}.{minor}"),
    })?;
    let profile = Profile {
        manifest: manifest(),
        callpaths: dictionary.clone(),
        ranks: part.facts,
        values: part.values,
    };
    let mut text = Vec::new();
    write_text(&profile, &mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

/// Of which the text shows nothing.
fn manifest() -> Manifest {
    let (files, metadata, times) = (CallpathFile::default(), RunMetadata::default(), PhaseTimes::default());
    ManifestFacts::default().manifest(0, files, Vec::new(), metadata, times)
}
