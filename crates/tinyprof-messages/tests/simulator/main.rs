//! Simulated programs show how exact compensation is: each program runs with the cost of measuring,
//! and without it. The second run is the truth.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    reason = "small numbers, and tables for a reader"
)]

mod apart;
mod engine;
mod mailbox;
mod network;
mod program;
mod random;
mod rules;
mod tables;
