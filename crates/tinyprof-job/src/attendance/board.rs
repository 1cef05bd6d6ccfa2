//! The board of a job on one host: a few numbers in shared memory, where ranks mark their presence.
//!
//! ```text
//! word 0        1     2          3         4         ...  2 + size
//!      verdict  size  namespace  rank 0's  rank 1's       the last rank's mark
//!
//!      3 + size       ...  2 + 2 size            3 + 2 size
//!      rank 0's state      the last rank's state  lines that one rank prints for all
//! ```
//!
//! A mark holds the process ID, and in the bits below it the start time of the process. It is 0 for
//! an absent rank. The first rank that asks for the verdict writes it, once, so that all ranks get
//! the same one. The memory stays when the file is gone: what happens later is written there, too.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

use tinyprof_format::segment::{
    BOARD_ENDING, BOARD_HEADER_WORDS, BOARD_NAMESPACE, BOARD_RANKS_MAX, BOARD_SIZE,
    DIRECTORY_VARIABLE, create_directory, is_mark_alive, mark_of, remove_stale_boards,
    usable_directory,
};

use super::launcher::Job;
use crate::sys::{SharedWords, effective_user_id};

/// The verdict on which ranks are marked. Word 0 is 0 while a board has no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Ranks of this host are missing.
    Incomplete = 1,
    /// No rank of this host is known to be missing; ranks on other hosts are, or may be.
    OfThisHost = 2,
    /// All ranks of this host are promised that those on others are there.
    Promised = 3,
    /// All ranks of the world are marked.
    Complete = 4,
}

impl Verdict {
    const ALL: [Self; 4] = [Self::Incomplete, Self::OfThisHost, Self::Promised, Self::Complete];
}

/// A line that one rank of a job prints for all of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Ranks write profiles of their own.
    Apart = 1,
    /// The program ends without finalising MPI.
    WithoutFinalize = 2,
    /// A rank has called `MPI_Abort`.
    Abort = 4,
    /// A level or an interval has no effect.
    NoEffect = 8,
}

/// The bit above all lines: ranks have given up waiting for the others.
const GIVEN_UP: u64 = 1 << 32;

/// A rank's state: the user or the launcher has promised it that all ranks take part.
const PROMISED: u64 = 1;
/// A rank's state: it has come to the end of MPI.
const HAS_COME: u64 = 2;

/// A board that this process has marked. Dropping it removes the file.
#[derive(Debug)]
pub(super) struct Board {
    path: PathBuf,
    words: SharedWords,
    rank: usize,
    size: usize,
}

impl Drop for Board {
    fn drop(&mut self) {
        self.remove();
    }
}

/// The boards that a process has marked, and whether others are to be expected there.
#[derive(Debug, Default)]
pub(super) struct Boards {
    pub(super) boards: Vec<Board>,
    /// True if a board could not be marked for a reason of this process alone: other ranks have
    /// probably marked it, and find this one missing.
    pub(super) is_shut_out: bool,
}

