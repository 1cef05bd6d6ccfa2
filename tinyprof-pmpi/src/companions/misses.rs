//! Ranks whose companions do not come.

use tinyprof_messages::matching::Stream;

/// A rank whose companions were missing so many times in a row is not waited for any more, until
/// one comes: it has ceased to send them.
pub(super) const MISSES_MAX: u8 = 8;
/// The ranks whose misses are counted, by a hash. A power of two.
const RANKS: usize = 1024;

/// How many companions of each rank were missing in a row.
pub(super) struct Misses([u8; RANKS]);

impl Default for Misses {
    fn default() -> Self {
        Self([0; RANKS])
    }
}

impl Misses {
    pub(super) fn of(&mut self, stream: Stream) -> &mut u8 {
        &mut self.0[(stream.communicator.wrapping_mul(61) ^ stream.peer) as usize % RANKS]
    }
}
