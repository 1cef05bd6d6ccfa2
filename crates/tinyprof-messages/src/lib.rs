//! What messages between ranks mean, as pure functions of plain values.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! * [`companion`]: the record that travels beside a message.
//! * [`time`]: calls and the offsets between the clocks of ranks.
//! * [`clock`]: what a rank has been delayed by measuring, and its ideal time.
//! * [`uncertainty`]: by how much that may be wrong.
//! * [`latency`]: the time that a message takes, in few bits.
//! * [`polling`]: loops of tests.
//! * [`meeting`]: the latest of several partners, for collectives and for `Waitall`.
//! * [`delay`]: causes of waiting: delay costs, the critical path, imbalance.
//! * [`waiting`]: the names of waiting, wrong order, and order inversions.
//! * [`ways`]: the ways along which collective operations may pass data on.
//! * [`order`]: which message a receive from any source may take, in the order without measurement.
//! * [`matching`]: which companion belongs to which message.
//! * [`graph`]: what ranks do, as graphs; their union, phases, and classes of ranks.
//!
//! This crate knows no MPI, no clock and no threads, and has no unsafe code. It depends only on
//! `tinyprof-segment`, for the protocol by which [`delay`] shares memory. What a wrapper calls for
//! a message is free of allocation, locks and panics: all but [`graph`], and what [`delay`] says
//! that it allocates.
#![forbid(unsafe_code)]

pub mod clock;
pub mod companion;
pub mod delay;
pub mod drift;
pub mod graph;
pub mod latency;
pub mod matching;
pub mod meeting;
pub mod order;
pub mod polling;
pub mod time;
pub mod uncertainty;
pub mod waiting;
pub mod ways;
