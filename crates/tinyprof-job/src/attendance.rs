//! Detection, without messages, of which ranks of the world run this profiler.
//!
//! A job may consist of several programs, some without the profiler, and recording may be off on
//! some ranks. A collective of ours on the world would hang such a job, or be matched with one of
//! the program's own. So we call none until all ranks are known to take part:
//!
//! 1. Before a rank enters `PMPI_Init` it *signs in*: it marks its place on the [`board`] of the
//!    job, a file in shared memory that all ranks of the job on this host find by the job's
//!    [name](launcher).
//! 2. Both MPIs let a rank leave `MPI_Init` only after all ranks have entered it. So a rank that
//!    leaves it finds the mark of each rank on the board that has the profiler. The first one
//!    writes down the verdict, and the others read it there: all of them get the same verdict, even
//!    if an MPI did not keep that order. Each removes the file; the mapping stays.
//! 3. The world takes part if the board has the marks of all of its ranks.
//!
//! A board covers one host. For a world on several hosts it can show that ranks are missing, but
//! not that all are present. Such a world takes part from the beginning if
//!
//! * the [roll call](tinyprof_roll_call) of the command `tinyprof run` says so, or
//! * the user says so on all ranks (`TINYPROF_WORLD=all`), or
//! * Open MPI's launcher says that the job consists of one program, that program is this one, and
//!   the launcher is started by Slurm, which passes the environment to all hosts, `TINYPROF=off`
//!   included.
//!
//! A rank writes on the board whether it has been told so. On one host the board knows better than
//! the user: a promise that not all of its ranks have, or that it does not confirm, is none.
//!
//! Apart from the board, which all ranks share, nothing here depends on what a single rank sees:
//! ranks that reached different verdicts would hang. A rank may have two boards (of the usual
//! directory, and of the one that its settings name). The world takes part if any board is
//! complete: then all ranks have that one. In all other cases, if no rank of this host is known to
//! be missing, all ranks of the world are [asked at the end](crate::communicator::max_of_world),
//! and no rank waits for that longer than the deadline.

mod board;
mod launcher;

use std::env;

use tinyprof::__mpi as recorder;
use tinyprof_roll_call::{self as roll_call, Answer, Invitation};
use tinyprof_settings::World;

use crate::sys;
pub(crate) use board::Line;
use board::{Board, Boards, Verdict};
use launcher::{Family, Launcher};

/// The participation of the world's ranks, as far as one of them knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attendance {
    /// All ranks take part.
    Complete,
    /// Perhaps all ranks take part, which cannot be known before the end.
    Open,
    /// Not all ranks take part, as far as is known.
    Incomplete,
}

/// The memory that the ranks of a host share when it is known which ranks take part: for lines that
/// one of them prints for all, and for the end of the run.
#[derive(Debug, Default)]
pub(crate) struct Voice {
    is_of_those_who_tell: bool,
    board: Option<Board>,
}

impl Voice {
    /// Returns whether the caller is to inform the user that ranks write profiles of their own:
    /// true on one of the ranks that found ranks missing, as far as they know of each other. To be
    /// called once.
    pub(crate) fn tells(&self) -> bool {
        self.speaks(Line::Apart)
    }

    /// Returns whether the caller is to print a line that is printed once in a job: true on one of
    /// the ranks of one host, as far as they know of each other.
    pub(crate) fn speaks(&self, line: Line) -> bool {
        self.is_of_those_who_tell && self.claims(line)
    }

    /// Returns whether the caller is to print a line: true on the first rank of this host that
    /// asks, and on each rank that shares no memory with others.
    pub(crate) fn claims(&self, line: Line) -> bool {
        self.board.as_ref().is_none_or(|board| board.claim(line))
    }

    /// Returns whether all ranks of the world share this memory.
    pub(crate) fn is_of_all(&self) -> bool {
        self.board.as_ref().is_some_and(Board::has_all)
    }

    /// Writes down that this rank has come to the end of MPI.
    pub(crate) fn come(&self) {
        if let Some(board) = &self.board {
            board.come();
        }
    }

    /// Returns the ranks that have not come to the end of MPI, or none if that is not known.
    pub(crate) fn absent(&self) -> Vec<u32> {
        let board = self.board.as_ref().filter(|board| board.has_all());
        board.map_or_else(Vec::new, Board::absent)
    }

