//! The memory limit of a command for reading profiles: `--memory`, once for the whole command.

use std::sync::OnceLock;

use tinyprof_format::file::ReadLimits;

static LIMITS: OnceLock<ReadLimits> = OnceLock::new();

/// Sets the limit that the user gave; only the first call counts.
pub(crate) fn allow(bytes: Option<u64>) {
    let limits = ReadLimits::default();
    LIMITS.get_or_init(|| bytes.map_or(limits, |bytes| limits.with_memory_bytes(bytes)));
}

/// Returns the limits for this command's readers.
pub(crate) fn limits() -> ReadLimits {
    LIMITS.get().copied().unwrap_or_default()
}
