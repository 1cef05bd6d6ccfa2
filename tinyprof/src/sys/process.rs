//! Facts that distinguish this process from every other.

use std::fs;
use std::os::unix::fs::MetadataExt;

use tinyprof_format::segment::{ProcessState, parse_boot_id};

/// Returns the start time of this process from `/proc`, or `None` without `/proc`.
pub(crate) fn start_time() -> Option<u64> {
    ProcessState::parse_bytes(&fs::read("/proc/self/stat").ok()?).map(|state| state.start_time)
}

/// Returns the id of this machine's current boot, or `None` without `/proc`.
#[must_use]
pub fn boot_id() -> Option<u128> {
    parse_boot_id(&fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?)
}

/// Returns the number of this process's PID namespace.
pub(crate) fn pid_namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|metadata| metadata.ino())
}
