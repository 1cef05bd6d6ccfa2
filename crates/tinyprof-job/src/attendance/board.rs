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
mod tests {
    use super::*;

    fn job(name: &str, rank: u32, size: u32) -> Job {
        Job { name: name.to_owned(), rank, size }
    }

    fn mark_in(directory: &Path, job: &Job) -> io::Result<Board> {
        Board::mark_in(directory, job, false)
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
            (0..3).map(|rank| mark_in(&directory, &job("a", rank, 3)).unwrap()).collect();
        assert_eq!(names(&directory).len(), 1);
        assert!(boards.iter().all(Board::has_rank_0));
        assert!(boards.iter().all(|board| is_complete(board, 3)));
        assert_eq!(names(&directory), [""; 0]);
    }

    #[test]
    fn a_missing_mark_is_missing_for_all_whenever_they_ask() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        let mark = |name, rank| mark_in(&directory, &job(name, rank, 3)).unwrap();
        let (last, first) = (mark("a", 2), mark("a", 1));
        let other_job = mark("b", 0);
        assert!(!is_complete(&last, 3));
        // A rank that comes after others have asked finds a new board, and neither board is
        // complete.
        let late = mark("a", 0);
        assert!(!is_complete(&late, 3) && !is_complete(&first, 3) && !is_complete(&other_job, 3));
        assert!(!first.has_rank_0() && !last.has_rank_0() && late.has_rank_0());
        // One rank of each board informs the user.
        assert!(last.claim(Line::Apart) && !first.claim(Line::Apart) && late.claim(Line::Apart));
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
        let marked = |name| [1, 3].map(|rank| mark_in(&directory, &job(name, rank, 4)).unwrap());
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
    fn a_promise_counts_as_far_as_the_ranks_of_this_host_share_it() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        // The ranks that are there, each with whether it is promised; the ranks here; the verdict.
        let cases = [
            (&[true, true][..], Some(2), Verdict::Complete),
            (&[true, false], Some(2), Verdict::Complete),
            (&[true], Some(2), Verdict::OfThisHost),
            (&[false], Some(2), Verdict::Incomplete),
            (&[true], Some(1), Verdict::Promised),
            (&[false], Some(1), Verdict::OfThisHost),
            (&[true], None, Verdict::Promised),
        ];
        for (number, (ranks, here, expected)) in cases.into_iter().enumerate() {
            let board = |(rank, promised): (u32, &bool)| {
                let job = job(&number.to_string(), rank, 2);
                Board::mark_in(&directory, &job, *promised).unwrap()
            };
            let boards: Vec<_> = (0..).zip(ranks).map(board).collect();
            for board in &boards {
                assert_eq!(board.verdict(2, here), expected, "{ranks:?} of {here:?}");
            }
        }
        let three = [true, true, false].into_iter().zip(0..);
        let three = three.map(|(promised, rank)| {
            Board::mark_in(&directory, &job("three", rank, 4), promised).unwrap()
        });
        let three: Vec<_> = three.collect();
        assert_eq!(three[0].verdict(4, Some(4)), Verdict::Incomplete, "one has no promise");
    }

    #[test]
    fn ranks_come_to_the_end_and_give_up_on_the_board() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        let boards = [0, 1, 2].map(|rank| mark_in(&directory, &job("a", rank, 3)).unwrap());
        assert!(boards[0].has_all());
        assert_eq!(boards[0].absent(), [0, 1, 2]);
        boards[1].come();
        assert_eq!(boards[2].absent(), [0, 2]);
        assert!(!boards[0].is_given_up());
        boards[2].give_up();
        assert!(boards[0].is_given_up());
        assert!(boards[0].claim(Line::Abort) && !boards[1].claim(Line::Abort));
        assert!(boards[1].claim(Line::NoEffect), "another line");
        boards.iter().for_each(Board::come);
        assert_eq!(boards[1].absent(), [0_u32; 0]);
    }

    #[test]
    fn a_world_of_another_size_is_not_that_of_the_board() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        let boards = [0, 1].map(|rank| mark_in(&directory, &job("a", rank, 2)).unwrap());
        assert!(!is_complete(&boards[0], 3) && !is_complete(&boards[1], 2));
        for (rank, size) in [(2, 2), (0, BOARD_RANKS_MAX + 1)] {
            assert!(mark_in(&directory, &job("a", rank, size)).is_err());
        }
    }

    #[test]
    fn marks_of_processes_that_are_gone_do_not_count_and_their_boards_go() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = u64::from(child.id()) << 32 | 7;
        child.wait().unwrap();
        let board = mark_in(&directory, &job("a", 0, 2)).unwrap();
        board.marks()[1].store(gone, SeqCst);
        assert!(!is_complete(&board, 2));
        // A job killed in MPI_Init would have left its board.
        let stale = mark_in(&directory, &job("b", 0, 2)).unwrap();
        stale.marks()[0].store(gone, SeqCst);
        let live = mark_in(&directory, &job("c", 0, 2)).unwrap();
        assert_eq!(names(&directory).len(), 1, "the live one's");
        drop((stale, live));
        assert_eq!(names(&directory), [""; 0]);
    }

    #[test]
    fn nothing_that_others_may_touch_is_trusted() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("private");
        let path = mark_in(&directory, &job("a", 0, 2)).unwrap().path.clone();
        symlink(scratch.path().join("elsewhere"), &path).unwrap();
        assert!(mark_in(&directory, &job("a", 0, 2)).is_err());
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(mark_in(&directory, &job("a", 0, 2)).is_err());
        fs::remove_file(&path).unwrap();
        for (mode, is_trusted) in [(0o755, true), (0o770, false), (0o707, false)] {
            fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
            let marked = mark_in(&directory, &job("a", 0, 2));
            assert_eq!(marked.is_ok(), is_trusted, "{mode:o}");
        }
    }
}
