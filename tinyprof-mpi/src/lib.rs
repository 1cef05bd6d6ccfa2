//! One profile for all ranks of an MPI program.
//!
//! The whole set-up is one line:
//!
//! ```
//! use tinyprof_mpi as _;
//! ```
//!
//! With it the program's regions are written as one profile when it finalises MPI, because this crate puts
//! itself before `MPI_Init`, `MPI_Init_thread` and `MPI_Finalize`. The line must be there: a dependency that is
//! never named is not linked, and then every rank writes a profile of its own and says so.
//!
//! Who wants the profile at another moment, under a name of the program's choice, or of some ranks only, takes a
//! [`Profiler`].
//!
//! # How it is written
//!
//! In the three phases of the paper (section V): all ranks agree on one dictionary of callpaths, for which one
//! Allreduce of 56 bytes suffices where they visited the same; one rank in sixteen gathers what its neighbours
//! hold; and each of these aggregators writes one part. The manifest comes last, and the profile gets its name
//! when it is complete. A failure anywhere is the same error on every rank, one line on rank 0's standard error,
//! and leaves nothing behind.
//!
//! # Settings
//!
//! Those of [`tinyprof`], and:
//!
//! | variable | builder | meaning | default |
//! |---|---|---|---|
//! | `TINYPROF_OUT` | [`Profiler::builder`] | name of the profile | `./EXE-JOBID.tprof`, or the process id of rank 0 |
//! | `TINYPROF_REPORT=off` | [`Builder::report`] | the table on rank 0's standard error | on |
//! | `TINYPROF_AGGREGATORS=auto\|N` | [`Builder::aggregators`] | how many ranks write | `auto`: one to every 16 |
//! | `TINYPROF_INTERVAL=5s` | [`Builder::checkpoint_interval`] | the time between two checkpoints | none |
//! | `TINYPROF_CHECKPOINTS=all\|N` | [`Builder::keep_checkpoints`] | how many checkpoints stay | the newest two |
//!
//! # Checkpoints
//!
//! With an interval all ranks write a profile of everything so far now and then, each time at the same boundary, on which
//! they agree without a barrier: see [`Builder::checkpoint_interval`]. `TINYPROF_INTERVAL` works for programs without a
//! [`Profiler`], too. It must then be there on all ranks or on none, as `MPI_Init` waits for the others to begin with it:
//! across hosts, Open MPI passes it on with `mpiexec -x TINYPROF_INTERVAL`.

mod checkpoint;
mod communicator;
mod phases;
mod profiler;
mod run;
mod settings;
mod sys;

pub use profiler::{Builder, FlushError, Profiler, StartError};
pub use settings::Aggregators;
pub use sys::{MPI_Finalize, MPI_Init, MPI_Init_thread};

/// The program on the first page, which must compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}
