//! The board of a job on one host: a few numbers in shared memory, where ranks mark their presence.
//!
//! ```text
//! word 0        1           2         ...  size
//!      verdict  rank 0's    rank 1's        the last rank's mark
//! ```
//!
//! A mark holds the process ID, and in the bits below it the start time of the process. It is 0 for
//! an absent rank. The first rank that asks for the verdict writes it, once, so that all ranks get
//! the same one.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

use tinyprof_format::segment::{
    DIRECTORY_VARIABLE, ProcessState, create_directory, usable_directory,
};

use super::launcher::Job;
use crate::sys::{SharedWords, effective_user_id};

/// The verdict on which ranks are marked. Word 0 is 0 while a board has no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Ranks of this host are missing.
    Incomplete = 1,
    /// All ranks of the world are marked.
    Complete = 2,
    /// No rank of this host is known to be missing; ranks on other hosts are, or may be.
    OfThisHost = 3,
}

/// The value that replaces any verdict except `Complete` when a rank informs the user. Late ranks
/// read it as `Incomplete`.
const TOLD: u64 = 4;

/// The ending of board file names. `tinyprof recover` and `top` only look at names ending in
/// `.segment`.
const ENDING: &str = "board";

/// The largest number of ranks that one host can have. More ranks are on several hosts.
const RANKS_MAX: u32 = 1 << 16;

/// A board that this process has marked. Dropping it removes the file.
#[derive(Debug)]
pub(super) struct Board {
    path: PathBuf,
    words: SharedWords,
    size: u32,
}

impl Drop for Board {
    fn drop(&mut self) {
        self.remove();
    }
}

impl Board {
    /// Marks this process on the board of its job. The first rank creates the board.
    ///
    /// # Errors
    /// If there is no private directory for the board, no space in it, or no `/proc`, or if the
    /// board already has a verdict.
    pub(super) fn mark(job: &Job) -> io::Result<Self> {
        let named = env::var_os(DIRECTORY_VARIABLE).filter(|name| !name.is_empty());
        let directory = match named {
            Some(named) => std::path::absolute(named)?,
            // The same in all processes of this user.
            None => usable_directory(effective_user_id()).map_err(io::Error::other)?,
        };
        Self::mark_in(&directory, job)
    }

    fn mark_in(directory: &Path, job: &Job) -> io::Result<Self> {
        if job.rank >= job.size || job.size > RANKS_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Processes of another boot or another PID namespace cannot be checked, so they get a
        // different board.
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let namespace = fs::metadata("/proc/self/ns/pid")?.ino();
        let mark = mark_of(std::process::id(), &fs::read("/proc/self/stat")?)
            .ok_or(io::ErrorKind::InvalidData)?;
        let name = checksum(&format!("1 {} {namespace} {}", boot.trim(), job.name));
        let path = directory.join(format!("job-{name:016x}.{ENDING}"));
        let (file, is_new) = open_private(directory, &path)?;
        let words = SharedWords::map(&file, job.size as usize + 1)?;
        let board = Self { path, words, size: job.size };
        // The name belongs to this job alone. If another job has left its verdict there
        // nevertheless, this rank counts as absent.
        if board.words[0].load(SeqCst) != 0 {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        board.marks()[job.rank as usize].store(mark, SeqCst);
        if is_new {
            remove_stale(directory, &board.path);
        }
        Ok(board)
    }

    /// Returns which ranks of a world of `size` are marked, and removes the board's file. All ranks
    /// that ask get the same verdict. `ranks_here` is the number of ranks on this host, if known.
    pub(super) fn verdict(&self, size: u32, ranks_here: Option<u32>) -> Verdict {
        // Later ranks find a new board, which will not become complete.
        self.remove();
        let is_there = |mark: &&AtomicU64| is_alive(mark.load(SeqCst), state_of);
        let there = self.marks().iter().filter(is_there).count();
        let verdict = if size != self.size {
            Verdict::Incomplete
        } else if there == size as usize {
            Verdict::Complete
        } else if ranks_here.is_some_and(|here| there < here as usize) {
            Verdict::Incomplete
        } else {
            Verdict::OfThisHost
        };
        match self.words[0].compare_exchange(0, verdict as u64, SeqCst, SeqCst) {
            Ok(_) => verdict,
            Err(written) if written == Verdict::Complete as u64 => Verdict::Complete,
            Err(written) if written == Verdict::OfThisHost as u64 => Verdict::OfThisHost,
            Err(_) => Verdict::Incomplete,
        }
    }

    /// Returns whether rank 0 is marked.
    pub(super) fn has_rank_0(&self) -> bool {
        self.marks()[0].load(SeqCst) != 0
    }

    /// Returns true to the first rank that calls it, which may be long after the verdict.
    pub(super) fn claim_to_tell(&self) -> bool {
        self.words[0].swap(TOLD, SeqCst) != TOLD
    }

    fn marks(&self) -> &[AtomicU64] {
        &self.words[1..]
    }

    fn remove(&self) {
        // Another rank was faster, or the directory is gone.
        fs::remove_file(&self.path).ok();
    }
}

/// Returns the FNV-1a hash, which is the same in all programs of a job, whichever compiler built
/// them.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn mark_of(process_id: u32, stat: &[u8]) -> Option<u64> {
    Some(
        u64::from(process_id) << 32
            | ProcessState::parse_bytes(stat)?.start_time & u64::from(u32::MAX),
    )
}

