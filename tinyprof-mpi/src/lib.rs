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

mod communicator;
mod phases;
mod profiler;
mod run;
mod settings;
mod sys;

pub use phases::Aggregators;
pub use profiler::{Builder, FlushError, Profiler, StartError};
pub use sys::{MPI_Finalize, MPI_Init, MPI_Init_thread};

/// The program on the first page, which must compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}
