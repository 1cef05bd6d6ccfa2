//! Which ranks of the world run this profiler, found out without a message.
//!
//! A job may be of several programs, some of which do not have the profiler, and recording may be
//! off on some ranks. A collective of ours on the world would hang such a job, or be paired with
//! one of the program's own. So there is none until all ranks are known to take part:
//!
//! 1. Before a rank enters `PMPI_Init` it *signs in*: it marks its place on the [`board`] of the
//!    job, a file in shared memory that all ranks of the job on this host find by the job's
//!    [name](launcher).
//! 2. Both MPIs leave `MPI_Init` on a rank only after all ranks have entered it. So whoever comes
//!    out of it finds the mark of each rank on the board that has the profiler. The first one
//!    writes down the verdict, and the others take it from there: it is the same on all of them,
//!    even if an MPI did not keep that order. Each removes the file; what is mapped stays.
//! 3. The world takes part if the board has the marks of all of its ranks.
//!
//! A board is of one host. Of a world on several hosts it says who is missing, but not that all are
//! there. Such a world takes part from the beginning if
//!
//! * the user says so on all ranks (`TINYPROF_WORLD=all`), or
//! * Open MPI's launcher says that the job is of one program, that program is this one, and the
//!   launcher is started by Slurm, which hands the environment to all hosts, `TINYPROF=off`
//!   included.
//!
//! Nothing here depends on what one rank alone sees, except for the board, which is one for all:
//! ranks that came to different verdicts would hang. Otherwise, where no rank of this host is known
//! to be missing, all ranks of the world are [asked at the end](crate::communicator::max_of_world),
//! which no rank waits for longer than the deadline.

mod board;
mod launcher;

use std::env;

use tinyprof::collect::{self, Setting};

use crate::sys;
use board::{Board, Verdict};
use launcher::{Family, Launcher};

/// `TINYPROF_WORLD`: whether the user says that all ranks take part.
const WORLD: Setting<bool> = Setting {
    variable: "TINYPROF_WORLD",
    expected: "auto or all",
    read: |text| match text.to_ascii_lowercase().as_str() {
        "auto" => Some(false),
        "all" => Some(true),
        _ => None,
    },
};

/// The ranks of the world that take part, as one of them knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attendance {
    /// All of them.
    Complete,
    /// Perhaps all of them, which cannot be known before the end.
    Open,
    /// Not all of them, as far as is known.
    Incomplete,
}

/// Which rank tells the user that not all take part.
#[derive(Debug, Default)]
pub(crate) struct Voice {
    is_of_those_who_tell: bool,
    board: Option<Board>,
}

impl Voice {
    /// Returns whether the caller tells it: one of the ranks that have come to that, as far as they
    /// know of each other. To be called once.
    pub(crate) fn tells(&self) -> bool {
        self.is_of_those_who_tell && self.board.as_ref().is_none_or(Board::claim_to_tell)
    }
}

/// A rank that is about to enter `PMPI_Init`.
#[derive(Debug)]
pub(crate) struct SignedIn {
    /// What is known without looking at the others: the user or the launcher says that all take
    /// part.
    is_promised: bool,
    board: Option<Board>,
    ranks_here: Option<u32>,
    is_of_several_programs: bool,
}

impl SignedIn {
    /// Leaves the mark of this rank. To be called before `PMPI_Init`, where recording is on.
    pub(crate) fn new() -> Self {
        let lookup = |variable: &str| env::var(variable).ok();
        let launcher = Launcher { family: family(), lookup: &lookup, peer: &sys::socket_peer };
        let is_promised = WORLD.value(|variable| env::var_os(variable)).unwrap_or(false)
            || launcher.is_of_this_program_alone(sys::started_as().as_deref());
        let board = || {
            let job = launcher.job().filter(|job| job.size > 1)?;
            // Without the signal that a limit on the length of files sends. For the others, a mark
            // that cannot be made is an absent rank.
            collect::without_write_signals(|| Board::mark(&job).ok())
        };
        Self {
            is_promised,
            board: if is_promised { None } else { board() },
            ranks_here: launcher.ranks_here(),
            is_of_several_programs: launcher.is_of_several_programs(),
        }
    }

    /// Returns who is there. To be called right after `PMPI_Init`.
    pub(crate) fn attendance(self, rank: u32, size: u32) -> (Attendance, Voice) {
        if self.is_promised || size == 1 {
            return (Attendance::Complete, Voice::default());
        }
        // Where there is no board, nothing is known.
        let board = self.board.as_ref();
        let verdict =
            board.map_or(Verdict::OfThisHost, |board| board.verdict(size, self.ranks_here));
        let attendance = match verdict {
            Verdict::Complete => Attendance::Complete,
            Verdict::OfThisHost if !self.is_of_several_programs => Attendance::Open,
            Verdict::OfThisHost | Verdict::Incomplete => Attendance::Incomplete,
        };
        // Of several hosts that with rank 0 speaks, unless the ranks of the first program do not
        // have the profiler.
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
    let version = mpi::environment::library_version().unwrap_or_default();
    if ["Open MPI", "Spectrum MPI"].iter().any(|name| version.contains(name)) {
        Family::OpenMpi
    } else {
        Family::Mpich
    }
}
