//! Checks that the workspace is built as `ARCHITECTURE.md` says.
//!
//! Each module holds one rule as a function from sources to complaints. `tests/workspace.rs`
//!          applies
//! the rules to this workspace, `tests/rules.rs` to small sources that break them.

pub mod arrows;
pub mod counts;
pub mod index;
pub mod modules;
pub mod paths;
pub mod prose;
pub mod public;
pub mod source;
pub mod unsafe_code;
