//! Hints that can be computed from statistics over ranks alone.

use crate::facts::numbers::{ratio, whole};
use crate::facts::overhead::{Overhead, VISIT_COST_NS};
use crate::facts::statistics::Statistics;
use crate::facts::statistics::hosts::Hosts;
use crate::facts::statistics::rank::RankStatistics;
use crate::facts::usage::Activity;
use crate::words::names::{cut, shown};
use crate::words::units::{counted, percent_cell, time};
use tinyprof_format::model::{CallpathIndex, CallpathTable};

use super::{
    EXPLAINED_PART, HINTS_MAX, Hint, HintKind, NAME_COLUMNS, REGION_SHARE_MIN, float, imbalanced,
    is_too_small,
};
use crate::facts::occupancy::Occupancy;

/// The statistics of a run, and the data for sentences about it.
pub(super) struct Ranks<'a> {
    pub(super) callpaths: &'a CallpathTable,
    pub(super) activities: Vec<Option<Activity>>,
    pub(super) statistics: &'a Statistics,
    pub(super) hosts: &'a Hosts,
    pub(super) overhead: Option<&'a Overhead>,
    pub(super) occupancy: Option<Occupancy>,
}

/// The facts of a run besides its statistics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) hosts: &'a Hosts,
    pub(crate) overhead: Option<&'a Overhead>,
    pub(crate) occupancy: Option<Occupancy>,
}

/// Returns the hints of a run from its statistics alone: at most [`HINTS_MAX`], the costliest
/// first.
pub(crate) fn hints_of_statistics(
    callpaths: &CallpathTable,
    statistics: &Statistics,
    facts: Facts<'_>,
) -> Vec<Hint> {
    let ranks = Ranks::new(callpaths, statistics, facts);
    let indices = callpaths.iter().map(|(index, _)| index);
    let found = indices.flat_map(|index| {
        let imbalance = if ranks.is_large(index) { ranks.imbalance(index) } else { None };
        ranks.too_small(index).into_iter().chain(imbalance)
    });
    costliest(found.chain(ranks.of_run(None)).collect())
}

/// Returns the costliest hint of each kind, the costliest first. A region and the regions around it
/// often show one and the same effect, so one hint represents them all.
pub(super) fn costliest(mut found: Vec<Hint>) -> Vec<Hint> {
    without_explained(&mut found);
    found.sort_by(|a, b| b.lost_ns.total_cmp(&a.lost_ns));
    let mut kinds = Vec::new();
    found.retain(|hint| {
        let is_new = !kinds.contains(&hint.kind);
        kinds.push(hint.kind);
        is_new
    });
    found.truncate(HINTS_MAX);
    found
}

/// Removes the hint about the distribution of work if a slow rank or an imbalanced region explains
/// it: that is where to look.
fn without_explained(found: &mut Vec<Hint>) {
    let explains = |hint: &Hint| matches!(hint.kind, HintKind::Straggler | HintKind::Imbalance);
    let explained_ns = found
        .iter()
        .filter(|hint| explains(hint))
        .fold(0.0_f64, |most, hint| most.max(hint.lost_ns));
    found.retain(|hint| {
        hint.kind != HintKind::LoadBalance || explained_ns < EXPLAINED_PART * hint.lost_ns
    });
}

impl<'a> Ranks<'a> {
    pub(crate) fn new(
        callpaths: &'a CallpathTable,
        statistics: &'a Statistics,
        Facts { hosts, overhead, occupancy }: Facts<'a>,
    ) -> Self {
        let activities = Activity::of_callpaths(callpaths);
        Self { callpaths, activities, statistics, hosts, overhead, occupancy }
    }

    /// Returns true if ranks wait for each other there: the rank that takes longest is then early,
    /// not slow.
    pub(super) fn is_communication(&self, index: CallpathIndex) -> bool {
        self.activities[index.row()] == Some(Activity::Communication)
    }

