//! An oracle: programs of MPI calls, simulated event by event, with measurement and without it.
//!
//! The engine follows the text of the MPI standard, the waiting Scalasca's definitions. Both were
//! written without a look at the rules that they judge. `TINYPROF_ORACLE_PROGRAMS=1000` runs more
//! programs of each mix; `--nocapture` prints the tables:
//!
//! * `local`: each rank subtracts its own cost.
//! * `rules`: the rules of this crate, as composed in [`rules`].
//! * `moved`: proposed rules, out of this crate's functions; they know the latency to a tenth.
//! * `proposed`: rules that observe arrivals, and carry an uncertainty along.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::print_stdout,
    reason = "small numbers, and tables for a reader"
)]

mod arrival;
mod chain;
mod delivery;
mod engine;
mod generate;
mod mix;
mod moved;
mod network;
mod network_seen;
mod program;
mod queues;
mod random;
mod replay;
mod rules;
mod score;
mod shapes;
mod tables;
mod trace;
mod trees;
mod waiting;
