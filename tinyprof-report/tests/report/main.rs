//! Reports of a run for people, programs and other ranks.

mod control_nodes;
mod efficiency;
mod fixture;
mod hints;
mod hints_of_run;
mod hints_of_waits;
mod info;
mod iterations;
mod json;
mod messages;
mod programs;
mod regions;
mod statistics;
mod structure;
mod text;
mod waits;
mod world;
