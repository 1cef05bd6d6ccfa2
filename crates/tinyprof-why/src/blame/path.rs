//! The critical path: the activities of ranks that the time of the run follows from.

use std::collections::{BTreeMap, HashMap};

use tinyprof_format::model::{CallpathId, CallpathIndex, Cause, RankCauses};

use super::costs::{doing, is_first};
use crate::facts::activities::{Doing, all_ns};
use crate::facts::run::Run;

/// The path of the rank that ended last, as far as it is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathBuilder {
    ended_ns: u64,
    parts: Vec<Part>,
}

/// A part of the path.
#[derive(Clone, Copy, Debug)]
struct Part {
    rank: u32,
    doing: Option<Doing>,
    ns: u64,
    /// True if it is before the first call, with the rest of start-up.
    is_first: bool,
}

impl PathBuilder {
    /// Adds the causes of a rank's waiting, of which the path is taken if it ended last.
    pub(crate) fn add(&mut self, rows: &HashMap<CallpathId, CallpathIndex>, causes: &RankCauses) {
        if causes.facts.ended_ns <= self.ended_ns {
            return;
        }
        self.ended_ns = causes.facts.ended_ns;
        let parts = causes.path.iter().filter_map(|part| {
            let Cause::Activity { rank, .. } = part.cause else { return None };
            let activity = causes.activity(part.cause);
            let is_first = activity.is_some_and(is_first);
            let doing = activity.and_then(|activity| doing(rows, activity));
            Some(Part { rank, doing, ns: part.ns, is_first })
        });
        self.parts = parts.collect();
    }

    /// Returns the path; none if nothing of it is known.
    pub(crate) fn finish(&self, run: &Run) -> Option<Path> {
        let mut by_rank: BTreeMap<u32, f64> = BTreeMap::new();
        let mut of_path: BTreeMap<Doing, f64> = BTreeMap::new();
        for part in &self.parts {
            *by_rank.entry(part.rank).or_default() += crate::ns(part.ns.into());
            if let Some(doing) = part.doing {
                let most_ns = part.is_first.then(|| run.activities.first_ns(part.rank));
                let ns = most_ns.map_or(part.ns, |most_ns| most_ns.min(part.ns));
                *of_path.entry(doing).or_default() += crate::ns(ns.into());
            }
        }
        let mut by_rank: Vec<(u32, f64)> = by_rank.into_iter().collect();
        by_rank.sort_by(|a, b| b.1.total_cmp(&a.1));
        let excess = |(doing, ns): (Doing, f64)| {
            let all = [&run.activities, &run.in_calls, &run.regions];
            let of_ranks = all.into_iter().find_map(|of| of.of(doing))?;
            let excess = ns - run.a_rank_ns(crate::ns(all_ns(of_ranks)));
            (excess > 0.0).then_some((doing, excess))
        };
        let excess: Vec<(Doing, f64)> = of_path.into_iter().filter_map(excess).collect();
        let most = excess.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        (!by_rank.is_empty()).then(|| Path {
            ns: crate::ns(self.ended_ns.into()),
            by_rank,
            imbalance_ns: excess.iter().map(|(_, ns)| ns).sum(),
            most: most.map(|(doing, _)| doing.callpath()),
        })
    }
}

/// The critical path of a run.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The time from the begin of the ranks to the end of the last one, in ns.
    pub(crate) ns: f64,
    /// The time of each rank on it, the longest first, in ns.
    pub(crate) by_rank: Vec<(u32, f64)>,
    /// The time by which its activities exceed their mean over ranks, in ns: what would be gained
    /// if they were balanced.
    pub(crate) imbalance_ns: f64,
    /// The place of the activity that has the most of it.
    pub(crate) most: Option<CallpathIndex>,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tinyprof_format::model::{Activity, CauseFacts, PathPart};
    use tinyprof_format::text::read_text;
    use tinyprof_messages::delay::Visits;
    use tinyprof_report::Totals;

    use super::*;
    use crate::facts::run::RunBuilder;

    /// Returns the causes of a rank that ended at this time, by what rank 1 did before row 0.
    fn causes(ended_ns: u64, ns: u64) -> RankCauses {
        let to = CallpathId::from_bits(7);
        let gap = Activity::Gap { from: CallpathId::from_bits(8), to };
        RankCauses {
            activities: Arc::new([(5, gap)].into()),
            path: vec![
                PathPart { cause: Cause::Activity { rank: 1, number: 5 }, ns },
                PathPart { cause: Cause::Other, ns: ended_ns - ns },
            ],
            facts: CauseFacts { ended_ns, ..CauseFacts::default() },
            ..RankCauses::default()
        }
    }

    #[test]
    fn the_path_of_the_last_rank_and_what_exceeds_the_mean() {
        let rows = [(CallpathId::from_bits(7), CallpathIndex::new(0))].into();
        let mut path = PathBuilder::default();
        path.add(&rows, &causes(1_000, 900));
        path.add(&rows, &causes(800, 800));
        let text = "id,parent,tag,is_loop,times\nmain,null,null,0,0.1|0.1\n";
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let totals = Totals::of_profile(&profile);
        let mut run = RunBuilder::new(&profile.callpaths, 2).finish(&totals);
        run.rank_ns = vec![1_000, 1_000];
        for (rank, ns) in [300, 900].into_iter().enumerate() {
            let doing = Doing::Before(CallpathIndex::new(0));
            run.activities.add(doing, rank, Visits { count: 1, ns }, ns);
        }
        let found = path.finish(&run).expect("it is known");
        assert_eq!((found.ns, found.by_rank), (1_000.0, vec![(1, 900.0)]));
        assert_eq!((found.imbalance_ns, found.most), (300.0, Some(CallpathIndex::new(0))));
        assert!(PathBuilder::default().finish(&run).is_none());
    }
}
