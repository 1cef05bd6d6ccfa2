//! The memory of a recorded thread, which outlives its process: its layout, and the protocol
//! between the thread that writes it and everyone who reads it.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! * [`layout`]: the words of a segment, and their meaning.
//! * [`words`]: halves of words, and lines.
//! * [`sequence`]: the sequence counter of a record. Its owner writes, and other threads and
//!   processes read.
//! * [`list`]: the lists of a record, which also a reader of a dead program's file finds whole.
//! * [`control`]: commands to a thread that runs, and its answers.
//! * [`obeyed`]: the commands that a thread has obeyed, in memory of fixed size.
//! * [`clock`]: the clocks whose ticks are in a segment.
//! * [`primitive`]: the atomics that all of this is made of, or those of loom, which tries every
//!   order that the memory model allows.
//!
//! The recorder, `tinyprof top`, `tinyprof recover` and the model for loom use the same functions.
//! This crate gives words no meaning beyond that: it knows no regions and no files.

pub mod clock;
pub mod control;
pub mod layout;
pub mod list;
pub mod obeyed;
pub mod primitive;
pub mod sequence;
pub mod words;
