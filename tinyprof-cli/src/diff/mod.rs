//! `tinyprof diff`: what became slower from some runs to others, and whether that is more than
//! chance.
//!
//! * `command`: the runs are read, compared and printed.
//! * `pair`: two profiles that were read elsewhere.
//! * `names`: the callpaths of all runs; `values`, `batches`: what each run says of them.
//! * `compare`, `statistics`: what the samples are, and what they tell.
//! * `text`, `tables`: the comparison for people and for programs.

mod batches;
mod command;
mod compare;
mod names;
mod pair;
mod statistics;
mod tables;
mod text;
mod values;

pub(crate) use command::run;
pub(crate) use names::Names;
pub(crate) use pair::{Side, pair_json};
