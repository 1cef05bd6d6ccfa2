//! Mutations that know the format: what they change is wrong, what they do not change still fits
//! together.
//!
//! A *tape* of bytes decides everything, so that a fuzzer that changes the tape changes the
//! mutation, and an input repeats it.

mod manifest;
mod profile;
mod section_file;
mod segment;
mod tape;

pub use profile::mutated_profile;
pub(crate) use segment::SEEDS;
pub use segment::mutated_segment;
pub use tape::Tape;
