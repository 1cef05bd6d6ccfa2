//! Boards: the files on which the ranks of a job mark their presence while they start. A job that
//! is killed then leaves its board behind.
//!
//! `tinyprof-mpi/src/attendance/board.rs` writes them: a word for the verdict, then one for each
//! rank, which is 0, or the process id with the lower half of the start time below it.

use std::fs::Metadata;

use super::alive::runs_that;

/// The ending of the names of boards.
const ENDING: &str = ".board";

/// The beginning of the names of boards.
const BEGINNING: &str = "job-";

/// The greatest length of a board: a verdict, and 65,536 ranks.
const BYTES_MAX: u64 = (1 + (1 << 16)) * 8;

/// Returns `true` if the file of this name is a board.
pub(super) fn is_board(name: &str, file: &Metadata) -> bool {
    name.starts_with(BEGINNING) && name.ends_with(ENDING) && file.len() <= BYTES_MAX
}

/// Returns `true` if processes have marked this board, and all of them are dead. A board without a
/// mark has just been created.
pub(super) fn is_stale(board: &[u8]) -> bool {
    let (words, _) = board.as_chunks();
    let mut marks = words.iter().skip(1).map(|word| u64::from_ne_bytes(*word)).peekable();
    let mut is_marked = false;
    let all_dead = marks.by_ref().filter(|&mark| mark != 0).all(|mark| {
        is_marked = true;
        !is_alive(mark)
    });
    is_marked && all_dead
}

fn is_alive(mark: u64) -> bool {
    let low_half = u64::from(u32::MAX);
    let process_id = u32::try_from(mark >> 32).unwrap_or(0);
    runs_that(process_id, |start_time| start_time & low_half == mark & low_half)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tinyprof_format::segment::ProcessState;

    use super::*;

    #[test]
    fn a_board_is_stale_if_it_has_marks_and_no_process_is_left() {
        let stat = fs::read_to_string("/proc/self/stat").expect("Linux has it");
        let started = ProcessState::parse(&stat).expect("it is a process").start_time;
        let own = u64::from(std::process::id()) << 32 | started & u64::from(u32::MAX);
        let dead = 4_194_305 << 32 | 5;
        let check = |words: &[u64], expected: bool| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            assert_eq!(is_stale(&bytes), expected, "{words:?}");
        };
        check(&[0, dead, 0], true);
        check(&[1, dead, dead], true);
        check(&[0, dead, own], false);
        check(&[0, own ^ 1], true);
        check(&[0, 0, 0], false);
        check(&[], false);
    }
}
