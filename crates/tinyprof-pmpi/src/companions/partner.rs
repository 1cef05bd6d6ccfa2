//! The other end of a message.

use tinyprof_messages::matching::Stream;

use super::shared::Which;
use crate::communicators::Twin;

/// Streams that are counted, of messages sent and received. A power of two. There are libraries
/// that go through 6,000 tags with each partner.
pub(super) const STREAMS: usize = 1 << 15;

/// The other end of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partner {
    pub(super) twin: Twin,
    /// Its rank in the world, relative to this one, or `ELSEWHERE`.
    pub(super) relative: i32,
    /// The stream of the message, with its rank in the communicator.
    pub(super) stream: Stream,
}

impl Partner {
    /// Returns the name of the message with this number in the stream.
    pub(super) fn which(&self, sequence: u64) -> Which {
        Which { epoch: self.twin.epoch, tag: self.stream.tag, sequence }
    }
}
