//! The hints of a whole profile: what is looked at, and the sentences.

use crate::model::{CallpathIndex, Profile};
use crate::report::efficiency::{Activity, exclusive_ns};
use crate::report::iterations::Iterations;
use crate::report::names::{cut, shown};
use crate::report::units::{counted, percent_cell, time};

use super::{
    Growth, SlowFirst, Straggler, float, float_of, growing, imbalanced, slow_first, straggler, too_small,
};

/// So many hints are given: what comes after them is rarely worth a look before these are mended.
pub const HINTS_MAX: usize = 3;

/// Regions below this part of the total time are not looked at.
const REGION_SHARE_MIN: f64 = 0.01;
/// Longer series are looked at in so many points.
const POINTS_MAX: usize = 256;
/// Names in sentences are cut to so many columns.
const NAME_COLUMNS: usize = 40;

/// What kind of thing stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    /// A rank is slow in most regions.
    Straggler,
    /// A region is imbalanced by rank.
    Imbalance,
    /// A region takes more and more time.
    Growth,
    /// The first iteration takes much longer than the others.
    SlowFirst,
    /// A region is too small for its own measurement.
    TooSmall,
}

/// One thing that stands out, in plain words. Names in them are escaped as for a terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// Of what kind.
    pub kind: HintKind,
    /// The callpath, if it is about one.
    pub callpath: Option<CallpathIndex>,
    /// The rank, if it is about one.
    pub rank: Option<u32>,
    /// The first iteration that it is about, 0-based, if it is about some.
    pub iteration: Option<u64>,
    /// What it costs, in nanoseconds of one rank's time: hints are in this order.
    pub lost_ns: f64,
    /// What stands out.
    pub headline: String,
    /// The numbers that show it.
    pub evidence: String,
}

/// At most [`HINTS_MAX`] hints, the costliest first. Empty where nothing stands out.
///
/// # Cost
/// Linear in the number of values, and a sort of each region's ranks.
#[must_use]
pub fn hints(profile: &Profile) -> Vec<Hint> {
    let run = Run::of_profile(profile);
    let mut found: Vec<Hint> = run.straggler().into_iter().collect();
    let of_straggler = found.first().and_then(|hint| hint.rank);
    for (index, _) in profile.callpaths.iter() {
        found.extend(run.too_small(index));
        if run.total_exclusive_ns(index) < REGION_SHARE_MIN * run.total_ns {
            continue;
        }
        // What a slow rank does to each region is told once.
        found.extend(run.imbalance(index).filter(|hint| of_straggler.is_none() || hint.rank != of_straggler));
        if let Some(iterations) = Iterations::of_callpath(profile, index, POINTS_MAX) {
            found.extend(run.over_time(index, &iterations));
        }
    }
    found.sort_by(|a, b| b.lost_ns.total_cmp(&a.lost_ns));
    // A region and the regions around it may tell of one and the same thing: the costliest of a kind speaks for all.
    let mut kinds = Vec::new();
    found.retain(|hint| {
        let is_new = !kinds.contains(&hint.kind);
        kinds.push(hint.kind);
        is_new
    });
    found.truncate(HINTS_MAX);
    found
}

/// What the functions need of a profile.
struct Run<'a> {
    profile: &'a Profile,
    activities: Vec<Option<Activity>>,
    /// Row by row, then by rank.
    exclusive_ns: Vec<Vec<u64>>,
    /// The total time of all ranks.
    total_ns: f64,
    /// The ranks that have any time.
    ranks: Vec<usize>,
}

impl<'a> Run<'a> {
    fn of_profile(profile: &'a Profile) -> Self {
        let mut by_row = vec![Vec::with_capacity(profile.ranks.len()); profile.callpaths.len()];
        let (mut ranks, mut total_ns) = (Vec::new(), 0.0);
        for rank in 0..profile.ranks.len() {
            for (row, ns) in by_row.iter_mut().zip(exclusive_ns(profile, rank)) {
                row.push(ns);
            }
            let roots = profile.callpaths.iter().filter(|(_, callpath)| callpath.parent.is_none());
            let time: f64 = roots.map(|(index, _)| float(profile.values(index, rank).inclusive_ns())).sum();
            if time > 0.0 {
                ranks.push(rank);
                total_ns += time;
            }
        }
        let activities = Activity::of_callpaths(&profile.callpaths);
        Self { profile, activities, exclusive_ns: by_row, total_ns, ranks }
    }

    fn name(&self, index: CallpathIndex) -> String {
        cut(&shown(&self.profile.callpaths.get(index).region.name), NAME_COLUMNS)
    }

    fn total_exclusive_ns(&self, index: CallpathIndex) -> f64 {
        self.exclusive_ns[index.row()].iter().map(|&ns| float(ns)).sum()
    }

    /// The total time of the mean rank.
    fn mean_ns(&self) -> f64 {
        self.total_ns / float_of(self.ranks.len().max(1))
    }

    fn host(&self, rank: u32) -> String {
        let host = self.profile.ranks.get(rank as usize).map_or("", |facts| facts.host.as_str());
        if host.is_empty() { String::new() } else { format!(" on {}", cut(&shown(host), NAME_COLUMNS)) }
    }