    /// Writes down that this rank does not wait for the others any longer.
    pub(crate) fn give_up(&self) {
        if let Some(board) = &self.board {
            board.give_up();
        }
    }

    /// Returns whether a rank of this host does not wait for the others any longer.
    pub(crate) fn is_given_up(&self) -> bool {
        self.board.as_ref().is_some_and(Board::is_given_up)
    }
}

/// A rank that is about to enter `PMPI_Init`.
#[derive(Debug)]
pub(crate) struct SignedIn {
    /// True if the user or the launcher says that all ranks take part.
    is_promised: bool,
    marked: Boards,
    /// This rank at the roll call of its job, if there is one.
    member: Option<roll_call::Member>,
    ranks_here: Option<u32>,
    is_of_several_programs: bool,
}

impl SignedIn {
    /// Leaves the mark of this rank. To be called before `PMPI_Init`, if recording is on.
    pub(crate) fn new() -> Self {
        let lookup = |variable: &str| env::var(variable).ok();
        let launcher = Launcher { family: family(), lookup: &lookup, peer: &sys::socket_peer };
        let is_promised = recorder::config().world == Some(World::All)
            || launcher.is_of_this_program_alone(sys::started_as().as_deref());
        let marked = || {
            let job = launcher.job().filter(|job| job.size > 1)?;
            // Block the signal that a file size limit raises. To the other ranks, a mark that could
            // not be made is an absent rank.
            Some(recorder::without_write_signals(|| Boards::mark(&job, is_promised)))
        };
        let at_roll_call = || {
            let place = launcher.place_across_hosts()?;
            Invitation::parse(&lookup(roll_call::VARIABLE)?)?.sign_in(&place)
        };
        Self {
            is_promised,
            marked: marked().unwrap_or_default(),
            member: at_roll_call(),
            ranks_here: launcher.ranks_here(),
            is_of_several_programs: launcher.is_of_several_programs(),
        }
    }

    /// Returns which ranks are present. To be called right after `PMPI_Init`.
    pub(crate) fn attendance(self, rank: u32, size: u32) -> (Attendance, Voice) {
        if size == 1 {
            return (Attendance::Complete, Voice::default());
        }
        let ranks_here = self.ranks_here;
        let of_boards = self.marked.boards.into_iter().map(|board| {
            let verdict = board.verdict(size, ranks_here);
            (verdict, board)
        });
        let mut of_boards: Vec<_> = of_boards.collect();
        // All ranks have a board that is complete. Otherwise the first is that of most ranks.
        let complete = of_boards.iter().position(|(verdict, _)| *verdict == Verdict::Complete);
        of_boards.drain(..complete.unwrap_or(0));
        let (verdict, board) = of_boards.into_iter().next().unzip();
        let verdict = verdict.unwrap_or_else(|| {
            let is_missed = self.marked.is_shut_out && ranks_here.is_none_or(|here| here > 1);
            match (self.is_promised, is_missed) {
                (true, _) => Verdict::Promised,
                // The others have found this rank missing, and do not ask at the end.
                (false, true) => Verdict::Incomplete,
                // Without a board nothing is known.
                (false, false) => Verdict::OfThisHost,
            }
        });
        let is_called = || self.member.is_some_and(|member| member.answer() == Answer::All);
        let attendance = match verdict {
            // The roll call has the same answer for all ranks, whatever their hosts know.
            _ if is_called() => Attendance::Complete,
            Verdict::Complete | Verdict::Promised => Attendance::Complete,
            Verdict::OfThisHost if !self.is_of_several_programs => Attendance::Open,
            Verdict::OfThisHost | Verdict::Incomplete => Attendance::Incomplete,
        };
        // On several hosts, the host with rank 0 informs the user, unless the ranks of the first
        // program do not have the profiler.
        let is_on_several_hosts = ranks_here.is_none_or(|here| here < size);
        let is_of_those_who_tell = match &board {
            Some(board) => board.has_rank_0() || !is_on_several_hosts || sys::program_number() > 0,
            None => rank == 0,
        };
        (attendance, Voice { is_of_those_who_tell, board })
    }
}

fn family() -> Family {
    // May be called before MPI is initialised (MPI 4.0, section 9.1.1).
    let version = sys::library_version().unwrap_or_default();
    if ["Open MPI", "Spectrum MPI"].iter().any(|name| version.contains(name)) {
        Family::OpenMpi
    } else {
        Family::Mpich
    }
}