    /// Returns the total time of all ranks, in nanoseconds.
    pub(super) fn total_ns(&self) -> f64 {
        ratio(self.statistics.times().total_ns, 1)
    }

    /// Returns the number of ranks that have any time.
    pub(super) fn count(&self) -> u32 {
        self.statistics.times().ranks
    }

    /// Returns true if the callpath's exclusive time is large enough for a hint.
    pub(super) fn is_large(&self, index: CallpathIndex) -> bool {
        ratio(self.row(index).exclusive.sum_ns, 1) >= REGION_SHARE_MIN * self.total_ns()
    }

    pub(super) fn row(&self, index: CallpathIndex) -> RankStatistics {
        self.statistics.row(index.row())
    }

    pub(super) fn name(&self, index: CallpathIndex) -> String {
        cut(&shown(&self.callpaths.get(index).region.name), NAME_COLUMNS)
    }

    pub(super) fn imbalance(&self, index: CallpathIndex) -> Option<Hint> {
        if self.count() < 2 || self.is_communication(index) {
            return None;
        }
        let exclusive = &self.row(index).exclusive;
        let ranks = f64::from(self.count());
        let (max_ns, mean_ns) = (float(exclusive.max_ns), ratio(exclusive.sum_ns, 1) / ranks);
        let lost_ns = imbalanced(max_ns, mean_ns, self.total_ns() / ranks)?;
        let rank = exclusive.max_rank;
        let host = on_host(self.hosts.short_name(exclusive.max_host));
        Some(Hint {
            kind: HintKind::Imbalance,
            callpath: Some(index),
            rank: Some(rank),
            iteration: None,
            lost_ns,
            headline: format!(
                "{} is imbalanced: rank {rank}{host} takes longest",
                self.name(index)
            ),
            evidence: format!(
                "Its exclusive time is {} there and {} per rank {}; the others may wait {}.",
                time(whole(max_ns)),
                time(whole(mean_ns)),
                self.mean_words(index),
                time(whole(lost_ns)),
            ),
            advice: format!("Give rank {rank} less of it."),
        })
    }

    /// Returns the words for a mean over all ranks. The table's means are those of the ranks that
    /// visited a callpath, so ranks that did not are mentioned.
    fn mean_words(&self, index: CallpathIndex) -> String {
        match self.count().saturating_sub(self.row(index).ranks) {
            0 => "on average".to_owned(),
            never => format!("over all {} ranks, {never} of which never run it", self.count()),
        }
    }

    pub(super) fn too_small(&self, index: CallpathIndex) -> Option<Hint> {
        let RankStatistics { visits, inclusive, .. } = self.row(index);
        let sum_ns = ratio(inclusive.sum_ns, 1);
        let cost_ns = self.overhead.map_or_else(
            || float(visits) * VISIT_COST_NS,
            |cost| cost.of_visits_ns(visits, inclusive.is_estimate()),
        );
        let (mark, shown_ns) = inclusive.shown_ns(None);
        let at_most = if mark == "<" { "at most " } else { "" };
        is_too_small(visits, sum_ns, cost_ns, self.total_ns()).then(|| Hint {
            kind: HintKind::TooSmall,
            callpath: Some(index),
            rank: None,
            iteration: None,
            lost_ns: cost_ns / f64::from(self.count().max(1)),
            headline: format!("{} is too small to be measured", self.name(index)),
            evidence: format!(
                "Its {} took {at_most}{} each; measuring them took at least {} of the run.",
                counted(visits, "visit"),
                time(whole(ratio(shown_ns, visits.into()))),
                percent_cell(cost_ns / self.total_ns()),
            ),
            advice: "Measure a region around it instead, or exclude it with TINYPROF_FILTER."
                .to_owned(),
        })
    }
}

/// Returns ` on HOST` for a sentence; empty if the host is unknown, or the only one.
pub(super) fn on_host(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(" on {}", cut(&shown(name), NAME_COLUMNS)))
}
