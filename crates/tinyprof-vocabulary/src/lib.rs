//! What recorder, rules and reports have one name for.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! * [`Pattern`]: what a rank waits for.
//! * [`EventClass`], [`EventPolicy`], [`MessageEnd`]: what is kept one by one.
//! * [`RankSet`]: ranks, in memory for each run of them.
//!
//! It depends on nothing. Thus a program that is linked to the recorder needs no more of messages
//! than their names.
#![forbid(unsafe_code)]

mod event;
mod pattern;
mod rank_set;

pub use event::{EventClass, EventPolicy, MessageEnd};
pub use pattern::Pattern;
pub use rank_set::RankSet;
