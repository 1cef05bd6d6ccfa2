//! The facts of the clocks of all ranks together: by how much measuring has delayed them.

use tinyprof_format::model::{ClockFacts, RankFacts};

/// The facts of the clocks of some ranks, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOverRanks {
    /// The number of ranks.
    pub ranks: u32,
    /// The messages and collective operations of which a companion was seen.
    pub companions: u64,
    /// By how much measuring has delayed the ranks by what each did itself, in ns.
    pub own_intrusion_ns: u128,
    /// By how much they were delayed in all, in ns.
    pub intrusion_ns: u128,
    /// The delay of the rank that was delayed most, in ns.
    pub intrusion_max_ns: u64,
    /// By how much the delays may be wrong, added up, in ns.
    pub uncertainty_ns: u128,
    /// The part of that that came through others, in ns.
    pub propagated_uncertainty_ns: u128,
    /// The greatest ideal time, in ns: that of the program on an ideal network.
    pub ideal_max_ns: u64,
    /// The greatest uncertainty of the offset of a clock to that of rank 0, in ns.
    pub offset_uncertainty_max_ns: u64,
    /// Messages without a companion.
    pub companions_missing: u64,
    /// Receives whose companion could not be told.
    pub companions_unclear: u64,
    /// Partners that came after the call had ended, by the clocks.
    pub contradictions: u64,
    /// Messages to any source that were delivered in another order than without measurement.
    pub inversions: u64,
}

impl ClockOverRanks {
    /// Returns the facts of these ranks; none if they have not followed messages.
    #[must_use]
    pub fn of_ranks(ranks: &[RankFacts]) -> Option<Self> {
        let mut all = Self::default();
        ranks.iter().for_each(|rank| all.add(&rank.clock));
        (all.companions > 0).then_some(all)
    }

    /// Adds a rank.
    pub fn add(&mut self, rank: &ClockFacts) {
        self.merge(&Self {
            ranks: 1,
            companions: rank.companions,
            own_intrusion_ns: rank.own_intrusion_ns.into(),
            intrusion_ns: rank.intrusion_ns.into(),
            intrusion_max_ns: rank.intrusion_ns,
            uncertainty_ns: rank.uncertainty_ns.into(),
            propagated_uncertainty_ns: rank.propagated_uncertainty_ns.into(),
            ideal_max_ns: rank.ideal_ns,
            offset_uncertainty_max_ns: rank.offset_uncertainty_ns,
            companions_missing: rank.companions_missing,
            companions_unclear: rank.companions_unclear,
            contradictions: rank.contradictions,
            inversions: rank.inversions,
        });
    }

    /// Adds other ranks. Associative and commutative, and the default is its neutral element.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.ranks = self.ranks.saturating_add(other.ranks);
        self.companions = self.companions.saturating_add(other.companions);
        self.own_intrusion_ns = self.own_intrusion_ns.saturating_add(other.own_intrusion_ns);
        self.intrusion_ns = self.intrusion_ns.saturating_add(other.intrusion_ns);
        self.intrusion_max_ns = self.intrusion_max_ns.max(other.intrusion_max_ns);
        self.uncertainty_ns = self.uncertainty_ns.saturating_add(other.uncertainty_ns);
        self.propagated_uncertainty_ns =
            self.propagated_uncertainty_ns.saturating_add(other.propagated_uncertainty_ns);
        self.ideal_max_ns = self.ideal_max_ns.max(other.ideal_max_ns);
        self.offset_uncertainty_max_ns =
            self.offset_uncertainty_max_ns.max(other.offset_uncertainty_max_ns);
        self.companions_missing = self.companions_missing.saturating_add(other.companions_missing);
        self.companions_unclear = self.companions_unclear.saturating_add(other.companions_unclear);
        self.contradictions = self.contradictions.saturating_add(other.contradictions);
        self.inversions = self.inversions.saturating_add(other.inversions);
    }

    /// Returns the ideal time of the run, in ns; none if it is not known.
    #[must_use]
    pub const fn ideal_ns(&self) -> Option<u64> {
        if self.companions > 0 && self.ideal_max_ns > 0 { Some(self.ideal_max_ns) } else { None }
    }

    /// Returns the delay that came through others, signed: waiting for a rank that is delayed as
    /// well hides a delay of one's own. In ns, all ranks together.
    #[must_use]
    pub fn propagated_ns(&self) -> i128 {
        let signed = |ns: u128| i128::try_from(ns).unwrap_or(i128::MAX);
        signed(self.intrusion_ns) - signed(self.own_intrusion_ns)
    }
}
