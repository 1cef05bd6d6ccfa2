//! Errors with a profile's files, worded so that the user knows what to do next.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::bytes::Malformed;
use crate::model::FormatVersion;

/// The reason why a profile could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// A file could not be read at all.
    Io {
        /// The file.
        path: PathBuf,
        /// The error from the system.
        source: io::Error,
    },
    /// There is no such directory.
    NotFound {
        /// The directory.
        directory: PathBuf,
    },
    /// There is no manifest: the directory is not a profile, or its run ended before the profile
    /// was complete.
    NoManifest {
        /// The directory.
        directory: PathBuf,
        /// True if other files of a profile exist.
        unfinished: bool,
    },
    /// The manifest is invalid.
    BadManifest {
        /// The manifest.
        path: PathBuf,
        /// The error in it.
        reason: String,
    },
    /// The profile was written in a newer layout.
    NewerVersion {
        /// The file with the newer version.
        path: PathBuf,
        /// The version of its layout: major, minor.
        found: (u16, u16),
    },
    /// A file is shorter or longer than given in the manifest.
    WrongLength {
        /// The file.
        path: PathBuf,
        /// The length in the manifest.
        expected_bytes: u64,
        /// The actual length.
        found_bytes: u64,
    },
    /// A file would need more memory than the reader may use, because it is very large, or hostile.
    OverLimit {
        /// The file.
        path: PathBuf,
        /// The limit of the reader, in bytes.
        limit_bytes: u64,
        /// The data that would exceed the limit.
        reason: String,
    },
    /// Bytes of a file are damaged.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The offset of the damaged section or field in the file, in bytes.
        offset: u64,
        /// The expected and the actual contents.
        reason: String,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Self::NotFound { directory } => {
                write!(f, "there is no {} (expected a directory NAME.tprof)", directory.display())
            }
            Self::NoManifest { directory, unfinished: true } => write!(
                f,
                "{} has no manifest.json: its run ended before the profile was complete; tinyprof check --salvage \
                 reads what is there",
                directory.display()
            ),
            Self::NoManifest { directory, unfinished: false } => write!(
                f,
                "{} is not a profile: it has no manifest.json (expected a directory NAME.tprof)",
                directory.display()
            ),
            Self::BadManifest { path, reason } => {
                write!(f, "{} is not a readable manifest: {reason}", path.display())
            }
            Self::NewerVersion { path, found: (major, minor) } => write!(
                f,
                "{} is of format version {major}.{minor}, newer than this reader, which knows up to {}.{}; update \
                 tinyprof to read it",
                path.display(),
                FormatVersion::CURRENT.major,
                FormatVersion::CURRENT.minor
            ),
            Self::WrongLength { path, expected_bytes, found_bytes } => write!(
                f,
                "{} has {found_bytes} bytes where the manifest says {expected_bytes}: it is {} at offset {}",
                path.display(),
                if found_bytes < expected_bytes { "cut off" } else { "longer than it should be" },
                found_bytes.min(expected_bytes)
            ),
            Self::OverLimit { path, limit_bytes, reason } => write!(
                f,
                "{} is too large for a reader that may use {limit_bytes} bytes of memory: {reason}; if you \
                 trust the profile, allow more, as in tinyprof --memory 4GiB",
                path.display()
            ),
            Self::Damaged { path, offset, reason } => {
                write!(f, "{} is damaged at offset {offset}: {reason}", path.display())
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// The reason why bytes in memory could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes are damaged, or not what they should be.
    Damaged {
        /// The offset of the damaged field, in bytes.
        offset: u64,
        /// The expected and the actual contents.
        reason: String,
    },
    /// The bytes were written in a newer layout.
    NewerVersion {
        /// The version of their layout: major, minor.
        found: (u16, u16),
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { offset, reason } => write!(f, "damaged at offset {offset}: {reason}"),
            Self::NewerVersion { found: (major, minor) } => {
                write!(f, "of a newer format version, {major}.{minor}")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

impl From<Malformed> for DecodeError {
    fn from(Malformed { offset, reason, .. }: Malformed) -> Self {
        Self::Damaged { offset, reason }
    }
}

/// The reason why a profile could not be written. Nothing of it is left under its final name.
#[derive(Debug)]
pub struct WriteError {
    /// The failed action: `"create"`, `"write"`, `"sync"`, `"rename"`.
    pub action: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// The error from the system.
    pub source: io::Error,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.action, self.path.display(), self.source)
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
