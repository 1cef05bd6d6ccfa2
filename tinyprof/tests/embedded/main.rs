//! The embedded default: what a program without MPI leaves behind, seen from outside.
//!
//! The programs are in `tests/programs`; cargo builds them as examples before it runs this.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

mod calls;
mod endings;
mod failures;
mod program;
mod recover;
mod threads;
