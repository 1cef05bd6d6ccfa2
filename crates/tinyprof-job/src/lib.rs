//! One profile for all ranks of an MPI job, over the MPI that is found in the running process.
//!
//! An internal crate of TinyProf: programs use `tinyprof-mpi`, or are started with the preloaded
//! library. Both link this crate, which registers itself with the wrappers of MPI's functions when
//! the program is loaded. No MPI is needed to build it, and it is not built anew for another MPI.
//! Nothing here is stable.

mod attendance;
mod communicator;
mod error;
mod hooks;
mod interim_profile;
mod measure;
mod profiler;
mod run;
mod settings;
pub mod sys;

pub use communicator::flush_for_study;
pub use error::{FlushError, StartError};
pub use hooks::arrange;
pub use profiler::JobProfiler;
pub use tinyprof_flush::communicator::Interruption;
