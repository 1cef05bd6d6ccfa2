//! Reports of a run for people and other ranks.

mod efficiency;
mod fixture;
mod hints;
mod hints_of_run;
mod hints_of_waits;
mod sampled;
mod statistics;
mod text;
#[expect(dead_code, reason = "other tests use the rest")]
mod world;
