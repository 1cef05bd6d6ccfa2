//! An oracle: programs of MPI calls, simulated event by event, with measurement and without it.
//!
//! The engine follows the text of the MPI standard, the waiting Scalasca's definitions. Both were
//! written without a look at the rules that they judge. `TINYPROF_ORACLE_PROGRAMS=1000` runs more
//! programs of each mix; `--nocapture` prints the tables:
//!
//! * `local`: each rank subtracts its own overhead.
//! * `unknown`: the rules of this crate, as composed in [`rules`]; they find the latency out.
//! * `known`: the same, told the latency and the time of a byte to a tenth.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::print_stdout,
    reason = "small numbers, and tables for a reader"
)]

mod delivery;
mod engine;
mod generate;
mod mix;
mod network;
mod program;
mod queues;
mod random;
mod replay;
mod rules;
mod score;
mod shapes;
mod tables;
mod trace;
mod waiting;
