//! Delay costs and the critical path, found while programs run, held against Scalasca's analysis
//! post mortem of all that has happened.
//!
//! The programs are random, and run on the engine of `tests/oracle`.
//! `TINYPROF_ORACLE_PROGRAMS=1000` runs more of them; `--nocapture` prints the tables.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::print_stdout,
    reason = "small numbers, and tables for a reader"
)]

#[path = "../oracle/delivery.rs"]
mod delivery;
#[path = "../oracle/engine.rs"]
mod engine;
#[expect(dead_code, reason = "trees that these programs do not follow")]
#[path = "../oracle/network.rs"]
mod network;
#[path = "../oracle/program.rs"]
#[expect(dead_code, reason = "operations that these programs do not contain")]
mod program;
#[path = "../oracle/queues.rs"]
mod queues;
#[path = "../oracle/random.rs"]
mod random;
#[path = "../oracle/trace.rs"]
#[expect(dead_code, reason = "facts that only measured runs need")]
mod trace;

mod accuracy;
mod history;
mod online;
mod post_mortem;
mod programs;
mod score;
