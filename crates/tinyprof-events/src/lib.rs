//! The visits and messages of a thread, one by one, in memory of fixed size.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! Sums tell how much, but not in which order. A [`Buffer`] keeps single visits, each with begin
//! and end, and ends of messages, and never grows. When it is full, its [`EventPolicy`] decides
//! what to give up. Nothing is given up in silence: each [`Cell`] counts its losses, and when they
//! were.
//!
//! * [`cell`]: events are kept apart by class and depth, so that some can be given up before
//!   others.
//! * [`layout`]: the words of a buffer, which may be in a file and outlive the process.
//! * [`bin`]: the unit that is filled, read and given up; `message` is what it has of a message.
//! * [`buffer`]: the owner's side; `usual` is what most visits take of it, `reduce` what happens
//!   when it is full.
//! * [`reader`]: the side of other threads and processes. It trusts no word.
//!
//! This crate knows no MPI and reads no clock: callers say when a visit began and ended.

pub mod bin;
pub mod buffer;
pub mod cell;
pub mod layout;
mod message;
pub mod reader;
mod reduce;
mod usual;
mod varint;

pub use buffer::{Buffer, Visit};
pub use cell::Cell;
pub use reader::{CellTotals, RecordedMessage, RecordedVisit, Recording, read};
pub use tinyprof_vocabulary::{EventClass, EventPolicy, MessageEnd};
