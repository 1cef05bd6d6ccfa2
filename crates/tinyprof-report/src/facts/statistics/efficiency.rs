//! Parallel efficiency of the ranks as defined by the POP project. The formulas are in
//! `docs/efficiency.md`.

use tinyprof_format::model::{CallpathTable, Profile};

use crate::facts::numbers::ratio;
use crate::facts::statistics::Statistics;
use crate::facts::usage::{Activity, RankUsage, UsageOverRanks};

/// Parallel efficiency: numbers from 0 to 1, where 1 is best.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Efficiency {
    /// The mean useful time of a rank as a part of the longest rank's total time:
    /// `load_balance * communication * processors`.
    ///
    /// None if no region is tagged as communication: time in messages would count as useful.
    pub parallel: Option<f64>,
    /// The mean useful time of a rank as a part of the greatest.
    pub load_balance: f64,
    /// The greatest useful time of a rank as a part of the longest rank's total time. None if
    /// `parallel` is none.
    pub communication: Option<f64>,
    /// The greatest useful time of a rank as a part of the time that the program would have taken
    /// on an ideal network: what waiting for others costs. None unless `parallel` is known, and
    /// messages were followed (level `messages`).
    pub serialisation: Option<f64>,
    /// The time on an ideal network as a part of the longest rank's total time: what moving data
    /// costs. `communication = serialisation * transfer`. None if `serialisation` is none.
    pub transfer: Option<f64>,
    /// The useful time without that in which the ranks certainly had no processor, as a part of all
    /// useful time: at most this, as run-queue delay is taken to be in other time as far as that
    /// goes. None if the delay is not known of every rank.
    pub processors: Option<f64>,
    /// The time of input and output as a part of the total time of all ranks. Not included in the
    /// other numbers.
    pub io_share: f64,
}

impl Efficiency {
    /// Returns the efficiency of these ranks. None if no rank did any useful work.
    #[must_use]
    pub(crate) fn of_times(times: &UsageOverRanks) -> Option<Self> {
        let ranks = u128::from(times.ranks);
        let times_ranks = |ns: u64| u128::from(ns).saturating_mul(ranks);
        // No chain of causes is shorter than the work of a rank, nor longer than the run; its clock
        // differs from that of the regions by the cost of measuring.
        let ideal_ns = times.ideal_ns();
        let ideal_ns = ideal_ns.map(|ns| ns.min(times.total_max_ns).max(times.useful_max_ns));
        let is_followed = times.ranks > 0 && times.followed_ranks >= times.ranks;
        let processed_ns =
            if is_followed { times.useful_on_processors_ns() } else { times.useful_ns };
        (times.useful_max_ns > 0).then(|| Self {
            parallel: Some(ratio(processed_ns, times_ranks(times.total_max_ns))),
            processors: is_followed.then(|| ratio(processed_ns, times.useful_ns)),
            load_balance: ratio(times.useful_ns, times_ranks(times.useful_max_ns)),
            communication: Some(ratio(times.useful_max_ns.into(), times.total_max_ns.into())),
            serialisation: ideal_ns.map(|ns| ratio(times.useful_max_ns.into(), ns.into())),
            transfer: ideal_ns.map(|ns| ratio(ns.into(), times.total_max_ns.into())),
            io_share: ratio(times.io_ns, times.total_ns),
        })
    }

    /// Returns the efficiency without the numbers that depend on the ideal time.
    pub(crate) const fn without_ideal(self) -> Self {
        Self { serialisation: None, transfer: None, ..self }
    }

    /// Returns the efficiency of these ranks; those without any time are ignored. None if no rank
    /// did any useful work.
    ///
    /// ```
    /// use tinyprof_report::{Efficiency, RankUsage};
    ///
    /// let rank = |useful_ns| RankUsage { total_ns: 100, useful_ns, io_ns: 0 };
    /// let found = Efficiency::of_ranks(&[rank(80), rank(40)]).unwrap();
    /// assert_eq!((found.parallel, found.communication), (Some(0.6), Some(0.8)));
    /// assert_eq!(found.load_balance, 0.75);
    /// ```
    #[must_use]
    pub fn of_ranks(ranks: &[RankUsage]) -> Option<Self> {
        let mut times = UsageOverRanks::default();
        ranks.iter().for_each(|rank| times.add(rank));
        Self::of_times(&times)
    }

    /// Returns the efficiency of a run; none if no region declares its activity.
    ///
    /// # Cost
    /// Linear in the numbers of callpaths and ranks.
    #[must_use]
    pub fn of_profile(profile: &Profile) -> Option<Self> {
        Self::of_statistics(&profile.callpaths, &Statistics::of_profile(profile))
    }

    /// Returns the efficiency of a run from its statistics, row by row of `callpaths`; none if no
    /// region declares its activity.
    #[must_use]
    pub fn of_statistics(callpaths: &CallpathTable, statistics: &Statistics) -> Option<Self> {
        let activities = Activity::of_callpaths(callpaths);
        let found = Self::of_times(statistics.times())
            .filter(|_| activities.iter().any(Option::is_some))?;
        let communicates = activities.contains(&Some(Activity::Communication));
        Some(if communicates {
            found
        } else {
            Self { parallel: None, communication: None, ..found }.without_ideal()
        })
    }
}
