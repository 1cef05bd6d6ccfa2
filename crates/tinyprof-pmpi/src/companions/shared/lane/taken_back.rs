//! Companions of messages that were not sent after all: MPI has refused the call.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use tinyprof_messages::companion::Companion;

use super::{Incoming, Outgoing, STAMP, Which};

/// The number of no message: that of an entry that was taken back.
pub(super) const TAKEN_BACK: u64 = u64::MAX;

/// The bits of the word that has the number of the communicator.
const EPOCH: u64 = u32::MAX as u64;

impl Outgoing {
    /// Takes back the companion of a message that was not sent, which no receiver has asked for.
    /// Does nothing if the lane had no room for it.
    #[cold]
    pub(in crate::companions) fn take_back(&self, which: &Which) {
        let lane = self.lane;
        let mut in_lane = (self.position.saturating_sub(lane.entries)..self.position).rev();
        let found = in_lane.find(|position| {
            let entry = lane.entry(*position);
            entry[STAMP].load(Acquire) == lane.stamp(*position, which.tag)
                && entry[Companion::SEQUENCE].load(Relaxed) == which.sequence
                && entry[Companion::TWIN].load(Relaxed) & EPOCH == u64::from(which.epoch)
        });
        if let Some(position) = found {
            lane.entry(position)[Companion::SEQUENCE].store(TAKEN_BACK, Relaxed);
        }
    }
}

impl Incoming {
    /// Returns whether the entry at a position was taken back.
    pub(super) fn is_taken_back(&self, position: u64) -> bool {
        self.lane.entry(position)[Companion::SEQUENCE].load(Relaxed) == TAKEN_BACK
    }

    /// Gives entries that were taken back to the sender, if the lane begins with them.
    pub(super) fn skip_taken_back(&mut self) {
        let skipped = self.come().take_while(|position| self.is_taken_back(*position)).count();
        if skipped > 0 {
            self.drop_before(self.begin + skipped as u64);
        }
    }
}
