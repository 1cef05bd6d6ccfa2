//! Reads the manifest.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

use super::OutputFormat;
use crate::error::ReadError;
use crate::model::{FormatVersion, Manifest};

/// The keys that every version has: read first, so that a newer layout is told from a damaged file.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: FormatVersion,
}

/// The manifest of the profile in `directory`.
///
/// # Errors
/// When there is none, when it is not a manifest, or when it is of a newer major version.
pub fn read_manifest(directory: &Path) -> Result<Manifest, ReadError> {
    read_manifest_of(OutputFormat::Tprof, directory)
}

/// The manifest of a profile whose files are of `format`.
pub(super) fn read_manifest_of(format: OutputFormat, directory: &Path) -> Result<Manifest, ReadError> {
    let path = directory.join("manifest.json");
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            let unfinished = directory.join("callpaths").exists() || directory.join("part-00000").exists();
            return Err(ReadError::NoManifest { directory: directory.to_owned(), unfinished });
        }
        Err(source) => return Err(ReadError::Io { path, source }),
    };
    let bad = |reason: String| ReadError::BadManifest { path: path.clone(), reason };
    let head: Head = serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))?;
    if head.format != format.name() {
        let mut reason = format!("its format is {:?}, not {:?}", head.format, format.name());
        if head.format == OutputFormat::Csv.name() {
            reason.push_str("; tinyprof import makes a profile of it that all commands read");
        }
        return Err(bad(reason));
    }
    if head.version.major > FormatVersion::CURRENT.major {
        return Err(ReadError::NewerVersion { path, found: (head.version.major, head.version.minor) });
    }
    serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))
}
