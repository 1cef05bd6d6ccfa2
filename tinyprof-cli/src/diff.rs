//! `tinyprof diff`: finds what became slower between two sets of runs, and by more than chance
//! explains.
//!
//! * `command`: reads, compares and prints the runs.
//! * `pair`: compares profiles that are already in memory.
//! * `names`: the callpaths of all runs; `values`, `batches`: the amounts of each run by callpath.
//! * `compare`, `statistics`: the choice of samples, and their evaluation.
//! * `text`, `tables`: the output for people and for programs.

mod batches;
mod command;
mod compare;
mod names;
mod pair;
#[cfg(test)]
mod series;
mod statistics;
mod tables;
mod text;
mod values;

pub(crate) use command::run;
pub(crate) use names::Names;
pub(crate) use pair::{Side, sides_json};
