//! Ranks whose companions do not come.

use tinyprof_messages::matching::Stream;

/// A rank whose companions were missing this many times in a row has ceased to send them: where the
/// program lets messages wait, or several threads send.
const MISSES_MAX: u32 = 8;
/// After that, only every 64th message is probed: scanning unexpected messages is slow.
const LOOKED_EACH: u32 = 64;
/// The ranks that are told apart, by a hash. A power of two.
const RANKS: usize = 1024;

/// How many companions of each rank were missing in a row.
pub(super) struct Misses([u32; RANKS]);

impl Default for Misses {
    fn default() -> Self {
        Self([0; RANKS])
    }
}

impl Misses {
    fn of(&mut self, stream: Stream) -> &mut u32 {
        let mixed = stream.communicator.wrapping_mul(61) ^ stream.peer;
        &mut self.0[mixed as usize % RANKS]
    }

    /// Returns whether the companion of a message is to be waited for.
    pub(super) fn are_few(&mut self, stream: Stream) -> bool {
        *self.of(stream) < MISSES_MAX
    }

    /// Returns whether the companion of a message is to be looked for; if not, it is missing.
    pub(super) fn looks(&mut self, stream: Stream) -> bool {
        let misses = self.of(stream);
        let looks = *misses < MISSES_MAX || misses.is_multiple_of(LOOKED_EACH);
        if !looks {
            *misses = misses.wrapping_add(1).max(MISSES_MAX);
        }
        looks
    }

    /// Notes a companion that is missing.
    pub(super) fn add(&mut self, stream: Stream) {
        let misses = self.of(stream);
        *misses = misses.wrapping_add(1);
    }

    /// Notes a companion that has come.
    pub(super) fn clear(&mut self, stream: Stream) {
        *self.of(stream) = 0;
    }
}
