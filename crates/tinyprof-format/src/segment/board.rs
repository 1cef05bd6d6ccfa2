//! The boards on which the ranks of a job sign in while MPI begins: files in the directory of the
//! segments. A job that is killed in `MPI_Init` leaves its board behind.
//!
//! The first numbers of the file are a header. One of them is the process namespace, without which
//! no mark can be checked. Then each rank has a mark: the number of its process, and below it the
//! start time. An absent rank has 0. What follows is the business of the ranks alone.

use std::fs;
use std::io;
use std::path::Path;

use super::ProcessState;

/// The ending of the names of boards.
pub const BOARD_ENDING: &str = "board";
/// The numbers before the marks.
pub const BOARD_HEADER_WORDS: usize = 3;
/// The place of the process namespace in the header.
pub const BOARD_NAMESPACE: usize = 2;
/// The place of the number of marks in the header.
pub const BOARD_SIZE: usize = 1;
/// The largest number of ranks that one host can have. More ranks are on several hosts.
pub const BOARD_RANKS_MAX: u32 = 1 << 16;

/// Returns the mark of a process with these contents of `/proc/PID/stat`.
///
/// ```
/// use tinyprof_format::segment::mark_of;
///
/// let fields = "S 1 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 4711 0";
/// assert_eq!(mark_of(7, format!("7 (a) {fields}").as_bytes()), Some(7 << 32 | 4711));
/// assert_eq!(mark_of(7, b"?"), None);
/// ```
#[must_use]
pub fn mark_of(process_id: u32, stat: &[u8]) -> Option<u64> {
    Some(
        u64::from(process_id) << 32
            | ProcessState::parse_bytes(stat)?.start_time & u64::from(u32::MAX),
    )
}

/// Returns whether the process that made a mark is alive. A process that cannot be checked (too
/// many open files) counts as alive.
#[must_use]
pub fn is_mark_alive(mark: u64) -> bool {
    is_alive(mark, state_of)
}

fn is_alive(mark: u64, state_of: impl Fn(u32) -> io::Result<Option<Vec<u8>>>) -> bool {
    let Ok(process_id) = u32::try_from(mark >> 32) else { return false };
    if process_id == 0 {
        return false;
    }
    match state_of(process_id) {
        Ok(Some(stat)) => mark_of(process_id, &stat) == Some(mark),
        Ok(None) => false,
        Err(_) => true,
    }
}

/// Returns the contents of `/proc/PID/stat`, or `None` if there is no such process.
fn state_of(process_id: u32) -> io::Result<Option<Vec<u8>>> {
    // No such process, at once or while it is read.
    const GONE: [i32; 2] = [2, 3];
    match fs::read(format!("/proc/{process_id}/stat")) {
        Ok(stat) => Ok(Some(stat)),
        Err(error) if error.raw_os_error().is_some_and(|code| GONE.contains(&code)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes the boards in a directory that nobody can use any more, except `own`: those with marks
/// of this process namespace, all of processes that are gone. Returns their number.
#[expect(clippy::must_use_candidate, reason = "most callers only want them removed")]
pub fn remove_stale_boards(directory: &Path, namespace: u64, own: Option<&Path>) -> usize {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let paths = entries.flatten().map(|entry| entry.path());
    let is_board = |path: &Path| path.extension().is_some_and(|ending| ending == BOARD_ENDING);
    paths
        .filter(|path| own != Some(path) && is_board(path) && is_stale(path, namespace))
        .filter(|path| fs::remove_file(path).is_ok())
        .count()
}

fn is_stale(path: &Path, namespace: u64) -> bool {
    const BYTES_MAX: u64 = (BOARD_HEADER_WORDS as u64 + 2 * BOARD_RANKS_MAX as u64 + 1) * 8;
    let is_short = fs::symlink_metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= BYTES_MAX);
    let Some(bytes) = is_short.then(|| fs::read(path).ok()).flatten() else { return false };
    is_stale_board(&bytes, namespace)
}

/// Returns whether the ranks of a board with these contents are of this process namespace, and all
/// of them are gone. A board without a mark has just been created.
#[must_use]
pub fn is_stale_board(bytes: &[u8], namespace: u64) -> bool {
    let words: Vec<u64> =
        bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let Some((header, rest)) = words.split_at_checked(BOARD_HEADER_WORDS) else { return false };
    let size = usize::try_from(header[BOARD_SIZE]).unwrap_or(usize::MAX);
    let marks: Vec<u64> = rest.iter().copied().take(size).filter(|&mark| mark != 0).collect();
    header[BOARD_NAMESPACE] == namespace
        && !marks.is_empty()
        && !marks.into_iter().any(is_mark_alive)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_mark() -> u64 {
        mark_of(std::process::id(), &fs::read("/proc/self/stat").unwrap()).unwrap()
    }

    fn gone() -> u64 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let mark = u64::from(child.id()) << 32 | 7;
        child.wait().unwrap();
        mark
    }

    #[test]
    fn a_mark_is_alive_as_long_as_its_process() {
        assert!(is_mark_alive(own_mark()) && !is_mark_alive(own_mark() ^ 1));
        assert!(!is_mark_alive(gone()) && !is_mark_alive(0));
        assert!(is_alive(gone(), |_| Err(io::ErrorKind::Other.into())), "it may be there");
    }

    #[test]
    fn only_boards_whose_ranks_are_all_gone_are_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let write = |name: &str, words: &[u64]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            fs::write(scratch.path().join(name), bytes).unwrap();
        };
        let dead = gone();
        write("job-stale.board", &[0, 2, 9, 0, dead, 0, 1]);
        write("job-own.board", &[0, 2, 9, 0, dead, 0, 1]);
        write("job-live.board", &[0, 2, 9, own_mark(), dead, 0, 0]);
        write("job-new.board", &[0, 2, 9, 0, 0, 0, 0]);
        write("job-elsewhere.board", &[0, 1, 8, dead, 0]);
        write("job-short.board", &[0]);
        write("1-0.segment", &[0, 2, 9, 0, dead, 0, 1]);
        let own = scratch.path().join("job-own.board");
        assert_eq!(remove_stale_boards(scratch.path(), 9, Some(&own)), 1);
        assert_eq!(remove_stale_boards(scratch.path(), 9, None), 1);
        let names = fs::read_dir(scratch.path()).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        let left = ["1-0.segment", "job-elsewhere.board", "job-live.board", "job-new.board"];
        assert_eq!(names, [&left[..], &["job-short.board"]].concat());
        assert_eq!(remove_stale_boards(&scratch.path().join("missing"), 9, None), 0);
    }
}
