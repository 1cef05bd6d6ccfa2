//! Waiting by cause: which activity of which rank others waited for.

pub(crate) mod backtrack;
pub(crate) mod costs;
mod elsewhere;
mod lookups;
pub(crate) mod path;

use std::collections::BTreeMap;

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;

use crate::facts::activities::Doing;

/// An activity of a rank.
pub(crate) type Cause = (u32, Doing);

/// Where ranks wait, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) callpath: Option<CallpathIndex>,
    pub(crate) pattern: Pattern,
    /// True if the rank waited for the cause itself, false if for others that waited for it.
    pub(crate) is_direct: bool,
}

/// The waiting of some ranks at one place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Share {
    pub(crate) ns: f64,
    pub(crate) ranks: RankSet,
}

/// The waiting because of one cause, by place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blamed {
    pub(crate) at: BTreeMap<At, Share>,
}

impl Blamed {
    pub(crate) fn ns(&self) -> f64 {
        self.at.values().map(|share| share.ns).sum()
    }

    pub(crate) fn add(&mut self, at: At, rank: u32, ns: f64) {
        if ns > 0.0 {
            let share = self.at.entry(at).or_default();
            share.ns += ns;
            share.ranks.insert(rank);
        }
    }

    pub(crate) fn absorb(&mut self, other: &Self) {
        for (at, theirs) in &other.at {
            let share = self.at.entry(*at).or_default();
            share.ns += theirs.ns;
            share.ranks.absorb(&theirs.ranks);
        }
    }

    /// Takes waiting out that is told elsewhere.
    pub(crate) fn remove(&mut self, other: &Self) {
        for (at, theirs) in &other.at {
            if let Some(share) = self.at.get_mut(at) {
                share.ns = (share.ns - theirs.ns).max(0.0);
            }
        }
        self.at.retain(|_, share| share.ns > 0.0);
    }

    /// Returns the ranks that wait, without those whose part is too small to be named.
    pub(crate) fn ranks(&self) -> RankSet {
        let least_ns = self.ns() / 50.0;
        let mut ranks = RankSet::default();
        for share in self.at.values().filter(|share| share.ns >= least_ns) {
            ranks.absorb(&share.ranks);
        }
        ranks
    }

    /// Returns the waiting by callpath, the longest first; of these the direct one and its pattern
    /// alone, if there is any.
    pub(crate) fn longest(&self) -> Option<(At, &Share)> {
        let of = |is_direct: bool| {
            let all = self.at.iter().filter(|(at, _)| at.is_direct == is_direct);
            all.max_by(|a, b| a.1.ns.total_cmp(&b.1.ns)).map(|(at, share)| (*at, share))
        };
        of(true).or_else(|| of(false))
    }
}

/// All waiting of a run by cause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blame {
    pub(crate) causes: BTreeMap<Cause, Blamed>,
    /// The waiting that no activity explains.
    pub(crate) unexplained: Blamed,
    /// Of that, the waiting for ranks that were in another call in which ranks may wait, by that
    /// call: they have lost their processor there, or data travelled.
    pub(crate) behind_calls: BTreeMap<CallpathIndex, Blamed>,
    /// The waiting for ranks that had no processor, and that for each of these ranks.
    pub(crate) no_processor: Blamed,
    pub(crate) without_processor: BTreeMap<u32, Blamed>,
    /// Of the causes, the waiting for ranks of other hosts of which sums over the run tell why, in
    /// ns, and all such waiting.
    pub(crate) estimated: BTreeMap<Cause, f64>,
    pub(crate) estimated_ns: f64,
    /// True if the causes were found while the program ran, and not from sums over the run.
    pub(crate) is_measured: bool,
}
