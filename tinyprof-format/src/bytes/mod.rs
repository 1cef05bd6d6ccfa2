//! All byte arithmetic of the crate. Every length is checked before it is used.
//!
//! Everything is little endian.

mod budget;
pub(crate) mod column;
mod cursor;
mod sink;

pub(crate) use budget::Budget;
pub(crate) use cursor::{Cursor, Malformed};
pub(crate) use sink::Sink;
