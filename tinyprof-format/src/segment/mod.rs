//! The memory of a running program's threads, as it lies in files: what survives `kill -9`.
//!
//! Each thread of a recorded program writes its event map into a file that is mapped into memory,
//! usually in `/dev/shm`. A program that ends writes its profile and removes the files; one that is
//! killed leaves them.
//!
//! * [`layout`]: where what lies. The recorder uses the same constants.
//! * [`Segment`]: one file, read. No byte of it is trusted.
//! * [`recovered_map`]: the event map of one process, from all of its segments; [`running_map`]: of
//!   one that still runs.

mod description;
mod header;
pub mod layout;
mod lists;
mod process;
mod record;
mod site;
mod system;
mod words;

pub use description::ProcessDescription;
pub use header::{NoSegment, Segment, SegmentHeader, TickClock};
pub use process::{TicksNow, recovered_map, running_map};
pub use system::{ProcessState, parse_boot_id};

use std::path::PathBuf;

/// The variable that names another directory for segments.
pub const DIRECTORY_VARIABLE: &str = "TINYPROF_SEGMENT_DIR";

/// Where the segments of a user lie unless [`DIRECTORY_VARIABLE`] says otherwise.
#[must_use]
pub fn default_directory(user_id: u32) -> PathBuf {
    PathBuf::from(format!("/dev/shm/tinyprof-{user_id}"))
}
