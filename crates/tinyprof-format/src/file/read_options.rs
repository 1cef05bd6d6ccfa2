//! Options of readers: a limit on the memory that they use for an untrusted profile.

use crate::bytes::MemoryLimit;

/// Options of the readers of a profile: the memory that they may use.
///
/// A few bytes of a file may encode many equal values, and a hostile file may encode more than the
/// machine can hold. A reader therefore allocates at most 64 MiB plus 4,096 times the length of the
/// files, and never more than this limit: 1 GiB by default.
///
/// ```
/// use tinyprof_format::file::ReadOptions;
///
/// let options = ReadOptions::default().with_memory_bytes(16 << 30);
/// assert_eq!(ReadOptions::default().memory_bytes(), 1 << 30);
/// assert_eq!(options.memory_bytes(), 16 << 30);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    memory_bytes: u64,
}

/// The memory allowed for a profile of any size.
const LEAST_BYTES: u64 = 64 << 20;

/// The memory allowed per byte of a file. Usual profiles need about 50.
const MEMORY_BYTES_A_BYTE: u64 = 4_096;

impl Default for ReadOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadOptions {
    /// Creates the default options.
    #[must_use]
    pub const fn new() -> Self {
        Self { memory_bytes: 1 << 30 }
    }

    /// Sets the limit on memory, in bytes.
    #[must_use]
    pub const fn with_memory_bytes(self, memory_bytes: u64) -> Self {
        Self { memory_bytes }
    }

    /// Returns the limit on memory, in bytes.
    #[must_use]
    pub const fn memory_bytes(self) -> u64 {
        self.memory_bytes
    }

    /// Returns the memory allowed for files of `file_bytes` bytes.
    pub(crate) fn memory_limit(self, file_bytes: u64) -> MemoryLimit {
        MemoryLimit::new(encoded_bytes_max(file_bytes).min(self.memory_bytes))
    }
}

/// Returns the memory that the values of files of `file_bytes` bytes may take.
pub(crate) fn encoded_bytes_max(file_bytes: u64) -> u64 {
    file_bytes.saturating_mul(MEMORY_BYTES_A_BYTE).saturating_add(LEAST_BYTES)
}
