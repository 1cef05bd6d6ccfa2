//! Reads a profile that aggregators wrote as text.

use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::read_manifest_of;
use super::output::OutputFormat;
use super::read::is_inside;
use crate::error::ReadError;
use crate::model::{Manifest, PartFile, Profile};
use crate::text::{Imported, join_ranks, read_text};

/// The profile in `directory`, which a run wrote as [`Csv`](OutputFormat::Csv), with what its manifest says of the run.
///
/// # Errors
/// When it has no such manifest, or a part is missing, damaged or no text. What is left of a damaged part is read by
/// [`read_text`].
pub fn read_text_profile(directory: &Path) -> Result<Imported, ReadError> {
    let manifest = read_manifest_of(OutputFormat::Csv, directory)?;
    let mut texts = Vec::new();
    for part in &manifest.parts {
        let (path, bytes) = read_part(directory, part)?;
        let text = read_text(&bytes);
        texts.push(text.map_err(|error| ReadError::Damaged {
            path,
            offset: 0,
            reason: error.to_string(),
        })?);
    }
    let bad = |reason| ReadError::BadManifest { path: directory.join("manifest.json"), reason };
    let joined = join_ranks(texts).ok_or_else(|| bad("it names no part".to_owned()))?;
    let (Profile { manifest: found, .. }, expected) = (&joined.profile, &manifest);
    if found.ranks != expected.ranks {
        let (found, expected) = (found.ranks, expected.ranks);
        return Err(bad(format!("its parts hold {found} ranks, but it says that there are {expected}")));
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

/// The bytes of a part, which must be those that were written.
fn read_part(directory: &Path, part: &PartFile) -> Result<(PathBuf, Vec<u8>), ReadError> {
    if !is_inside(&part.file) {
        let reason = format!("{:?} is not the name of a file inside the profile", part.file);
        return Err(ReadError::BadManifest { path: directory.join("manifest.json"), reason });
    }
    let path = directory.join(&part.file);
    let io = |source| ReadError::Io { path: path.clone(), source };
    let found_bytes = fs::metadata(&path).map_err(io)?.len();
    if found_bytes != part.bytes {
        return Err(ReadError::WrongLength { path, expected_bytes: part.bytes, found_bytes });
    }
    let bytes = fs::read(&path).map_err(io)?;
    if crc32fast::hash(&bytes) != part.crc32 {
        let reason =
            "its checksum is not that of the manifest; tinyprof import reads what is left of this file alone";
        return Err(ReadError::Damaged { path, offset: 0, reason: reason.to_owned() });
    }
    Ok((path, bytes))
}
