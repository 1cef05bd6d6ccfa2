//! The ways along which the ranks of a collective operation may pass data on.
//!
//! An MPI chooses them by the operation, the size and the machine, and tells nobody. Each rank
//! compares what it sees with what each way would mean: nobody leaves before all have entered that
//! it depends on, and who has waited leaves when the last of them is heard of.

use crate::waiting::Collective;

mod hints;
mod near;

pub use hints::Hints;
pub(crate) use near::Hinted;
pub use near::Near;
use near::Outlook;

/// The most ways that an operation may take.
pub(crate) const CANDIDATES: usize = 7;

/// A way along which data may be passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Between the root and each other rank; from each rank to each where there is no root.
    Direct,
    /// The parent of a place is the place without its lowest bit.
    LowBinomial,
    /// The parent of a place is the place without its highest bit.
    HighBinomial,
    /// As [`LowBinomial`](Self::LowBinomial), with digits of two bits.
    Quadnomial,
    /// The children of a place are at its double.
    Binary,
    /// Each place gets the data from the one before it, or passes it on there.
    Chain,
    /// All ranks wait for all, as where parts of the data go around.
    Everyone,
    /// In rounds of doubled distance, around the ranks.
    Doubling,
    /// In rounds of exchanges between ranks whose numbers differ in one bit.
    Exchanges,
}

/// The ranks of a collective operation, as one of them sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The kind, by who waits for whom.
    pub kind: Collective,
    /// The rank, 0-based in the communicator.
    pub rank: u32,
    /// The number of ranks.
    pub ranks: u32,
    /// The root, if there is one.
    pub root: u32,
    /// The bytes that the rank has for each other one, or gets of it.
    pub bytes: u64,
}

impl Place {
    /// Returns the ways that an operation of this kind may take, the likeliest first.
    fn ways(self) -> &'static [Way] {
        use Way::{
            Binary, Chain, Direct, Doubling, Everyone, Exchanges, HighBinomial, LowBinomial,
            Quadnomial,
        };
        match self.kind {
            _ if self.has_one_way() => &[Direct],
            Collective::FromRoot | Collective::ToRoot => {
                &[LowBinomial, Direct, HighBinomial, Quadnomial, Binary, Chain, Everyone]
            }
            Collective::Scan => &[Direct, Doubling, Chain],
            Collective::Barrier | Collective::AllToAll => &[Direct, Doubling, Exchanges, Chain],
        }
    }

    /// Returns how many messages after each other tell this rank of the entry of `other` along the
    /// way with this number; 0 if none does. A rank may have to wait for what its own entry has
    /// caused.
    #[inline]
    pub(crate) fn hops(self, at: usize, other: u32) -> u32 {
        self.ways().get(at).map_or(0, |way| self.along(*way, other))
    }

    /// Returns the class of the size: up to 256 bytes, 1 KiB, 4 KiB, 16 KiB, 64 KiB, and more.
    fn size(self) -> usize {
        let log = self.bytes.saturating_sub(1).checked_ilog2().unwrap_or(0) as usize;
        (log.saturating_sub(6) / 2).min(SIZES - 1)
    }

    /// Returns whether all ways are one, as all trees of two ranks are.
    #[must_use]
    #[inline]
    pub const fn has_one_way(self) -> bool {
        self.ranks <= 2
    }

    /// Returns the number of ways.
    pub(crate) fn candidates(self) -> usize {
        self.ways().len()
    }

    #[inline]
    fn along(self, way: Way, other: u32) -> u32 {
        let Self { kind, rank, ranks, root, .. } = self;
        let around = |from: u32, to: u32| if to >= from { to - from } else { to + ranks - from };
        match kind {
            Collective::FromRoot => way.down(around(root, other), around(root, rank)),
            Collective::ToRoot => way.down(around(root, rank), around(root, other)),
            Collective::Scan if other >= rank => 0,
            Collective::Scan => match way {
                Way::Doubling => (rank - other).count_ones(),
                Way::Chain => rank - other,
                _ => 1,
            },
            Collective::Barrier | Collective::AllToAll => match way {
                Way::Doubling => {
                    // Of several ways around, the longest.
                    let once = around(other, rank);
                    let twice = once + ranks;
                    let is_reached = twice < ranks.next_power_of_two();
                    once.count_ones().max(if is_reached { twice.count_ones() } else { 0 })
                }
                Way::Exchanges => (rank ^ other).count_ones(),
                Way::Chain => around(other, rank),
                _ => 1,
            },
        }
    }
}

