//! The steps in which all ranks of a job write one profile, without MPI.
//!
//! An internal crate of TinyProf: programs use `tinyprof` and `tinyprof-mpi`, and nothing here is
//! stable.
//!
//! * [`communicator`]: the few operations that a flush needs of the ranks' network, and ranks that
//!   are tasks of one thread.
//! * [`phases`]: synchronise, aggregate and write (paper, section V), over any communicator.
//! * [`agreement`]: the flush point at which all ranks write an interim profile.
//! * [`scaling_study`]: the phases as plain functions, for the benches that measure and simulate
//!   them.

pub mod agreement;
pub mod communicator;
mod observer;
pub mod phases;
pub mod scaling_study;

pub use observer::{Milestone, Observer};
