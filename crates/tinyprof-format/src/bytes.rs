//! All byte arithmetic of the crate. Every length is checked before it is used.
//!
//! Everything is little endian.

pub(crate) mod column;
mod cursor;
mod memory_limit;
mod sink;

pub(crate) use cursor::{Cursor, Malformed};
pub(crate) use memory_limit::MemoryLimit;
pub(crate) use sink::Sink;