    fn straggler(&self) -> Option<Hint> {
        let everywhere = |index: CallpathIndex| {
            let values = &self.profile.values[index.row()];
            self.ranks.iter().all(|&rank| !values[rank].is_absent())
        };
        let looked_at = |index: &CallpathIndex| {
            self.activities[index.row()] != Some(Activity::Communication)
                && self.total_exclusive_ns(*index) >= REGION_SHARE_MIN * self.total_ns
                && everywhere(*index)
        };
        let indices = self.profile.callpaths.iter().map(|(index, _)| index);
        let of_ranks = |index: CallpathIndex| -> Vec<u64> {
            self.ranks.iter().map(|&rank| self.exclusive_ns[index.row()][rank]).collect()
        };
        let regions: Vec<Vec<u64>> = indices.filter(looked_at).map(of_ranks).collect();
        let Straggler { rank, slow_regions, regions, slower_by, lost_ns } = straggler(&regions)?;
        let rank = u32::try_from(self.ranks[rank as usize]).ok()?;
        Some(Hint {
            kind: HintKind::Straggler,
            callpath: None,
            rank: Some(rank),
            iteration: None,
            lost_ns,
            headline: format!("Rank {rank}{} is slow everywhere", self.host(rank)),
            evidence: format!(
                "It takes {} more time than the median rank, and is slower in {slow_regions} of {}: {} in all.",
                percent_cell(slower_by),
                counted(regions as u64, "region"),
                time(whole(lost_ns)),
            ),
        })
    }

    fn imbalance(&self, index: CallpathIndex) -> Option<Hint> {
        if self.ranks.len() < 2 {
            return None;
        }
        let times_ns = &self.exclusive_ns[index.row()];
        let slowest =
            self.ranks.iter().copied().max_by_key(|&rank| (times_ns[rank], std::cmp::Reverse(rank)))?;
        let (max_ns, mean_ns) =
            (float(times_ns[slowest]), self.total_exclusive_ns(index) / float_of(self.ranks.len()));
        let lost_ns = imbalanced(max_ns, mean_ns, self.mean_ns())?;
        let rank = u32::try_from(slowest).ok()?;
        Some(Hint {
            kind: HintKind::Imbalance,
            callpath: Some(index),
            rank: Some(rank),
            iteration: None,
            lost_ns,
            headline: format!(
                "{} is imbalanced: rank {rank}{} takes longest",
                self.name(index),
                self.host(rank)
            ),
            evidence: format!(
                "Without what it calls it takes {} there and {} on the mean rank; the others may wait {}.",
                time(whole(max_ns)),
                time(whole(mean_ns)),
                time(whole(lost_ns)),
            ),
        })
    }

    fn over_time(&self, index: CallpathIndex, iterations: &Iterations) -> Vec<Hint> {
        let means: Vec<f64> = iterations.points.iter().map(|point| point.mean_ns).collect();
        let visits = float(iterations.visits_per_point);
        let mut found = Vec::new();
        if let Some(Growth { early_ns, late_ns, since, lost_ns }) = growing(&means) {
            let since = since as u64 * iterations.visits_per_point;
            found.push(Hint {
                kind: HintKind::Growth,
                callpath: Some(index),
                rank: None,
                iteration: Some(since),
                lost_ns: lost_ns * visits,
                headline: format!("{} takes longer since iteration {since}", self.name(index)),
                evidence: format!(
                    "A visit takes {} in the first quarter and {} in the last, {} more; that cost {} a rank.",
                    time(whole(early_ns)),
                    time(whole(late_ns)),
                    percent_cell(late_ns / early_ns - 1.0),
                    time(whole(lost_ns * visits)),
                ),
            });
        }
        if let Some(SlowFirst { first_ns, median_ns }) = slow_first(&means) {
            let which = match iterations.visits_per_point {
                1 => "The first iteration".to_owned(),
                many => format!("The first {many} iterations"),
            };
            found.push(Hint {
                kind: HintKind::SlowFirst,
                callpath: Some(index),
                rank: None,
                iteration: Some(0),
                lost_ns: (first_ns - median_ns) * visits,
                headline: format!("{which} of {} took much longer", self.name(index)),
                evidence: format!(
                    "A visit took {}, where the median of the others is {}: {:.1} times as much.",
                    time(whole(first_ns)),
                    time(whole(median_ns)),
                    first_ns / median_ns,
                ),
            });
        }
        found
    }

    fn too_small(&self, index: CallpathIndex) -> Option<Hint> {
        let values = &self.profile.values[index.row()];
        let visits = values.iter().fold(0_u64, |sum, v| sum.saturating_add(v.visits()));
        let sum_ns: f64 = values.iter().map(|v| float(v.inclusive_ns())).sum();
        let cost_ns = too_small(visits, sum_ns, self.total_ns)?;
        Some(Hint {
            kind: HintKind::TooSmall,
            callpath: Some(index),
            rank: None,
            iteration: None,
            lost_ns: cost_ns / float_of(self.ranks.len().max(1)),
            headline: format!("{} is too small to be measured", self.name(index)),
            evidence: format!(
                "Its {} took {} each; measuring them took some {} of the run.",
                counted(visits, "visit"),
                time(whole(sum_ns / float(visits))),
                percent_cell(cost_ns / self.total_ns),
            ),
        })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times are not negative")]
fn whole(ns: f64) -> u128 {
    ns.round() as u128
}
