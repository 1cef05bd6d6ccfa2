//! The record that travels beside a message.

use crate::latency::Latency;
use crate::uncertainty::Uncertainty;

/// A rank knows its overhead to within one part in `UNSURE`: the cost of a visit
/// depends on the code around it.
pub(crate) const UNSURE: u64 = 3;

/// The statement of a sender about a message.
///
/// The record has 56 bytes, little endian:
///
/// ```text
///  0          8     12     16         24         32          40        48       56
///  | callpath | twin| flags| sequence | entry_ns | intrusion | ideal_ns| bytes  |
///  |      u64 |  u32|   u32|      u64 |      u64 |    ns u64 |     u64 |    u64 |
/// ```
///
/// ```
/// use tinyprof_messages::companion::Companion;
///
/// let companion = Companion { callpath: 3, sequence: 17, bytes: 8, ..Companion::default() };
/// assert_eq!(Companion::from_bytes(&companion.to_bytes()), Some(companion));
/// assert_eq!(Companion::from_bytes(b"too short"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Companion {
    /// The id of the sender's callpath, which ends in the sending call.
    pub callpath: u64,
    /// The number of the communicator, on which its ranks have agreed. MPI may give the same place
    /// to a later communicator, whose companions have another number.
    pub twin: u32,
    /// The flags, [`BLOCKS`](Self::BLOCKS), [`UNSIZED`](Self::UNSIZED), [`ASKS`](Self::ASKS) and
    /// [`SHARED`](Self::SHARED), the [shortest way](Self::nearest) of a message, and the
    /// [uncertainty](Self::uncertainty_ns) in the high half.
    pub flags: u32,
    /// The number of the message, 0-based, among those of the sender to this receiver with this
    /// communicator and tag.
    pub sequence: u64,
    /// When the sender entered the call, in ns on its own clock.
    pub entry_ns: u64,
    /// By how much the sender was delayed at that moment.
    pub intrusion_ns: u64,
    /// The sender's ideal time at that moment.
    pub ideal_ns: u64,
    /// The size of the message, unless [`UNSIZED`](Self::UNSIZED) is set.
    pub bytes: u64,
}

impl Companion {
    /// The length of the record in bytes.
    pub const LENGTH: usize = 56;

    /// The flag of a message whose sender is blocked until the receive is posted.
    pub const BLOCKS: u32 = 1;
    /// The flag of a message whose size the sender did not know when it sent the record.
    pub const UNSIZED: u32 = 2;
    /// The flag of a message whose sender wants to know when the receive was posted, if that was
    /// later.
    pub const ASKS: u32 = 4;

    /// The flag of a message that several threads of the sender may have sent: nobody knows which
    /// of them.
    pub const SHARED: u32 = 8;

    /// The place of the latency in the flags, above those of one bit.
    const LATENCY: u32 = u16::BITS - Latency::BITS;

    /// The number of 64-bit words of the record.
    pub const WORDS: usize = Self::LENGTH / 8;
    /// The word that has the [twin](Self::twin) in its low half.
    pub const TWIN: usize = 1;
    /// The word that has the [sequence](Self::sequence).
    pub const SEQUENCE: usize = 2;

    /// Returns the companion of a sender whose intrusion may be wrong by this, in either direction.
    #[must_use]
    #[inline]
    pub const fn with_uncertainty(self, uncertainty: Uncertainty) -> Self {
        let flags = self.flags & 0xffff | (uncertainty.to_bits() as u32) << 16;
        Self { flags, ..self }
    }

    /// Returns the companion of a sender that knows this of the network.
    #[must_use]
    #[inline]
    pub const fn with_nearest(self, nearest: Latency) -> Self {
        let others = self.flags & !(((1 << Latency::BITS) - 1) << Self::LATENCY);
        Self { flags: others | (nearest.to_bits() as u32) << Self::LATENCY, ..self }
    }

    /// Returns the shortest time of a message, and the call that has waited for it, that the sender
    /// knows of.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "12 bits count")]
    pub const fn nearest(&self) -> Latency {
        Latency::from_bits((self.flags >> Self::LATENCY) as u16)
    }

    /// Returns by how much the intrusion may be wrong, in ns: a third, if the sender does not say.
    #[must_use]
    #[inline]
    pub const fn uncertainty_ns(&self) -> u64 {
        match (self.flags >> 16) as u16 {
            0 => self.intrusion_ns / UNSURE,
            bits => Uncertainty::from_bits(bits).ns(),
        }
    }

    /// Returns the same in few bits, as it has travelled.
    #[must_use]
    #[inline]
    pub(crate) const fn uncertainty(&self) -> Uncertainty {
        match (self.flags >> 16) as u16 {
            0 => Uncertainty::of(self.intrusion_ns / UNSURE),
            bits => Uncertainty::from_bits(bits),
        }
    }

    /// Returns the record as words.
    #[must_use]
    #[inline]
    pub const fn to_words(&self) -> [u64; Self::WORDS] {
        let halves = self.twin as u64 | (self.flags as u64) << 32;
        let Self { callpath, sequence, entry_ns, intrusion_ns, ideal_ns, bytes, .. } = *self;
        [callpath, halves, sequence, entry_ns, intrusion_ns, ideal_ns, bytes]
    }

    /// Returns the companion in a record of words. All words are some companion.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the halves of a word")]
    pub const fn from_words(words: [u64; Self::WORDS]) -> Self {
        let [callpath, halves, sequence, entry_ns, intrusion_ns, ideal_ns, bytes] = words;
        let (twin, flags) = (halves as u32, (halves >> 32) as u32);
        Self { callpath, twin, flags, sequence, entry_ns, intrusion_ns, ideal_ns, bytes }
    }

    /// Returns the record.
    #[must_use]
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        for (place, word) in bytes.chunks_exact_mut(8).zip(self.to_words()) {
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
        Some(Self::from_words(std::array::from_fn(|at| word(8 * at))))
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
            callpath: 0x0807_0605_0403_0201,
            twin: 0x0c0b_0a09,
            flags: 0x100f_0e0d,
            sequence: 0x1817_1615_1413_1211,
            entry_ns: 0x201f_1e1d_1c1b_1a19,
            intrusion_ns: 0x2827_2625_2423_2221,
            ideal_ns: 0x302f_2e2d_2c2b_2a29,
            bytes: 0x3837_3635_3433_3231,
        };
        let expected: Vec<u8> = (1..=56).collect();
        assert_eq!(companion.to_bytes().as_slice(), expected);
    }

    proptest! {
        #[test]
        fn every_record_is_that_of_its_companion(
            bytes in proptest::collection::vec(any::<u8>(), 54..59)
        ) {
            let read = Companion::from_bytes(&bytes);
            prop_assert_eq!(read.is_some(), bytes.len() == Companion::LENGTH);
            if let Some(companion) = read {
                prop_assert_eq!(companion.to_bytes().to_vec(), bytes);
            }
        }
    }
}