impl Way {
    /// Returns how many messages lead from a place of a tree to another one below it, 0 if that is
    /// not below. The root is at 0.
    #[inline]
    fn down(self, from: u32, to: u32) -> u32 {
        let differ = from ^ to;
        match self {
            _ if from == to => 0,
            Self::Everyone => 1,
            Self::Chain => to.saturating_sub(from),
            // All bits of the lower place that are not those of the upper one are lower.
            Self::LowBinomial if from == 0 || differ < 1 << from.trailing_zeros() => {
                differ.count_ones()
            }
            Self::Quadnomial if from == 0 || differ < 1 << (from.trailing_zeros() & !1) => {
                ((differ | differ >> 1) & 0x5555_5555).count_ones()
            }
            // They are higher.
            Self::HighBinomial if from == 0 || to % (1 << (from.ilog2() + 1)) == from => {
                differ.count_ones()
            }
            Self::Binary => {
                let (from, to) = (from + 1, to + 1);
                let levels = to.ilog2().saturating_sub(from.ilog2());
                if to >> levels == from { levels } else { 0 }
            }
            _ => u32::from(self == Self::Direct && from == 0),
        }
    }
}

/// The classes of sizes: an MPI may choose other ways for larger messages.
const SIZES: usize = 6;

/// The experience of a rank with the ways of its collective operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ways {
    seen: [[[Seen; CANDIDATES]; SIZES + 1]; Collective::ALL.len()],
    outlooks: [[Outlook; SIZES]; Collective::ALL.len()],
}

/// The experience of a rank with a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The shortest time of a message, in ns, and 1 more; 0 if none was seen.
    nearest_ns: u64,
    /// The time by which calls took longer than this way would, in ns; older ones count less.
    pub(crate) unlike_ns: u64,
}

/// The divisor by which an operation shortens what was unlike.
const FORGOTTEN: u64 = 8;
/// The divisor by which what was seen at all sizes counts less.
const OTHERS: u64 = 8;

impl Seen {
    /// Returns the time of a message, 0 if unknown.
    pub(crate) const fn hop_ns(self) -> u64 {
        self.nearest_ns.saturating_sub(1)
    }

    /// Notes that a message takes at most so long.
    pub(crate) fn took(&mut self, ns: u64) {
        if ns < self.nearest_ns.wrapping_sub(1) {
            self.nearest_ns = ns.saturating_add(1);
        }
    }

    /// Notes that an operation was unlike this way by so much.
    pub(crate) fn was_unlike(&mut self, ns: u64) {
        self.unlike_ns = (self.unlike_ns - self.unlike_ns / FORGOTTEN).saturating_add(ns);
    }
}

impl Ways {
    /// Returns what the rank tells the others that take part in an operation; between two looks at
    /// all ways, what it had seen at the former one.
    #[must_use]
    #[inline]
    pub fn hints(&self, place: Place) -> Hints {
        if place.has_one_way() {
            return Hints::default();
        }
        let of_last = self.outlook(place).hints(place);
        of_last.unwrap_or_else(|| self.hints_now(place))
    }

    fn hints_now(&self, place: Place) -> Hints {
        let seen: [Seen; CANDIDATES] = std::array::from_fn(|at| self.of(place, at));
        Hints::of(&seen[..place.candidates()])
    }

    /// Returns the ways that the next operation at this place is compared with.
    #[must_use]
    #[inline]
    pub fn near(&self, place: Place) -> Near {
        if place.has_one_way() { Near::ONE } else { self.outlook(place).near(place) }
    }

    /// Returns what the other ranks have said of a way at the last look at all ways.
    #[inline]
    pub(crate) fn hinted(&self, place: Place, at: usize) -> Hinted {
        self.outlook(place).hinted(place, at)
    }

