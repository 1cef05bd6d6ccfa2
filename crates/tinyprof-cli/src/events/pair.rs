//! The two ends of one message, found among those of all.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use tinyprof_format::model::MessageEnd;

/// Identifies a message of the run: its two ends have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pair {
    pub(crate) sender: u32,
    pub(crate) receiver: u32,
    communicator: u32,
    tag: i32,
    number: u64,
}

impl Pair {
    /// Returns that of an end on a rank; `None` if its partner is outside of the world.
    pub(crate) fn of(rank: u32, end: &MessageEnd) -> Option<Self> {
        let partner = rank.checked_add_signed(end.partner)?;
        let (sender, receiver) = if end.is_receive { (partner, rank) } else { (rank, partner) };
        let MessageEnd { communicator, tag, number, .. } = *end;
        Some(Self { sender, receiver, communicator, tag, number })
    }

    /// Returns a number that other messages have by chance alone: of a million by one in 10^7.
    pub(crate) fn id(self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// Ends of messages that wait for the other one, each with what the caller wants to know of it.
#[derive(Debug)]
pub(crate) struct OpenEnds<T>(HashMap<Pair, (bool, T)>);

impl<T> Default for OpenEnds<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> OpenEnds<T> {
    /// Adds an end on a rank. Returns what is known of the sender's end and of the receiver's, once
    /// both are there.
    pub(crate) fn add(&mut self, rank: u32, end: &MessageEnd, known: T) -> Option<(T, T)> {
        let pair = Pair::of(rank, end)?;
        match self.0.remove(&pair) {
            Some((is_receive, other)) if is_receive != end.is_receive => {
                Some(if is_receive { (known, other) } else { (other, known) })
            }
            _ => {
                self.0.insert(pair, (end.is_receive, known));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_message_are_a_pair() {
        let sent = MessageEnd {
            is_receive: false,
            partner: 2,
            communicator: 1,
            tag: 7,
            number: 3,
            bytes: 0,
        };
        let received = MessageEnd { is_receive: true, partner: -2, bytes: 8, ..sent };
        assert_eq!(Pair::of(4, &sent), Pair::of(6, &received));
        assert_ne!(Pair::of(4, &sent), Pair::of(4, &received));
        let next = MessageEnd { number: 4, ..received };
        assert_ne!(Pair::of(4, &sent), Pair::of(6, &next));
        assert_eq!(Pair::of(1, &received), None);
    }

    #[test]
    fn an_end_is_open_until_the_other_one_comes() {
        let (partner, communicator, tag, number, bytes) = (1, 0, 0, 0, 8);
        let is_receive = false;
        let sent = MessageEnd { is_receive, partner, communicator, tag, number, bytes };
        let received = MessageEnd { is_receive: true, partner: -1, ..sent };
        let mut open = OpenEnds::default();
        assert_eq!(open.add(0, &sent, "sent"), None);
        assert_eq!(open.add(1, &received, "received"), Some(("sent", "received")));
        assert_eq!(open.add(1, &received, "received"), None);
        assert_eq!(open.add(0, &sent, "sent"), Some(("sent", "received")));
    }
}
