//! Graphs of programs: of known ones, and of random ones.
#![expect(clippy::cast_possible_truncation, reason = "small numbers")]

mod builder;
mod golden;
mod programs;
mod random;
mod union;
mod world;
