//! Meaning and byte layout of a TinyProf profile.
//!
//! * [`model`]: callpaths, values, the event map of one rank, the profile of a run.
//! * [`file`](mod@file): the writer and the reader of the profile directory.
//! * [`mod@column`]: columns of numbers, each in the smallest of its encodings.
//! * [`ticks`]: a recorder's data in clock ticks, before the conversion to nanoseconds.
//! * [`segment`]: the measurements that a killed program left behind.
//! * [`text`]: the paper's text format, for other tools.
//!
//! The crate `tinyprof-report` makes statistics and tables of a profile.
//!
//! This crate knows no MPI, no clock and no threads. It trusts no byte that it reads: damage is
//! reported as a [`ReadError`](error::ReadError) with the file and the offset, never by a panic.
#![forbid(unsafe_code)]

mod bytes;
pub mod column;
pub mod error;
pub mod file;
pub mod model;
pub mod segment;
pub mod text;
pub mod ticks;
