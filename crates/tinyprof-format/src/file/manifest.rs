//! The manifest reader.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::source::{Directory, Source, read_whole};
use super::{OutputFormat, ReadOptions};
use crate::bytes::MemoryLimit;
use crate::error::ReadError;
use crate::model::{FormatVersion, Manifest};

/// The name of the file.
pub(super) const MANIFEST: &str = "manifest.json";

/// The most memory for a byte of JSON: an empty string in a list takes three bytes, and its entry
/// twice 24 while the list grows.
const MEMORY_BYTES_A_BYTE: u64 = 32;

/// The keys of every version. They are read first, so that a newer layout is not taken for damage.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: FormatVersion,
}

/// Returns the manifest of the profile in `directory`.
///
/// # Errors
/// If there is none, if it is not a manifest, or if it is of a newer major version.
pub fn read_manifest(directory: &Path) -> Result<Manifest, ReadError> {
    read(&Directory::new(directory), ReadOptions::default())
}

/// Parses the bytes of a `manifest.json`.
///
/// # Errors
/// If they are not a manifest, or if it is of a newer major version.
pub fn decode_manifest(bytes: &[u8]) -> Result<Manifest, ReadError> {
    parse(OutputFormat::Tprof, bytes, Path::new(MANIFEST))
}

pub(super) fn read(source: &dyn Source, options: ReadOptions) -> Result<Manifest, ReadError> {
    read_of(OutputFormat::Tprof, source, options)
}

/// Reads the manifest of a profile with files of `format`.
pub(super) fn read_of(
    format: OutputFormat,
    source: &dyn Source,
    options: ReadOptions,
) -> Result<Manifest, ReadError> {
    let path = source.path(MANIFEST);
    let length = match source.length(MANIFEST) {
        Ok(length) => length,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            let unfinished =
                ["callpaths", "part-00000"].iter().any(|file| source.length(file).is_ok());
            let directory = path.parent().map(PathBuf::from).unwrap_or_default();
            // A source need not be a directory; if it is none, its directory is empty.
            let is_named = !directory.as_os_str().is_empty();
            return Err(if is_named && !unfinished && !directory.exists() {
                ReadError::NotFound { directory }
            } else {
                ReadError::NoManifest { directory, unfinished }
            });
        }
        Err(source) => return Err(ReadError::Io { path, source }),
    };
    let memory_limit = MemoryLimit::new(options.memory_bytes());
    if !memory_limit.claim_kept(memory_bytes(length)) {
        let reason = format!("it has {length} bytes");
        return Err(ReadError::OverLimit { path, limit_bytes: options.memory_bytes(), reason });
    }
    parse(format, &read_whole(source, MANIFEST, &memory_limit)?, &path)
}

/// Returns the most memory that a manifest of `length` bytes takes. This includes small allocations
/// that a reader does not count: tables of one compressed column, paths, messages.
pub(super) fn memory_bytes(length: u64) -> u64 {
    length.saturating_mul(MEMORY_BYTES_A_BYTE).saturating_add(1 << 18)
}

fn parse(format: OutputFormat, bytes: &[u8], path: &Path) -> Result<Manifest, ReadError> {
    let bad = |reason: String| ReadError::BadManifest { path: path.to_owned(), reason };
    let head: Head = serde_json::from_slice(bytes).map_err(|e| bad(e.to_string()))?;
    if head.format != format.name() {
        let mut reason = format!("its format is {:?}, not {:?}", head.format, format.name());
        if head.format == OutputFormat::Csv.name() {
            reason.push_str("; tinyprof import makes a profile of it that all commands read");
        }
        return Err(bad(reason));
    }
    let FormatVersion { major, minor } = head.version;
    if major > FormatVersion::CURRENT.major {
        return Err(ReadError::NewerVersion { path: path.to_owned(), found: (major, minor) });
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let newer = head.version > FormatVersion::CURRENT;
        let what_to_do =
            if newer { "; it is newer than this reader: update tinyprof to read it" } else { "" };
        bad(format!("{error} (format version {major}.{minor}){what_to_do}"))
    })
}
