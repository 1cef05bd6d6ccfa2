//! The data of one screen: the numbers of a sample, and the changes since the previous one.

use std::collections::HashMap;
use std::time::Duration;

use tinyprof_format::model::{CallpathIndex, Identity};
use tinyprof_report::cells::ratio;
use tinyprof_report::{Activity, Efficiency, Spread, TimeBase};

use super::iterations::Iterations;
use super::sample::Sample;
use crate::arguments::IterationCount;

/// The activity of a callpath between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Recent {
    /// Visits per second, on all ranks together.
    pub(super) visits_per_s: f64,
    /// Its share of the time of all root regions, from 0 to 1.
    pub(super) share: f64,
    /// Its exclusive share of that time, from 0 to 1.
    pub(super) exclusive_share: f64,
}

/// The shares of communication and of input and output in the time between two samples, start-up
/// included, from 0 to 1. Known where regions have tags.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ActivityShares {
    pub(super) communication: f64,
    pub(super) input_output: f64,
}

impl ActivityShares {
    /// Returns the shares of exclusive times, by callpath; `None` if there are none, or no callpath
    /// is tagged as communication or input and output.
    fn of(activities: &[Option<Activity>], exclusive_ns: &[u128]) -> Option<Self> {
        let of = |wanted: Activity| -> Option<u128> {
            let rows = activities.iter().zip(exclusive_ns);
            rows.filter(|(activity, _)| **activity == Some(wanted))
                .fold(None, |sum, (_, ns)| Some(sum.unwrap_or(0) + ns))
        };
        let (communication, input_output) =
            (of(Activity::Communication), of(Activity::InputOutput));
        let whole_ns: u128 = exclusive_ns.iter().sum();
        let is_known = communication.or(input_output).is_some() && whole_ns > 0;
        is_known.then(|| Self {
            communication: ratio(communication.unwrap_or(0), whole_ns),
            input_output: ratio(input_output.unwrap_or(0), whole_ns),
        })
    }

    /// Returns the rest, which is computation.
    pub(super) fn computation(&self) -> f64 {
        (1.0 - self.communication - self.input_output).max(0.0)
    }
}

/// A callpath over all ranks.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) identity: Identity,
    /// The name of its region, from the program and not escaped.
    pub(super) name: String,
    pub(super) depth: u32,
    pub(super) children: Vec<usize>,
    pub(super) ranks: u32,
    pub(super) visits: u64,
    pub(super) inclusive: Spread,
    pub(super) exclusive: Spread,
    /// Its share of the time of all root regions, from 0 to 1.
    pub(super) share: f64,
    pub(super) imbalance: Option<f64>,
    /// Its recent activity; `None` without an earlier sample.
    pub(super) recent: Option<Recent>,
}

impl Row {
    /// Returns its share of the time of all root regions between the last two samples.
    pub(super) fn now(&self) -> Option<f64> {
        self.recent.map(|recent| recent.share)
    }
}

/// A moment of a job, ready to draw.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) sample: Sample,
    /// The callpaths, by row of the sample's table.
    pub(super) rows: Vec<Row>,
    pub(super) roots: Vec<usize>,
    /// The time between this sample and the previous one.
    pub(super) interval: Option<Duration>,
    /// How ranks used that time; `None` if it is unknown.
    pub(super) activity: Option<ActivityShares>,
    /// How far the job is; `None` if it has no loop.
    pub(super) iterations: Option<Iterations>,
}

impl Frame {
    /// Creates the frame of `sample`, which follows `before`.
    pub(super) fn new(sample: Sample, before: Option<&Sample>) -> Self {
        Self::expecting(sample, before, None)
    }

