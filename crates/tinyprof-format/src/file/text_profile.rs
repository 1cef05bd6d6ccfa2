//! A reader for profiles that aggregators wrote as text.

use std::path::{Path, PathBuf};

use super::output::OutputFormat;
use super::read::{self, check_length};
use super::section::matches_checksum;
use super::source::{Directory, read_whole};
use super::{ReadOptions, manifest};
use crate::bytes::MemoryLimit;
use crate::error::ReadError;
use crate::model::{Manifest, PartFile, Profile};
use crate::text::{Imported, join_ranks, read_text};

/// Returns the profile in `directory`, written by a run as [`Csv`](OutputFormat::Csv), with the
/// facts of the run from its manifest.
///
/// # Errors
/// If it has no such manifest, or if a part is missing, damaged or not text. [`read_text`] reads
/// the intact rest of a damaged part.
pub fn read_text_profile(directory: &Path) -> Result<Imported, ReadError> {
    let (source, options) = (Directory::new(directory), ReadOptions::default());
    let manifest = manifest::read_of(OutputFormat::Csv, &source, options)?;
    let memory_limit = read::memory_limit(&source, &manifest, options);
    let mut texts = Vec::new();
    for part in &manifest.parts {
        let before = memory_limit.passing_bytes();
        let (path, bytes) = read_part(&source, part, &memory_limit)?;
        let text = read_text(&bytes);
        texts.push(text.map_err(|error| ReadError::Damaged {
            path,
            offset: 0,
            reason: error.to_string(),
        })?);
        memory_limit.back_to(before);
    }
    let bad = |reason| ReadError::BadManifest { path: directory.join("manifest.json"), reason };
    let joined = join_ranks(texts).ok_or_else(|| bad("it names no part".to_owned()))?;
    let (Profile { manifest: found, .. }, expected) = (&joined.profile, &manifest);
    if found.ranks != expected.ranks {
        let (found, expected) = (found.ranks, expected.ranks);
        return Err(bad(format!(
            "its parts hold {found} ranks, but it says that there are {expected}"
        )));
    }
    let manifest = Manifest {
        format: found.format.clone(),
        callpaths: found.callpaths.clone(),
        parts: Vec::new(),
        executions: found.executions,
        ..manifest
    };
    Ok(Imported { profile: Profile { manifest, ..joined.profile }, ..joined })
}

/// Returns the bytes of a part, after checking that they are the ones that were written.
fn read_part(
    source: &Directory,
    part: &PartFile,
    memory_limit: &MemoryLimit,
) -> Result<(PathBuf, Vec<u8>), ReadError> {
    let path = check_length(source, &part.file, part.bytes)?;
    let bytes = read_whole(source, &part.file, memory_limit)?;
    if !matches_checksum(&bytes, part.crc32) {
        let reason = "its checksum is not that of the manifest; tinyprof import reads what is left of this file alone";
        return Err(ReadError::Damaged { path, offset: 0, reason: reason.to_owned() });
    }
    Ok((path, bytes))
}
