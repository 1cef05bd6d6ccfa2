//! How well the ranks were used, as the POP project defines it. The formulas stand in `docs/efficiency.md`.

use crate::model::{Callpath, CallpathTable, Profile};

/// The constant that says what a region does.
const TAG: &str = "tag";

/// What a region does, as the program says by the constant `tag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// `COMP`: useful computation.
    Computation,
    /// `COMM`: sending, receiving, waiting for others.
    Communication,
    /// `IO`: reading and writing files.
    InputOutput,
}

impl Activity {
    /// What each callpath does, row by row: what its own tag says, else that of the nearest enclosing region with one.
    /// None where there is none; tags with other values say nothing.
    ///
    /// # Cost
    /// Linear in the number of callpaths.
    #[must_use]
    pub fn of_callpaths(callpaths: &CallpathTable) -> Vec<Option<Self>> {
        let mut activities: Vec<Option<Self>> = Vec::with_capacity(callpaths.len());
        for callpath in callpaths.rows() {
            let inherited = callpath.parent.and_then(|parent| activities[parent.row()]);
            activities.push(Self::of_tag(callpath).or(inherited));
        }
        activities
    }

    fn of_tag(callpath: &Callpath) -> Option<Self> {
        match callpath.region.constants.get(TAG)?.as_str() {
            "COMP" => Some(Self::Computation),
            "COMM" => Some(Self::Communication),
            "IO" => Some(Self::InputOutput),
            _ => None,
        }
    }
}

/// Where the time of one rank went, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankTimes {
    /// The time of its root regions.
    pub total_ns: u64,
    /// What of it was neither communication nor input and output.
    pub useful_ns: u64,
    /// What of it was input and output.
    pub io_ns: u64,
}

/// How well the ranks were used: numbers from 0 to 1, where 1 is best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Efficiency {
    /// The mean useful time of a rank, as a part of the longest rank's total time: `load_balance * communication`.
    pub parallel: f64,
    /// The mean useful time of a rank, as a part of the greatest.
    pub load_balance: f64,
    /// The greatest useful time of a rank, as a part of the longest rank's total time.
    pub communication: f64,
    /// The time of input and output, as a part of the total time of all ranks. It is in none of the others.
    pub io_share: f64,
}

impl Efficiency {
    /// The efficiency of these ranks; those without any time are left out. None where no rank did anything useful.
    ///
    /// ```
    /// use tinyprof_format::report::{Efficiency, RankTimes};
    ///
    /// let rank = |useful_ns| RankTimes { total_ns: 100, useful_ns, io_ns: 0 };
    /// let found = Efficiency::of_ranks(&[rank(80), rank(40)]).unwrap();
    /// assert_eq!((found.parallel, found.load_balance, found.communication), (0.6, 0.75, 0.8));
    /// ```
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a part of one needs no more than 53 bits")]
    pub fn of_ranks(ranks: &[RankTimes]) -> Option<Self> {
        let busy = || ranks.iter().filter(|rank| rank.total_ns > 0);
        let useful = |rank: &RankTimes| rank.useful_ns.min(rank.total_ns);
        let longest_ns = busy().map(|rank| rank.total_ns).max()? as f64;
        let greatest_ns = busy().map(useful).max().filter(|&ns| ns > 0)? as f64;
        let mean_ns = busy().map(|rank| useful(rank) as f64).sum::<f64>() / busy().count() as f64;
        let total_ns: f64 = busy().map(|rank| rank.total_ns as f64).sum();
        let io_ns: f64 = busy().map(|rank| rank.io_ns as f64).sum();
        Some(Self {
            parallel: mean_ns / longest_ns,
            load_balance: mean_ns / greatest_ns,
            communication: greatest_ns / longest_ns,
            io_share: io_ns / total_ns,
        })
    }

    /// The efficiency of a run; none where no region says what it does.
    ///
    /// # Cost
    /// Linear in the numbers of callpaths and ranks.
    #[must_use]
    pub fn of_profile(profile: &Profile) -> Option<Self> {
        let activities = Activity::of_callpaths(&profile.callpaths);
        if activities.iter().all(Option::is_none) {
            return None;
        }
        let ranks: Vec<RankTimes> =
            (0..profile.ranks.len()).map(|rank| rank_times(profile, &activities, rank)).collect();
        Self::of_ranks(&ranks)
    }
}

fn rank_times(profile: &Profile, activities: &[Option<Activity>], rank: usize) -> RankTimes {
    let mut times = RankTimes::default();
    let exclusive_ns = exclusive_ns(profile, rank);
    for ((index, callpath), ns) in profile.callpaths.iter().zip(exclusive_ns) {
        if callpath.parent.is_none() {
            times.total_ns = times.total_ns.saturating_add(profile.values(index, rank).inclusive_ns());
        }
        let kind = match activities[index.row()] {
            Some(Activity::Communication) => continue,
            Some(Activity::InputOutput) => &mut times.io_ns,
            Some(Activity::Computation) | None => &mut times.useful_ns,
        };
        *kind = kind.saturating_add(ns);
    }
    times
}

/// The exclusive time of each callpath on one rank, row by row, in nanoseconds; 0 where it never went there.
///
/// # Panics
/// If the rank is not of this profile.
///
/// # Cost
/// Linear in the number of callpaths.
#[must_use]
pub fn exclusive_ns(profile: &Profile, rank: usize) -> Vec<u64> {
    let inclusive_ns = |row: usize| profile.values[row][rank].inclusive_ns();
    let mut exclusive: Vec<u64> = (0..profile.callpaths.len()).map(inclusive_ns).collect();
    let mut children = vec![0_u64; exclusive.len()];
    for (index, callpath) in profile.callpaths.iter() {
        if let Some(parent) = callpath.parent {
            let sum = &mut children[parent.row()];
            *sum = sum.saturating_add(exclusive[index.row()]);
        }
    }
    for (own, below) in exclusive.iter_mut().zip(children) {
        *own = own.saturating_sub(below);
    }
    exclusive
}
