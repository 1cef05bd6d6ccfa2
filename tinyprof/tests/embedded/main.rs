//! The embedded default: the files of a program without MPI, seen from outside.
//!
//! The programs are in `tests/programs`; cargo builds them as examples before it runs this.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

mod aborts;
mod allocator;
mod blocks;
mod budget;
mod builder;
mod calls;
mod clocks;
mod corners;
mod endings;
mod events;
mod failures;
mod filter;
mod forks;
mod interim_profiles;
mod late;
mod memory;
mod on_demand;
mod processor;
mod program;
mod recover;
mod refused;
mod sampled;
mod sandbox;
mod scale;
mod settings;
mod signals;
mod threads;
