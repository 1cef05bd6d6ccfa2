//! What a callpath sends and receives: messages by kind, partner and size.

use super::kinds::kinds;

kinds! {
    /// The kinds of transfers.
    #[non_exhaustive]
    pub enum MessageKind {
        /// A message to another rank.
        MessageOut = 0 "message_out",
        /// A message from another rank.
        MessageIn = 1 "message_in",
        /// A collective operation, with the bytes that the rank puts in.
        CollectiveOut = 2 "collective_out",
        /// The bytes that a collective operation gives the rank.
        CollectiveIn = 3 "collective_in",
        /// Bytes written to the memory of another rank.
        OneSidedOut = 4 "one_sided_out",
        /// Bytes read from the memory of another rank.
        OneSidedIn = 5 "one_sided_in",
        /// Bytes written to a file.
        FileOut = 6 "file_out",
        /// Bytes read from a file.
        FileIn = 7 "file_in",
    }
}

impl MessageKind {
    /// Returns whether the bytes leave the rank.
    #[must_use]
    pub const fn is_out(self) -> bool {
        (self as u8).is_multiple_of(2)
    }
}

/// The key of transfers of a callpath that are counted together.
///
/// ```
/// use tinyprof_format::model::{MessageKey, MessageKind};
///
/// let key = MessageKey::new(MessageKind::MessageOut, -1, 1000);
/// assert_eq!(key.size_class, 10, "less than 2^10 bytes");
/// assert_eq!(MessageKey::from_bits(key.to_bits()), Some(key));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKey {
    /// The kind.
    pub kind: MessageKind,
    /// For messages, the rank of the partner in the world, relative to the rank itself; otherwise
    /// the number of ranks of a collective operation, or 0. [`ANY_PARTNER`](Self::ANY_PARTNER)
    /// where the partner is outside of the world or not known.
    pub partner: i32,
    /// The number of binary digits of the size in bytes: 0 for none, k for 2^(k-1) to 2^k - 1
    /// bytes.
    pub size_class: u8,
}

impl MessageKey {
    /// The partner of messages whose partner is outside of the world, or not recorded.
    pub const ANY_PARTNER: i32 = i32::MAX;

    /// The number of size classes.
    pub const SIZE_CLASSES: u8 = 65;

    /// Returns the key of a transfer of `bytes` bytes.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a number of at most 64")]
    pub const fn new(kind: MessageKind, partner: i32, bytes: u64) -> Self {
        Self { kind, partner, size_class: (u64::BITS - bytes.leading_zeros()) as u8 }
    }

    /// Returns the key without its partner.
    #[must_use]
    pub const fn with_any_partner(self) -> Self {
        Self { partner: Self::ANY_PARTNER, ..self }
    }

    /// Returns the key as a number: kind, size class and partner, from the low bits up.
    #[must_use]
    #[inline]
    pub const fn to_bits(self) -> u64 {
        (self.partner.cast_unsigned() as u64) << 32
            | (self.size_class as u64) << 8
            | self.kind as u64
    }

    /// Returns the key with this number, or `None` if it is the number of none.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "taking the parts is the purpose")]
    pub fn from_bits(bits: u64) -> Option<Self> {
        let kind = MessageKind::from_number(bits as u8)?;
        let size_class = (bits >> 8) as u8;
        let is_whole = size_class < Self::SIZE_CLASSES && (bits as u32) >> 16 == 0;
        let partner = ((bits >> 32) as u32).cast_signed();
        is_whole.then_some(Self { kind, partner, size_class })
    }
}

/// The number of transfers, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of messages or operations.
    pub count: u64,
    /// The sum of their bytes.
    pub bytes: u64,
}

impl Traffic {
    /// Adds other transfers.
    pub fn absorb(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn size_classes_are_powers_of_two() {
        let class = |bytes| MessageKey::new(MessageKind::FileIn, 0, bytes).size_class;
        assert_eq!([0, 1, 2, 3, 4, 1023, 1024].map(class), [0, 1, 2, 2, 3, 10, 11]);
        assert_eq!(class(u64::MAX), MessageKey::SIZE_CLASSES - 1);
    }

    proptest! {
        #[test]
        fn every_key_has_a_number(kind in 0_u8..8, partner: i32, bytes: u64) {
            let key = MessageKey::new(MessageKind::from_number(kind).unwrap(), partner, bytes);
            prop_assert_eq!(MessageKey::from_bits(key.to_bits()), Some(key));
        }

        #[test]
        fn a_number_is_that_of_its_key_or_of_none(bits: u64) {
            let same = MessageKey::from_bits(bits).is_none_or(|key| key.to_bits() == bits);
            prop_assert!(same);
        }
    }
}
