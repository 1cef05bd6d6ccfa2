//! Comparison of profiles: what became slower between two sets of runs, by more than chance
//! explains. The statistics and their reasons are in docs/diff.md.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! [`Runs`] takes the profiles of both sides one after the other and keeps only their amounts;
//! [`Runs::compare`] makes a [`Diff`] of them, as text, JSON or CSV.
//!
//! * `runs`, `run`, `options`: the runs of both sides, and how they are compared.
//! * `names`: the callpaths of all runs; `values`, `batches`: the amounts of each run by callpath.
//! * `compare`, `statistics`: the choice of samples, and their evaluation.
//! * `text`, `notes`, `tables`: the output for people and for programs.
//!
//! This crate opens no file and prints nothing. Names come from the measured program and are
//! escaped in text.
#![forbid(unsafe_code)]

mod batches;
mod compare;
mod differs;
mod names;
mod notes;
mod options;
mod run;
mod runs;
#[cfg(test)]
mod series;
mod statistics;
mod tables;
mod text;
mod values;

pub use compare::Diff;
pub use names::{Named, Names};
pub use options::{Estimator, Options, UnknownEstimator};
pub use runs::{Runs, Side};
pub use text::{Line, Mark};
