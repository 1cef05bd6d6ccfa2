//! The ways that are worth a comparison, of all that an operation may take.
//!
//! To compare a call with all ways takes longer than a short call itself. So a rank does it for the
//! first operations of a kind and a size, and then now and again. In between it compares only those
//! ways against which little speaks, as long as that is enough to be sure that no other one has
//! become likely.

use super::{CANDIDATES, Hints, Place, Seen};

/// The first operations are compared with all ways.
const FIRST: u8 = 16;
/// Of later ones, one in this many is.
const PERIOD: u8 = 16;
/// Twice what speaks against the best way, and so much more, in ns, speaks against one that is not
/// near. That leaves room for what the next calls say against the best one.
const NEAR_NS: u64 = 10_000;

/// Some of the ways of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// One bit each.
    bits: u8,
    /// The others are asked what they have seen.
    is_look: bool,
}

const _: () = assert!(CANDIDATES <= u8::BITS as usize);

impl Near {
    /// The way of two ranks.
    pub(super) const ONE: Self = Self { bits: 1, is_look: false };

    /// Returns all ways of an operation, to look at them anew.
    #[must_use]
    #[inline]
    pub fn all(place: Place) -> Self {
        if place.has_one_way() {
            return Self::ONE;
        }
        Self { bits: u8::MAX >> (u8::BITS as usize - place.candidates()), is_look: true }
    }

    /// Returns whether the entry of another rank has to be known, along these ways or by the
    /// definition of the operation.
    #[must_use]
    #[inline]
    pub fn needs(self, place: Place, other: u32) -> bool {
        self.is_look
            || place.kind.waits_for(place.rank, other, place.root)
            || self.numbers().any(|at| place.hops(at, other) > 0)
    }

    /// Returns whether the other ranks are asked what they have seen.
    #[inline]
    pub(crate) const fn is_look(self) -> bool {
        self.is_look
    }

    /// Returns how many ways these are.
    #[inline]
    pub(crate) const fn count(self) -> usize {
        self.bits.count_ones() as usize
    }

    /// Returns the numbers of the ways, in ascending order.
    #[inline]
    pub(crate) fn numbers(self) -> impl Iterator<Item = usize> {
        let mut bits = self.bits;
        std::iter::from_fn(move || {
            let at = (bits != 0).then(|| bits.trailing_zeros() as usize);
            bits &= bits.wrapping_sub(1);
            at
        })
    }
}

/// The words of other ranks about a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hinted {
    /// The time that it does not explain, in ns.
    pub(crate) unlike_ns: u64,
    /// The shortest time of a message, in ns; 0 if nobody has seen one.
    pub(crate) hop_ns: u64,
}

/// The result of the last look at all ways of operations of a kind and a size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outlook {
    /// The number of ranks of these operations: those of others may take other ways.
    ranks: u32,
    /// The looks up to now, if they are few.
    looks: u8,
    /// The operations until the next one.
    left: u8,
    near: u8,
    /// What speaks against the best of those that are not near, in ns.
    others_ns: u64,
    hinted: [Hinted; CANDIDATES],
    hints: Hints,
}

impl Outlook {
    #[inline]
    pub(super) fn near(&self, place: Place) -> Near {
        if self.is_for(place) { Near { bits: self.near, is_look: false } } else { Near::all(place) }
    }

    /// Returns what the rank has seen, if it does not look at all ways now.
    #[inline]
    pub(super) fn hints(&self, place: Place) -> Option<Hints> {
        self.is_for(place).then_some(self.hints)
    }

    /// Returns whether the next operation is compared with those that are near alone.
    #[inline]
    fn is_for(&self, place: Place) -> bool {
        self.left > 0 && self.ranks == place.ranks
    }

    #[inline]
    pub(super) fn hinted(&self, place: Place, at: usize) -> Hinted {
        if place.has_one_way() { Hinted::default() } else { self.hinted[at] }
    }

    #[inline]
    pub(super) const fn others_ns(&self) -> u64 {
        self.others_ns
    }

    #[inline]
    pub(super) fn compared(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    pub(super) fn looked(
        &mut self,
        place: Place,
        seen: &[Seen; CANDIDATES],
        hinted: &[Hinted; CANDIDATES],
        hints: Hints,
    ) {
        let unlike_ns = |at: usize| seen[at].unlike_ns.saturating_add(hinted[at].unlike_ns);
        let all = || (0..place.candidates()).map(|at| (at, unlike_ns(at)));
        let best_ns = all().map(|(_, ns)| ns).min().unwrap_or(0);
        let most_ns = best_ns.saturating_mul(2).saturating_add(NEAR_NS);
        let is_near = |ns: u64| ns <= most_ns;
        let looks = if self.ranks == place.ranks { (self.looks + 1).min(FIRST) } else { 1 };
        *self = Self {
            ranks: place.ranks,
            looks,
            left: if looks < FIRST { 0 } else { PERIOD - 1 },
            near: all().filter(|(_, ns)| is_near(*ns)).fold(0, |bits, (at, _)| bits | 1 << at),
            others_ns: all().map(|(_, ns)| ns).filter(|ns| !is_near(*ns)).min().unwrap_or(u64::MAX),
            hinted: *hinted,
            hints,
        };
    }
}
