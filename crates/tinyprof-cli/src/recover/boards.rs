//! Boards: the files on which the ranks of a job mark their presence while they start. A job that
//! is killed then leaves its board behind.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;

use tinyprof_format::segment::{BOARD_ENDING, BOARD_HEADER_WORDS, BOARD_RANKS_MAX, is_stale_board};

/// The beginning of the names of boards.
const BEGINNING: &str = "job-";

/// The greatest length of a board, in bytes.
const BYTES_MAX: u64 = (BOARD_HEADER_WORDS as u64 + 2 * BOARD_RANKS_MAX as u64 + 1) * 8;

/// Returns `true` if the file of this name is a board.
pub(super) fn is_board(name: &str, file: &Metadata) -> bool {
    let is_named = name.strip_suffix(BOARD_ENDING).is_some_and(|name| name.ends_with('.'));
    name.starts_with(BEGINNING) && is_named && file.len() <= BYTES_MAX
}

/// Returns `true` if processes have marked this board, and all of them are dead.
pub(super) fn is_stale(board: &[u8]) -> bool {
    fs::metadata("/proc/self/ns/pid").is_ok_and(|namespace| is_stale_board(board, namespace.ino()))
}
