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
//! * the user says so on all ranks (`TINYPROF_WORLD=all`), or
//! * Open MPI's launcher says that the job consists of one program, that program is this one, and
//!   the launcher is started by Slurm, which passes the environment to all hosts, `TINYPROF=off`
//!   included.
//!
//! Apart from the board, which all ranks share, nothing here depends on what a single rank sees:
//! ranks that reached different verdicts would hang. In all other cases, if no rank of this host is
//! known to be missing, all ranks of the world are [asked at the
//! end](crate::communicator::max_of_world), and no rank waits for that longer than the deadline.

mod board;
mod launcher;

use std::env;

use tinyprof::__mpi as recorder;
use tinyprof_settings::World;

use crate::sys;
use board::{Board, Verdict};
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

/// The choice of the rank that informs the user when not all ranks take part.
#[derive(Debug, Default)]
pub(crate) struct Voice {
    is_of_those_who_tell: bool,
    board: Option<Board>,
}

impl Voice {
    /// Returns whether the caller is to inform the user: true on one of the ranks that found ranks
    /// missing, as far as they know of each other. To be called once.
    pub(crate) fn tells(&self) -> bool {
        self.is_of_those_who_tell && self.board.as_ref().is_none_or(Board::claim_to_tell)
    }
}

/// A rank that is about to enter `PMPI_Init`.
#[derive(Debug)]
pub(crate) struct SignedIn {
    /// True if the user or the launcher says that all ranks take part, so that the others need not
    /// be checked.
    is_promised: bool,
    board: Option<Board>,
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
        let board = || {
            let job = launcher.job().filter(|job| job.size > 1)?;
            // Block the signal that a file size limit raises. To the other ranks, a mark that could
            // not be made is an absent rank.
            recorder::without_write_signals(|| Board::mark(&job).ok())
        };
        Self {
            is_promised,
            board: if is_promised { None } else { board() },
            ranks_here: launcher.ranks_here(),
            is_of_several_programs: launcher.is_of_several_programs(),
        }
    }

    /// Returns which ranks are present. To be called right after `PMPI_Init`.
    pub(crate) fn attendance(self, rank: u32, size: u32) -> (Attendance, Voice) {
        if self.is_promised || size == 1 {
            return (Attendance::Complete, Voice::default());
        }
        // Without a board nothing is known.
        let board = self.board.as_ref();
        let verdict =
            board.map_or(Verdict::OfThisHost, |board| board.verdict(size, self.ranks_here));
        let attendance = match verdict {
            Verdict::Complete => Attendance::Complete,
            Verdict::OfThisHost if !self.is_of_several_programs => Attendance::Open,
            Verdict::OfThisHost | Verdict::Incomplete => Attendance::Incomplete,
        };
        // On several hosts, the host with rank 0 informs the user, unless the ranks of the first
        // program do not have the profiler.
        let is_on_several_hosts = self.ranks_here.is_none_or(|here| here < size);
        let is_of_those_who_tell = match board {
            Some(board) => board.has_rank_0() || !is_on_several_hosts || sys::program_number() > 0,
            None => rank == 0,
        };
        (attendance, Voice { is_of_those_who_tell, board: self.board })
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
