//! The record that travels beside a message.

/// The statement of a sender about a message.
///
/// The record has 48 bytes, little endian:
///
/// ```text
///  0     4     8          16         24          32        40       48
///  | rank| node| sequence | entry_ns | intrusion | ideal_ns| bytes  |
///  |  u32|  u32|      u64 |      u64 |    ns u64 |     u64 |    u64 |
/// ```
///
/// ```
/// use tinyprof_messages::companion::Companion;
///
/// let companion = Companion { rank: 3, sequence: 17, bytes: 8, ..Companion::default() };
/// assert_eq!(Companion::from_bytes(&companion.to_bytes()), Some(companion));
/// assert_eq!(Companion::from_bytes(b"too short"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Companion {
    /// The sender's rank in the world, 0-based.
    pub rank: u32,
    /// The node of the sender's graph: the callpath that ends in the sending call.
    pub node: u32,
    /// The number of the message, 0-based, among those of the sender to this receiver with this
    /// communicator and tag.
    pub sequence: u64,
    /// When the sender entered the call, in ns on its own clock.
    pub entry_ns: u64,
    /// By how much the sender was delayed at that moment.
    pub intrusion_ns: u64,
    /// The sender's ideal time at that moment.
    pub ideal_ns: u64,
    /// The size of the message.
    pub bytes: u64,
}

impl Companion {
    /// The length of the record in bytes.
    pub const LENGTH: usize = 48;

    /// Returns the record.
    #[must_use]
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[0..4].copy_from_slice(&self.rank.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.node.to_le_bytes());
        let words = [self.sequence, self.entry_ns, self.intrusion_ns, self.ideal_ns, self.bytes];
        for (place, word) in bytes[8..].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Returns the companion in a record, or `None` if its length is not
    /// [`LENGTH`](Self::LENGTH). Every content of that length is some companion.
    #[must_use]
    #[inline]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LENGTH] = bytes.try_into().ok()?;
        let half = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
        let word = |at| u64::from(half(at)) | u64::from(half(at + 4)) << 32;
        Some(Self {
            rank: half(0),
            node: half(4),
            sequence: word(8),
            entry_ns: word(16),
            intrusion_ns: word(24),
            ideal_ns: word(32),
            bytes: word(40),
        })
    }
}

const _: () = assert!(Companion::LENGTH == size_of::<Companion>());

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_layout_is_as_drawn() {
        let companion = Companion {
            rank: 0x0403_0201,
            node: 0x0807_0605,
            sequence: 0x100f_0e0d_0c0b_0a09,
            entry_ns: 0x1817_1615_1413_1211,
            intrusion_ns: 0x201f_1e1d_1c1b_1a19,
            ideal_ns: 0x2827_2625_2423_2221,
            bytes: 0x302f_2e2d_2c2b_2a29,
        };
        let expected: Vec<u8> = (1..=48).collect();
        assert_eq!(companion.to_bytes().as_slice(), expected);
    }

    proptest! {
        #[test]
        fn every_record_is_that_of_its_companion(
            bytes in proptest::collection::vec(any::<u8>(), 46..51)
        ) {
            let read = Companion::from_bytes(&bytes);
            prop_assert_eq!(read.is_some(), bytes.len() == Companion::LENGTH);
            if let Some(companion) = read {
                prop_assert_eq!(companion.to_bytes().to_vec(), bytes);
            }
        }
    }
}