    /// Returns what speaks against the best of the ways that are not near, in ns.
    #[inline]
    pub(crate) fn others_ns(&self, place: Place) -> u64 {
        if place.has_one_way() { u64::MAX } else { self.outlook(place).others_ns() }
    }

    /// Notes that an operation was compared with the ways that are near.
    #[inline]
    pub(crate) fn compared(&mut self, place: Place) {
        if !place.has_one_way() {
            self.outlook_mut(place).compared();
        }
    }

    /// Notes what other ranks have said of the ways, after a look at all of them.
    pub(crate) fn looked(&mut self, place: Place, hinted: &[Hinted; CANDIDATES]) {
        let seen = std::array::from_fn(|at| self.of(place, at));
        let hints = Hints::of(&seen[..place.candidates()]);
        self.outlook_mut(place).looked(place, &seen, hinted, hints);
    }

    #[inline]
    fn outlook(&self, place: Place) -> &Outlook {
        &self.outlooks[place.kind as usize][place.size()]
    }

    #[inline]
    fn outlook_mut(&mut self, place: Place) -> &mut Outlook {
        &mut self.outlooks[place.kind as usize][place.size()]
    }

    /// Returns what was seen of a way in such operations: of this size, and a little of others.
    #[inline]
    pub(crate) fn of(&self, place: Place, at: usize) -> Seen {
        let sizes = &self.seen[place.kind as usize];
        let (own, all) = (sizes[place.size()][at], sizes[SIZES][at]);
        Seen {
            nearest_ns: if own.nearest_ns == 0 { all.nearest_ns } else { own.nearest_ns },
            unlike_ns: own.unlike_ns.saturating_add(all.unlike_ns / OTHERS),
        }
    }

    /// Notes what an operation has told of a way. Two ranks have nothing to tell them apart.
    #[inline]
    pub(crate) fn note(&mut self, place: Place, at: usize, told: Told) {
        let sizes = &mut self.seen[place.kind as usize];
        for size in [place.size(), SIZES] {
            let seen = &mut sizes[size][at];
            if told.has_waited || seen.nearest_ns > 0 {
                seen.took(told.took_ns);
            }
            if !place.has_one_way() {
                seen.was_unlike(told.unlike_ns);
            }
        }
    }
}

/// The news of a way that an operation has brought.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    /// A message takes at most so long; `u64::MAX` if unknown.
    pub(crate) took_ns: u64,
    /// The rank has waited for one that entered later than itself, so that it was no longer.
    pub(crate) has_waited: bool,
    /// The operation took longer than this way would, by so much.
    pub(crate) unlike_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the hops from each place of a tree down to each other one, by its parents.
    fn check(way: Way, parent: fn(u32) -> u32) {
        const RANKS: u32 = 70;
        for to in 0..RANKS {
            let mut hops = vec![0; RANKS as usize];
            let (mut at, mut count) = (to, 0);
            while at > 0 {
                (at, count) = (parent(at), count + 1);
                hops[at as usize] = count;
            }
            let found: Vec<u32> = (0..RANKS).map(|from| way.down(from, to)).collect();
            assert_eq!(found, hops, "{way:?} to {to}");
        }
    }

    #[test]
    fn trees_have_the_hops_of_their_parents() {
        check(Way::Direct, |_| 0);
        check(Way::LowBinomial, |place| place & (place - 1));
        check(Way::HighBinomial, |place| place - (1 << place.ilog2()));
        check(Way::Quadnomial, |place| place & !(3 << (place.trailing_zeros() & !1)));
        check(Way::Binary, |place| (place - 1) / 2);
        check(Way::Chain, |place| place - 1);
    }

    #[test]
    fn those_waited_for_by_definition_are_on_every_way() {
        for kind in Collective::ALL {
            for (rank, root) in (0..7).flat_map(|rank| (0..7).map(move |root| (rank, root))) {
                let place = Place { kind, rank, ranks: 7, root, bytes: 8 };
                for other in (0..7).filter(|other| kind.waits_for(rank, *other, root)) {
                    let is_heard_of = |at| place.hops(at, other) > 0;
                    assert!((0..place.candidates()).all(is_heard_of), "{place:?}");
                }
            }
        }
    }
}
