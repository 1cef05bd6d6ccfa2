//! What was found out about places of calls: a table that calls read without a lock.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::unwinding::Rule;

/// The places that are kept.
const PLACES: usize = 2048;
/// How far from its first slot a place may be.
const REACH: usize = 16;

/// What makes the calls of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// The user's own code.
    Own,
    /// A wrapper, whose caller is found by the rule.
    Wrapper(Rule),
    /// An interpreter of Python, for a line of a script.
    Python,
}

/// The word of [`Maker::Python`]. That of a rule is another one.
const PYTHON: u64 = 4;

impl Maker {
    fn to_bits(self) -> u64 {
        match self {
            Self::Own => 0,
            Self::Wrapper(rule) => rule.to_bits(),
            Self::Python => PYTHON,
        }
    }

    fn from_bits(bits: u64) -> Self {
        if bits == PYTHON {
            return Self::Python;
        }
        Rule::from_bits(bits).map_or(Self::Own, Self::Wrapper)
    }
}

/// For each place, by a number that is not 0, what makes its calls.
pub(super) struct Kept {
    slots: [Slot; PLACES],
}

struct Slot {
    key: AtomicU64,
    maker: AtomicU64,
}

impl Kept {
    pub(super) const fn new() -> Self {
        Self {
            slots: [const { Slot { key: AtomicU64::new(0), maker: AtomicU64::new(0) } }; PLACES],
        }
    }

    /// Returns what is kept of a place; `None` if that is nothing yet. A place for which there is
    /// no room is taken for one of the user's own code.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<Maker> {
        for slot in self.reach(key) {
            // Pairs with the release in `keep`: the maker is there.
            match slot.key.load(Acquire) {
                0 => return None,
                known if known == key => return Some(Maker::from_bits(slot.maker.load(Relaxed))),
                _ => {}
            }
        }
        Some(Maker::Own)
    }

    /// Keeps what was found out of a place. One thread at a time.
    pub(super) fn keep(&self, key: u64, maker: Maker) {
        for slot in self.reach(key) {
            let known = slot.key.load(Relaxed);
            if known == key {
                return;
            }
            if known == 0 {
                slot.maker.store(maker.to_bits(), Relaxed);
                // Pairs with the acquire in `find`.
                return slot.key.store(key, Release);
            }
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the high bits, which are few")]
    fn reach(&self, key: u64) -> impl Iterator<Item = &Slot> {
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = (hash >> (u64::BITS - PLACES.ilog2())) as usize;
        (first..first + REACH).map(|index| &self.slots[index % PLACES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_and_the_rest_is_not_known() {
        let kept = Kept::new();
        let rule = Rule::from_bits(1 << 40 | 1).expect("not 0");
        assert_eq!(kept.find(5), None);
        kept.keep(5, Maker::Wrapper(rule));
        kept.keep(6, Maker::Own);
        kept.keep(8, Maker::Python);
        kept.keep(5, Maker::Own);
        assert_eq!(kept.find(5), Some(Maker::Wrapper(rule)), "the first stays");
        assert_eq!(kept.find(6), Some(Maker::Own));
        assert_eq!(kept.find(7), None);
        assert_eq!(kept.find(8), Some(Maker::Python));
    }

    #[test]
    fn a_place_without_room_is_one_of_the_user_s_own() {
        let kept = Kept::new();
        for key in 1..100_000 {
            kept.keep(key, Maker::Wrapper(Rule::from_bits(1).expect("not 0")));
        }
        assert_eq!(kept.find(100_001), Some(Maker::Own));
    }
}