    /// Does the same where it may be known how many iterations there will be.
    pub(super) fn expecting(
        sample: Sample,
        before: Option<&Sample>,
        count: Option<&IterationCount>,
    ) -> Self {
        let since =
            before.map(|before| Since::new(&sample, before)).filter(|since| since.interval_ns > 0);
        let picture = &sample.picture;
        let table = &picture.callpaths;
        let of_roots = |value: &dyn Fn(usize) -> u128| {
            let roots = table.iter().filter(|(_, callpath)| callpath.parent.is_none());
            roots.fold(0_u128, |sum, (index, _)| sum.saturating_add(value(index.row())))
        };
        let base = TimeBase::of_statistics(table, &picture.statistics);
        let recent_ns = since.as_ref().map(|since| of_roots(&|row| since.inclusive_ns[row]));
        let children = table.children();
        let row = |(index, callpath): (CallpathIndex, &tinyprof_format::model::Callpath)| {
            let at = index.row();
            let statistics = &picture.statistics.row(at);
            Row {
                identity: table.identities()[at],
                name: callpath.region.name.clone(),
                depth: callpath.depth,
                children: children[at].iter().map(|child| child.row()).collect(),
                ranks: statistics.ranks,
                visits: statistics.visits,
                inclusive: statistics.inclusive,
                exclusive: statistics.exclusive,
                share: base.inclusive_share(index, statistics.inclusive.sum_ns),
                imbalance: statistics.imbalance(&statistics.inclusive),
                recent: since.as_ref().zip(recent_ns).map(|(since, whole_ns)| Recent {
                    visits_per_s: ratio(
                        u128::from(since.visits[at]) * 1_000_000_000,
                        since.interval_ns,
                    ),
                    share: ratio(since.inclusive_ns[at], whole_ns),
                    exclusive_share: ratio(since.exclusive_ns[at], whole_ns),
                }),
            }
        };
        let rows: Vec<Row> = table.iter().map(row).collect();
        let roots = (0..rows.len()).filter(|&at| rows[at].depth == 0).collect();
        let activities = Activity::of_callpaths(table);
        let activity =
            since.as_ref().and_then(|since| ActivityShares::of(&activities, &since.exclusive_ns));
        let interval = since.map(|since| {
            Duration::from_nanos(u64::try_from(since.interval_ns).unwrap_or(u64::MAX))
        });
        let iterations = Iterations::of(&sample.picture, count);
        Self { rows, roots, interval, activity, iterations, sample }
    }

    /// Returns the efficiency of the job so far; none if no rank did any useful work.
    pub(super) fn efficiency(&self) -> Option<Efficiency> {
        let picture = &self.sample.picture;
        Efficiency::of_statistics(&picture.callpaths, &picture.statistics)
    }
}

/// The increase from one sample to the next, by row of the later one. A record that could not be
/// read in between has an increase of zero, not a negative one.
struct Since {
    interval_ns: u128,
    visits: Vec<u64>,
    inclusive_ns: Vec<u128>,
    exclusive_ns: Vec<u128>,
}

impl Since {
    fn new(sample: &Sample, before: &Sample) -> Self {
        let known: HashMap<Identity, CallpathIndex> = before.picture.callpaths.index_by_identity();
        let now = &sample.picture;
        let rows = now.callpaths.identities().iter().zip(now.statistics.rows());
        let grown = |now: &Spread, then: &Spread| now.sum_ns.saturating_sub(then.sum_ns);
        let (visits, (inclusive_ns, exclusive_ns)) = rows
            .map(|(identity, now)| {
                let then = known
                    .get(identity)
                    .map(|index| before.picture.statistics.row(index.row()))
                    .unwrap_or_default();
                (
                    now.visits.saturating_sub(then.visits),
                    (
                        grown(&now.inclusive, &then.inclusive),
                        grown(&now.exclusive, &then.exclusive),
                    ),
                )
            })
            .unzip();
        let interval_ns = u128::from(sample.moment_ns.saturating_sub(before.moment_ns));
        Self { interval_ns, visits, inclusive_ns, exclusive_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::sample;
    use super::*;

    #[test]
    fn what_ranks_did_is_known_where_regions_are_tagged() {
        let tagged = [None, Some(Activity::Communication), Some(Activity::Setup)];
        let shares = ActivityShares::of(&tagged, &[50, 30, 20]).expect("shares");
        assert!((shares.communication - 0.3).abs() < 1e-9 && shares.input_output == 0.0);
        assert!((shares.computation() - 0.7).abs() < 1e-9);
        assert_eq!(ActivityShares::of(&tagged, &[0, 0, 0]), None, "nothing went on");
        assert_eq!(ActivityShares::of(&[None, Some(Activity::Setup)], &[5, 5]), None);
    }

    #[test]
    fn shares_are_of_all_root_regions_and_rates_of_the_interval() {
        let before = sample(2, 1);
        let mut after = sample(2, 3);
        after.moment_ns = before.moment_ns + 2_000_000_000;
        let frame = Frame::new(after.clone(), Some(&before));
        let main = &frame.rows[frame.roots[0]];
        assert!((main.share - 1.0).abs() < 1e-9 && main.visits == 6);
        let recent = main.recent.expect("there is a sample before");
        // Two more visits on each of two ranks, in two seconds.
        assert!(
            (recent.visits_per_s - 2.0).abs() < 1e-9 && (recent.share - 1.0).abs() < 1e-9,
            "{recent:?}"
        );
        assert_eq!(frame.interval, Some(Duration::from_secs(2)));
        // No time between the samples, or no earlier one: no rates.
        assert!(Frame::new(before.clone(), Some(&before)).rows[0].recent.is_none());
        assert!(Frame::new(before.clone(), None).rows[0].recent.is_none());
        // A value that shrinks because it could not be read counts as no increase.
        let mut later = before;
        later.moment_ns = after.moment_ns + 1;
        let recent = Frame::new(later, Some(&after)).rows[0].recent.expect("rates");
        assert_eq!(recent, Recent::default());
    }
}