impl Boards {
    /// Marks this process on the boards of its job. The first rank creates them. `is_promised`: all
    /// ranks are said to take part.
    ///
    /// One board is in the user's usual directory, which all ranks share whatever their settings
    /// are. The other is in the directory that the settings name. One is enough, if all ranks can
    /// use it.
    pub(super) fn mark(job: &Job, is_promised: bool) -> Self {
        // The same in all processes of this user.
        let usual = usable_directory(effective_user_id()).ok();
        let named =
            env::var_os(DIRECTORY_VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
        let named = named.and_then(|name| std::path::absolute(name).ok());
        let named = named.filter(|named| usual.as_ref() != Some(named));
        let directories = [usual, named];
        let mut marked = Self::default();
        for directory in directories.into_iter().flatten() {
            match Board::mark_in(&directory, job, is_promised) {
                Ok(board) => marked.boards.push(board),
                Err(error) => marked.is_shut_out |= is_of_this_process(&error),
            }
        }
        marked
    }
}

/// Returns whether the reason why there is no board is one of this process alone: no descriptor, no
/// memory, or a limit on the size of its files.
fn is_of_this_process(error: &io::Error) -> bool {
    [libc::EMFILE, libc::ENOMEM, libc::EFBIG].map(Some).contains(&error.raw_os_error())
}

impl Board {
    /// Marks this process on the board in a directory.
    ///
    /// # Errors
    /// If there is no private directory for the board, no space in it, or no `/proc`, or if the
    /// board already has a verdict.
    fn mark_in(directory: &Path, job: &Job, is_promised: bool) -> io::Result<Self> {
        if job.rank >= job.size || job.size > BOARD_RANKS_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Processes of another boot or another PID namespace cannot be checked, so they get a
        // different board.
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let namespace = fs::metadata("/proc/self/ns/pid")?.ino();
        let mark = mark_of(std::process::id(), &fs::read("/proc/self/stat")?)
            .ok_or(io::ErrorKind::InvalidData)?;
        let name = checksum(&format!("2 {} {namespace} {}", boot.trim(), job.name));
        let path = directory.join(format!("job-{name:016x}.{BOARD_ENDING}"));
        let (file, is_new) = open_private(directory, &path)?;
        let (rank, size) = (job.rank as usize, job.size as usize);
        let words = SharedWords::map(&file, BOARD_HEADER_WORDS + 2 * size + 1)?;
        let board = Self { path, words, rank, size };
        // The name belongs to this job alone. If another job has left its verdict there
        // nevertheless, this rank counts as absent.
        if board.words[0].load(SeqCst) != 0 {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        board.words[BOARD_SIZE].store(u64::from(job.size), SeqCst);
        board.words[BOARD_NAMESPACE].store(namespace, SeqCst);
        board.states()[rank].store(if is_promised { PROMISED } else { 0 }, SeqCst);
        board.marks()[rank].store(mark, SeqCst);
        if is_new {
            remove_stale_boards(directory, namespace, Some(&board.path));
        }
        Ok(board)
    }

    /// Returns which ranks of a world of `size` are marked, and removes the board's file. All ranks
    /// that ask get the same verdict. `ranks_here` is the number of ranks on this host, if known.
    pub(super) fn verdict(&self, size: u32, ranks_here: Option<u32>) -> Verdict {
        // Later ranks find a new board, which will not become complete.
        self.remove();
        let verdict = self.judged(size as usize, ranks_here.map(|here| here as usize));
        match self.words[0].compare_exchange(0, verdict as u64, SeqCst, SeqCst) {
            Ok(_) => verdict,
            Err(written) => Verdict::ALL
                .into_iter()
                .find(|verdict| *verdict as u64 == written)
                .unwrap_or(Verdict::Incomplete),
        }
    }

    fn judged(&self, size: usize, ranks_here: Option<usize>) -> Verdict {
        let is_there = |mark: &AtomicU64| is_mark_alive(mark.load(SeqCst));
        let states = self.marks().iter().zip(self.states());
        let there: Vec<_> = states.filter(|(mark, _)| is_there(mark)).collect();
        let is_promised = there.iter().all(|(_, state)| state.load(SeqCst) & PROMISED != 0);
        if size != self.size {
            Verdict::Incomplete
        } else if there.len() == size {
            Verdict::Complete
        } else if is_promised && ranks_here != Some(size) {
            Verdict::Promised
        } else if ranks_here.is_some_and(|here| there.len() < here) && !is_promised {
            Verdict::Incomplete
        } else {
            // On one host a promise that the board does not confirm is asked about at the end:
            // ranks may be in containers, where they see boards of their own.
            Verdict::OfThisHost
        }
    }

    /// Returns whether all ranks of the world are marked.
    pub(super) fn has_all(&self) -> bool {
        self.marks().iter().all(|mark| mark.load(SeqCst) != 0)
    }

    /// Returns whether rank 0 is marked.
    pub(super) fn has_rank_0(&self) -> bool {
        self.marks()[0].load(SeqCst) != 0
    }

    /// Returns true to the first rank that calls it for this line, which may be long after the
    /// verdict.
    pub(super) fn claim(&self, line: Line) -> bool {
        self.lines().fetch_or(line as u64, SeqCst) & line as u64 == 0
    }

    /// Writes down that this rank has come to the end of MPI.
    pub(super) fn come(&self) {
        self.states()[self.rank].fetch_or(HAS_COME, SeqCst);
    }

    /// Returns the ranks that have not come to the end of MPI, in ascending order.
    pub(super) fn absent(&self) -> Vec<u32> {
        let has_come = |state: &AtomicU64| state.load(SeqCst) & HAS_COME != 0;
        (0..)
            .zip(self.states())
            .filter(|(_, state)| !has_come(state))
            .map(|(rank, _)| rank)
            .collect()
    }

    /// Writes down that this rank does not wait for the others any longer.
    pub(super) fn give_up(&self) {
        self.lines().fetch_or(GIVEN_UP, SeqCst);
    }

    /// Returns whether a rank does not wait for the others any longer.
    pub(super) fn is_given_up(&self) -> bool {
        self.lines().load(SeqCst) & GIVEN_UP != 0
    }

    fn marks(&self) -> &[AtomicU64] {
        &self.words[BOARD_HEADER_WORDS..][..self.size]
    }

    fn states(&self) -> &[AtomicU64] {
        &self.words[BOARD_HEADER_WORDS + self.size..][..self.size]
    }

    fn lines(&self) -> &AtomicU64 {
        &self.words[BOARD_HEADER_WORDS + 2 * self.size]
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

#[cfg(test)]
mod tests;
