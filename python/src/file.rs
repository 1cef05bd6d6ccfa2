//! A file of a profile, read as a whole and verified.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::cursor::Damage;
use crate::part::{self, Part};
use crate::sections::FileError;

/// An error in a profile, with its file.
#[derive(Debug)]
pub(crate) enum Error {
    Io(PathBuf, std::io::Error),
    Damaged(PathBuf, Damage),
    NewerVersion(PathBuf, (u16, u16)),
    /// Reading takes more memory than the caller allows.
    TooLarge(PathBuf, String),
}

/// A file as the manifest lists it: name, length in bytes, CRC-32.
pub(crate) type Listed = (String, u64, u32);

/// A part, with its file.
#[derive(Debug)]
pub(crate) struct PartFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) part: Part,
}

impl PartFile {
    /// Returns the error for damage in this file.
    pub(crate) fn damaged(&self, damage: Damage) -> Error {
        explain(&self.path, damage.into())
    }
}

/// Reads a file as the manifest lists it, and verifies it.
pub(crate) fn read_file(
    directory: &Path,
    (name, expected_bytes, crc32): &Listed,
    is_part: bool,
) -> Result<(PathBuf, Vec<u8>), Error> {
    let path = directory.join(name);
    let failed = |source| Error::Io(path.clone(), source);
    // Opening a pipe would wait for a writer, maybe for ever.
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path);
    let mut file = opened.map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        let reason = "it is no regular file".to_owned();
        return Err(Error::Damaged(path, Damage::at(0, reason)));
    }
    let (expected_bytes, found_bytes) = (*expected_bytes, found.len());
    if found_bytes != expected_bytes {
        let what =
            if found_bytes < expected_bytes { "cut off" } else { "longer than it should be" };
        let reason = format!(
            "it has {found_bytes} bytes where the manifest says {expected_bytes}: it is {what}"
        );
        return Err(Error::Damaged(path, Damage::at(found_bytes.min(expected_bytes), reason)));
    }
    let mut bytes = vec![0; usize::try_from(found_bytes).unwrap_or(usize::MAX)];
    file.read_exact(&mut bytes).map_err(failed)?;
    if crc32fast::hash(&bytes) != *crc32 {
        return Err(locate(path, &bytes, is_part));
    }
    Ok((path, bytes))
}

/// Returns the error for a file that does not match its checksum; the checksums of its sections
/// show the place.
fn locate(path: PathBuf, bytes: &[u8], is_part: bool) -> Error {
    match part::locate_damage(bytes, is_part) {
        Some(error) => explain(&path, error),
        None => {
            let reason = "the file does not match the checksum in the manifest, but its own checksums agree: \
                          it may belong to another profile";
            Error::Damaged(path, Damage::at(0, reason.to_owned()))
        }
    }
}

/// Returns the error with its file.
pub(crate) fn explain(path: &Path, error: FileError) -> Error {
    match error {
        FileError::Damaged(damage) if damage.over_limit => {
            Error::TooLarge(path.to_owned(), damage.reason)
        }
        FileError::Damaged(damage) => Error::Damaged(path.to_owned(), damage),
        FileError::NewerVersion(found) => Error::NewerVersion(path.to_owned(), found),
    }
}
