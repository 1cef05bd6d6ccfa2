//! The time that all shares are parts of: one base for reports, tables, hints, exports and the
//! page.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, CallpathTable};

use crate::facts::numbers::ratio;
use crate::facts::statistics::Statistics;
use crate::facts::usage::Activity;

/// The time of all ranks that shares refer to: that of the root regions without start-up.
///
/// Start-up is the time of regions with the tag `INIT`, such as `MPI_Init`. It depends on the
/// machine and not on the work: with it, the same program would communicate more in a short run
/// than in a long one. It has no share, and is shown as a time of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeBase {
    ns: u128,
    startup_ns: u128,
    /// The part of the time of callpaths that is start-up, in themselves and in those below them,
    /// by row: few have any.
    inclusive_ns: BTreeMap<usize, u128>,
    /// The same without those below.
    exclusive_ns: BTreeMap<usize, u128>,
}

impl TimeBase {
    /// Returns the base of a run from its statistics, row by row of `callpaths`.
    ///
    /// # Cost
    /// Linear in the number of callpaths.
    #[must_use]
    pub fn of_statistics(callpaths: &CallpathTable, statistics: &Statistics) -> Self {
        let roots = callpaths.iter().filter(|(_, callpath)| callpath.parent.is_none());
        let roots_ns = roots.fold(0_u128, |sum, (index, _)| {
            sum.saturating_add(statistics.row(index.row()).inclusive.sum_ns)
        });
        let activities = Activity::of_callpaths(callpaths);
        if !activities.contains(&Some(Activity::Setup)) {
            return Self { ns: roots_ns, ..Self::default() };
        }
        let own_ns = |(row, activity): (usize, &Option<Activity>)| match activity {
            Some(Activity::Setup) => statistics.row(row).exclusive.sum_ns,
            _ => 0,
        };
        let exclusive_ns: Vec<u128> = activities.iter().enumerate().map(own_ns).collect();
        let startup_ns = exclusive_ns.iter().fold(0_u128, |sum, ns| sum.saturating_add(*ns));
        let mut inclusive_ns = exclusive_ns.clone();
        for (row, callpath) in callpaths.rows().iter().enumerate().rev() {
            let Some(parent) = callpath.parent else { continue };
            inclusive_ns[parent.row()] =
                inclusive_ns[parent.row()].saturating_add(inclusive_ns[row]);
        }
        Self {
            ns: roots_ns.saturating_sub(startup_ns),
            startup_ns,
            inclusive_ns: sparse(inclusive_ns),
            exclusive_ns: sparse(exclusive_ns),
        }
    }

    /// Returns the base for a table of which each row is the sum over some callpaths: `rows[n]` is
    /// that of callpath `n`.
    #[must_use]
    pub fn by(self, rows: &[CallpathIndex]) -> Self {
        let mut sums: BTreeMap<usize, u128> = BTreeMap::new();
        for (row, own_ns) in &self.exclusive_ns {
            let sum_ns = sums.entry(rows[*row].row()).or_default();
            *sum_ns = sum_ns.saturating_add(*own_ns);
        }
        Self { inclusive_ns: sums.clone(), exclusive_ns: sums, ..self }
    }

    /// Returns the base without the callpaths.
    pub(crate) fn without_callpaths(self) -> Self {
        Self { inclusive_ns: BTreeMap::new(), exclusive_ns: BTreeMap::new(), ..self }
    }

    /// Returns the base, in ns, all ranks together.
    #[must_use]
    pub const fn ns(&self) -> u128 {
        self.ns
    }

    /// Returns the time of start-up, in ns, all ranks together.
    #[must_use]
    pub const fn startup_ns(&self) -> u128 {
        self.startup_ns
    }

    /// Returns the share of a time that has no start-up in it; 0 if nothing was measured.
    #[must_use]
    pub fn share(&self, ns: u128) -> f64 {
        ratio(ns, self.ns)
    }

    /// Returns the share of the inclusive time of a callpath.
    #[must_use]
    pub fn inclusive_share(&self, callpath: CallpathIndex, ns: u128) -> f64 {
        self.share(ns.saturating_sub(self.startup_in(callpath)))
    }

    /// Returns the share of the exclusive time of a callpath.
    #[must_use]
    pub fn exclusive_share(&self, callpath: CallpathIndex, ns: u128) -> f64 {
        self.share(ns.saturating_sub(self.startup_itself(callpath)))
    }

    /// Returns the start-up in a callpath and in those below it, in ns.
    #[must_use]
    pub fn startup_in(&self, callpath: CallpathIndex) -> u128 {
        self.inclusive_ns.get(&callpath.row()).copied().unwrap_or(0)
    }

    /// Returns the start-up in a callpath itself, in ns.
    #[must_use]
    pub fn startup_itself(&self, callpath: CallpathIndex) -> u128 {
        self.exclusive_ns.get(&callpath.row()).copied().unwrap_or(0)
    }
}

fn sparse(rows: Vec<u128>) -> BTreeMap<usize, u128> {
    rows.into_iter().enumerate().filter(|(_, ns)| *ns > 0).collect()
}
