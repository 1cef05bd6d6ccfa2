//! The memory limit of a command for reading profiles: `--memory`, once for the whole command.

use std::sync::OnceLock;

use tinyprof_format::file::ReadOptions;

static OPTIONS: OnceLock<ReadOptions> = OnceLock::new();

/// Sets the limit that the user gave; only the first call counts.
pub(crate) fn allow(bytes: Option<u64>) {
    let options = ReadOptions::default();
    OPTIONS.get_or_init(|| bytes.map_or(options, |bytes| options.with_memory_bytes(bytes)));
}

/// Returns the options of this command's readers.
pub(crate) fn read_options() -> ReadOptions {
    OPTIONS.get().copied().unwrap_or_default()
}
