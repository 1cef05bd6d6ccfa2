//! A writer for profiles in memory, such as one read from another format.

use std::path::{Path, PathBuf};

use super::{
    EncodedRank, OutputFiles, OutputFormat, Permissions, UnfinishedProfile, encode_part, write_part,
};
use crate::error::WriteError;
use crate::model::{
    CallpathFile, CallpathTable, EventMap, FormatVersion, Manifest, PartFile, Profile,
};

/// Writes `profile` as one part, in files of these permissions, and returns its final name. The
/// manifest keeps the facts of the run, its completeness, and its losses.
///
/// # Errors
/// If a file cannot be written. Nothing is left behind then.
///
/// # Panics
/// If there are 2^32 ranks or more.
pub fn save_profile(
    permissions: Permissions,
    target: &Path,
    profile: &Profile,
) -> Result<PathBuf, WriteError> {
    let files = OutputFiles { format: OutputFormat::Tprof, permissions };
    let unfinished = UnfinishedProfile::create(files, target, &std::process::id().to_string())?;
    let finished = write(files, &unfinished, profile);
    if finished.is_err() {
        // Report the first error. A failure to remove the directory has the same cause.
        drop(unfinished.discard());
    }
    finished
}

fn write(
    files: OutputFiles,
    unfinished: &UnfinishedProfile,
    profile: &Profile,
) -> Result<PathBuf, WriteError> {
    let callpaths = unfinished.write_callpaths(&profile.callpaths)?;
    let encoded: Vec<EncodedRank> =
        (0..profile.ranks.len()).map(|rank| encode(profile, rank)).collect();
    let ranks = u32::try_from(encoded.len()).expect("there are fewer than 2^32 ranks");
    let parts = if encoded.is_empty() {
        Vec::new()
    } else {
        let bytes = encode_part(0, &profile.callpaths, &encoded);
        vec![write_part(files, unfinished.directory(), 0, 0..ranks, &bytes)?]
    };
    unfinished.finish(&manifest(profile, callpaths, parts, ranks))
}

fn manifest(
    profile: &Profile,
    callpaths: CallpathFile,
    parts: Vec<PartFile>,
    ranks: u32,
) -> Manifest {
    // The number means that a profile holds all data of its run's segments. A copy may hold less.
    let profile_id = None;
    Manifest {
        version: FormatVersion::USUAL,
        ranks,
        callpaths,
        parts,
        profile_id,
        ..profile.manifest.clone()
    }
}

/// Encodes a rank as an event map whose table is that of the profile, so that its rows need not be
/// renumbered.
fn encode(profile: &Profile, rank: usize) -> EncodedRank {
    let values = profile.values.iter().map(|ranks| ranks[rank].clone()).collect();
    let callpaths = CallpathTable::default();
    EncodedRank::of_event_map(&EventMap { callpaths, values, facts: profile.ranks[rank].clone() })
}
