//! Which two ends are those of one message.

use std::hash::{DefaultHasher, Hash, Hasher};

use tinyprof_format::model::MessageEnd;

/// What both ends of a message have in common, and no other message of the run.
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
}