/// Returns the contents of `/proc/PID/stat`, or `None` if there is no such process.
fn state_of(process_id: u32) -> io::Result<Option<Vec<u8>>> {
    match fs::read(format!("/proc/{process_id}/stat")) {
        Ok(stat) => Ok(Some(stat)),
        Err(error)
            if error.kind() == io::ErrorKind::NotFound
                || error.raw_os_error() == Some(libc::ESRCH) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns whether the process that made a mark is alive. A process that cannot be checked (too
/// many open files) counts as alive.
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

/// Opens the file, creating it and its directory if they are missing. No other user may have access
/// to it, or write to the directory.
fn open_private(directory: &Path, path: &Path) -> io::Result<(File, bool)> {
    create_directory(directory, effective_user_id()).map_err(io::Error::other)?;
    let is_private = |metadata: &fs::Metadata| {
        metadata.uid() == effective_user_id() && metadata.mode() & 0o077 == 0
    };
    let mut options = OpenOptions::new();
    // Opening a FIFO of that name must not block.
    options.read(true).write(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let (file, is_new) = match options.clone().create_new(true).open(path) {
        Ok(file) => (file, true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (options.open(path)?, false),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() || !is_private(&metadata) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok((file, is_new))
}

/// Removes boards of jobs that were killed in `MPI_Init`: boards with marks, all of processes that
/// are gone.
fn remove_stale(directory: &Path, own: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path == own || path.extension().is_none_or(|extension| extension != ENDING) {
            continue;
        }
        let is_short = fs::symlink_metadata(&path).is_ok_and(|metadata| {
            metadata.is_file() && metadata.len() <= u64::from(RANKS_MAX + 1) * 8
        });
        let Some(bytes) = is_short.then(|| fs::read(&path).ok()).flatten() else { continue };
        let (words, _) = bytes.as_chunks();
        let marks =
            words.iter().skip(1).map(|word| u64::from_ne_bytes(*word)).filter(|&mark| mark != 0);
        let marks: Vec<_> = marks.collect();
        // A board without a mark has just been created.
        if !marks.is_empty() && !marks.iter().any(|&mark| is_alive(mark, state_of)) {
            fs::remove_file(&path).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, rank: u32, size: u32) -> Job {
        Job { name: name.to_owned(), rank, size }
    }

    fn is_complete(board: &Board, size: u32) -> bool {
        board.verdict(size, Some(size)) == Verdict::Complete
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn all_marks_are_a_complete_board_and_no_file_is_left() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        let boards: Vec<_> =
            (0..3).map(|rank| Board::mark_in(&directory, &job("a", rank, 3)).unwrap()).collect();
        assert_eq!(names(&directory).len(), 1);
        assert!(boards.iter().all(Board::has_rank_0));
        assert!(boards.iter().all(|board| is_complete(board, 3)));
        assert_eq!(names(&directory), [""; 0]);
    }

    #[test]
    fn a_missing_mark_is_missing_for_all_whenever_they_ask() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        let mark = |name, rank| Board::mark_in(&directory, &job(name, rank, 3)).unwrap();
        let (last, first) = (mark("a", 2), mark("a", 1));
        let other_job = mark("b", 0);
        assert!(!is_complete(&last, 3));
        // A rank that comes after others have asked finds a new board, and neither board is
        // complete.
        let late = mark("a", 0);
        assert!(!is_complete(&late, 3) && !is_complete(&first, 3) && !is_complete(&other_job, 3));
        assert!(!first.has_rank_0() && !last.has_rank_0() && late.has_rank_0());
        // One rank of each board informs the user.
        assert!(last.claim_to_tell() && !first.claim_to_tell() && late.claim_to_tell());
        // A board is not complete either if a mark comes between the questions of two ranks.
        let boards = [mark("c", 0), mark("c", 1)];
        let late = mark("c", 2);
        late.marks()[2].store(0, SeqCst);
        assert!(!is_complete(&boards[0], 3));
        late.marks()[2].store(boards[0].marks()[0].load(SeqCst), SeqCst);
        assert!(!is_complete(&boards[1], 3) && !is_complete(&late, 3));
        assert_eq!(names(&directory), [""; 0]);
    }

    #[test]
    fn all_marks_of_one_host_leave_the_others_open() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        let marked =
            |name| [1, 3].map(|rank| Board::mark_in(&directory, &job(name, rank, 4)).unwrap());
        for (name, ranks_here, expected) in [
            ("a", Some(2), Verdict::OfThisHost),
            ("b", None, Verdict::OfThisHost),
            ("c", Some(3), Verdict::Incomplete),
            ("d", Some(4), Verdict::Incomplete),
        ] {
            let boards = marked(name);
            assert_eq!(boards[1].verdict(4, ranks_here), expected, "{name}");
            assert_eq!(
                boards[0].verdict(4, Some(4)),
                expected,
                "{name}: as the other has been told"
            );
        }
    }

    #[test]
    fn a_world_of_another_size_is_not_that_of_the_board() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        let boards = [0, 1].map(|rank| Board::mark_in(&directory, &job("a", rank, 2)).unwrap());
        assert!(!is_complete(&boards[0], 3) && !is_complete(&boards[1], 2));
        for (rank, size) in [(2, 2), (0, RANKS_MAX + 1)] {
            assert!(Board::mark_in(&directory, &job("a", rank, size)).is_err());
        }
    }

    #[test]
    fn marks_of_processes_that_are_gone_do_not_count_and_their_boards_go() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = u64::from(child.id()) << 32 | 7;
        child.wait().unwrap();
        let board = Board::mark_in(&directory, &job("a", 0, 2)).unwrap();
        board.marks()[1].store(gone, SeqCst);
        let own = board.marks()[0].load(SeqCst);
        assert!(
            is_alive(own, state_of) && !is_alive(own ^ 1, state_of) && !is_alive(gone, state_of)
        );
        assert!(!is_alive(0, state_of));
        assert!(is_alive(gone, |_| Err(io::ErrorKind::Other.into())), "it may be there");
        assert!(!is_complete(&board, 2));
        // A job killed in MPI_Init would have left its board.
        let stale = Board::mark_in(&directory, &job("b", 0, 2)).unwrap();
        stale.marks()[0].store(gone, SeqCst);
        let live = Board::mark_in(&directory, &job("c", 0, 2)).unwrap();
        assert_eq!(names(&directory).len(), 1, "the live one's");
        drop((stale, live));
        assert_eq!(names(&directory), [""; 0]);
    }

    #[test]
    fn nothing_that_others_may_touch_is_trusted() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        let path = Board::mark_in(&directory, &job("a", 0, 2)).unwrap().path.clone();
        symlink(scratch.path().join("elsewhere"), &path).unwrap();
        assert!(Board::mark_in(&directory, &job("a", 0, 2)).is_err());
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Board::mark_in(&directory, &job("a", 0, 2)).is_err());
        fs::remove_file(&path).unwrap();
        for (mode, is_trusted) in [(0o755, true), (0o770, false), (0o707, false)] {
            fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
            let marked = Board::mark_in(&directory, &job("a", 0, 2));
            assert_eq!(marked.is_ok(), is_trusted, "{mode:o}");
        }
    }
}
