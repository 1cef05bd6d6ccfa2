//! The memory of a running program's threads, in files that survive `kill -9`.
//!
//! Each thread of a recorded program writes its event map into a file that is mapped into memory,
//! usually in `/dev/shm`. A program that ends normally writes its profile and removes the files. A
//! killed program leaves them behind.
//!
//! The layout of these files, which the recorder shares, is in the crate `tinyprof-segment`.
//!
//! * [`Segment`]: one file, as read. No byte of it is trusted.
//! * [`recovered_map`]: the event map of a process that has ended, from all of its segments.
//! * [`running_map`]: the event map of a process that is still running.
//! * [`remove_stale_boards`]: removes what a job leaves that is killed while MPI begins.

mod board;
mod commands;
mod description;
mod directory;
mod edge;
mod events;
mod header;
mod lists;
mod process;
mod record;
mod site;
mod system;
mod words;

pub use board::{
    BOARD_ENDING, BOARD_HEADER_WORDS, BOARD_NAMESPACE, BOARD_RANKS_MAX, BOARD_SIZE, is_mark_alive,
    is_stale_board, mark_of, remove_stale_boards,
};
pub use description::ProcessDescription;
pub use directory::{
    DIRECTORY_VARIABLE, Refusal, create_directory, default_directory, directories, usable_directory,
};
pub use edge::edge_of_record;
pub use header::{NoSegment, Segment, SegmentHeader, TickClock};
pub use process::{recovered_map, running_map};
pub use system::{ProcessState, parse_boot_id};
