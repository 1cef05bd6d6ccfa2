//! Reads the manifest.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

use crate::error::ReadError;
use crate::model::{FORMAT_NAME, FormatVersion, Manifest};

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
    if head.format != FORMAT_NAME {
        return Err(bad(format!("its format is {:?}, not {FORMAT_NAME:?}", head.format)));
    }
    if head.version.major > FormatVersion::CURRENT.major {
        return Err(ReadError::NewerVersion { path, found: (head.version.major, head.version.minor) });
    }
    serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))
}
