//! Mutations that know the format: the changed parts are wrong, and the unchanged parts still fit
//! together.
//!
//! A *tape* of bytes makes all decisions. So a fuzzer that changes the tape changes the mutation,
//! and an input repeats it.

mod manifest;
mod profile;
mod section_file;
mod segment;
mod tape;

pub use profile::mutated_profile;
pub(crate) use segment::SEEDS;
pub use segment::mutated_segment;
pub use tape::Tape;
