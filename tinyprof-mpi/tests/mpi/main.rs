//! Real programs under a real `mpiexec`, and their profiles read back.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files must fail")]

mod arbitrary;
mod deadline;
mod failure;
mod figure2;
mod hook;
mod interim_profiles;
mod mpmd;
mod profiler;
mod programs;
mod so_far;
#[path = "../support/mod.rs"]
mod support;
