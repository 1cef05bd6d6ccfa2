//! The generation of the program's handles: as long as it stays the same, a handle names the same
//! object.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Starts at 1, which no empty entry of a cache has.
static GENERATION: AtomicU32 = AtomicU32::new(1);

/// Returns the generation.
#[inline]
pub(crate) fn generation() -> u32 {
    GENERATION.load(Relaxed)
}

/// Ends the generation, before a communicator or a datatype is freed: its handle may then name
/// another one.
pub(crate) fn end_generation() {
    GENERATION.fetch_add(1, Relaxed);
}
