//! Streams of messages, and the receives that match them.

/// Messages that MPI keeps in order: those with one communicator, one source and one tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stream {
    /// A number that the caller has given to the communicator.
    pub communicator: u32,
    /// The rank of the other side: at a receiver the source, at a sender the destination.
    pub peer: u32,
    /// The tag.
    pub tag: i32,
}

/// The messages that a receive accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// A number that the caller has given to the communicator.
    pub communicator: u32,
    /// The rank of the source, or `None` for any.
    pub source: Option<u32>,
    /// The tag, or `None` for any.
    pub tag: Option<i32>,
}

impl Wanted {
    /// Returns whether there may be a message that both accept.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        fn may_be_same<T: PartialEq + Copy>(one: Option<T>, other: Option<T>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        self.communicator == other.communicator
            && may_be_same(self.source, other.source)
            && may_be_same(self.tag, other.tag)
    }

    /// Returns whether a message of the stream may match the receive.
    #[must_use]
    #[inline]
    pub fn accepts(&self, stream: Stream) -> bool {
        self.communicator == stream.communicator
            && self.source.is_none_or(|source| source == stream.peer)
            && self.tag.is_none_or(|tag| tag == stream.tag)
    }

    /// Returns the only stream that matches the receive, or `None` if it has a wildcard.
    #[must_use]
    #[inline]
    pub fn stream(&self) -> Option<Stream> {
        let (communicator, peer, tag) = (self.communicator, self.source?, self.tag?);
        Some(Stream { communicator, peer, tag })
    }
}

impl From<Stream> for Wanted {
    fn from(stream: Stream) -> Self {
        let Stream { communicator, peer, tag } = stream;
        Self { communicator, source: Some(peer), tag: Some(tag) }
    }
}
