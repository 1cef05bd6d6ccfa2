//! How much memory a reader uses for a profile that it does not know.

use crate::bytes::Budget;

/// What a reader may use for a profile.
///
/// A few bytes of a file may stand for many equal values, and those of a hostile file for more than
/// fit the machine. So a reader allocates no more than 64 MiB and 4,096 times the length of the
/// files, and no more than this limit: 1 GiB by default.
///
/// ```
/// use tinyprof_format::file::ReadLimits;
///
/// let limits = ReadLimits::default().with_memory_bytes(16 << 30);
/// assert_eq!(ReadLimits::default().memory_bytes(), 1 << 30);
/// assert_eq!(limits.memory_bytes(), 16 << 30);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    memory_bytes: u64,
}

/// What a profile may take however small it is.
const LEAST_BYTES: u64 = 64 << 20;

/// What each byte of a file may stand for. In usual profiles it is some 50.
const MEMORY_BYTES_A_BYTE: u64 = 4_096;

impl Default for ReadLimits {
    fn default() -> Self {
        Self { memory_bytes: 1 << 30 }
    }
}

impl ReadLimits {
    /// These limits: so many bytes.
    #[must_use]
    pub const fn new(memory_bytes: u64) -> Self {
        Self { memory_bytes }
    }

    /// The same with this limit, in bytes.
    #[must_use]
    pub const fn with_memory_bytes(self, memory_bytes: u64) -> Self {
        Self { memory_bytes }
    }

    /// The limit, in bytes.
    #[must_use]
    pub const fn memory_bytes(self) -> u64 {
        self.memory_bytes
    }

    /// What may be used for files of so many bytes.
    pub(crate) fn budget(self, file_bytes: u64) -> Budget {
        let derived = file_bytes.saturating_mul(MEMORY_BYTES_A_BYTE).saturating_add(LEAST_BYTES);
        Budget::new(derived.min(self.memory_bytes))
    }
}
