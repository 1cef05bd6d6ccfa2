//! What tells this process from every other.

use std::fs;
use std::os::unix::fs::MetadataExt;

use tinyprof_format::segment::{ProcessState, parse_boot_id};

/// When this process began, as `/proc` says it; none without `/proc`.
pub(crate) fn start_time() -> Option<u64> {
    ProcessState::parse(&fs::read_to_string("/proc/self/stat").ok()?).map(|state| state.start_time)
}

/// Since which boot this machine runs.
pub(crate) fn boot_id() -> Option<u128> {
    parse_boot_id(&fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?)
}

/// The number of the PID namespace that this process is in.
pub(crate) fn pid_namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|metadata| metadata.ino())
}
