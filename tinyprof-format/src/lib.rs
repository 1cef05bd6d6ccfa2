//! What a TinyProf profile means and how its bytes look.
//!
//! * [`model`]: callpaths, values, the event map of one rank, the profile of a run.
//! * [`file`](mod@file): the profile directory: its writer and its reader.
//! * [`mod@column`]: numbers in the smallest of their encodings.
//! * [`ticks`]: what a recorder holds, before it is nanoseconds.
//! * [`report`]: statistics over ranks, and the table that people read.
//! * [`segment`]: what a program that was killed has left of its measurements.
//! * [`text`]: the paper's text format, for other tools.
//!
//! This crate knows no MPI, no clock and no threads. It never trusts a byte that it reads: damage
//! is an [`ReadError`](error::ReadError) that names the file and the offset, never a panic.
#![forbid(unsafe_code)]

mod bytes;
pub mod column;
pub mod error;
pub mod file;
pub mod model;
pub mod report;
pub mod segment;
pub mod text;
pub mod ticks;
