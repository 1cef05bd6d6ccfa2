//! How ranks use their time: computation, communication, input and output.

use tinyprof_format::model::{Callpath, CallpathTable, ClockFacts, Profile};

/// The key of the constant that declares a region's activity.
const TAG: &str = "tag";

/// The activity of a region, as the program declares it by the constant `tag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// `COMP`: useful computation.
    Computation,
    /// `COMM`: sending, receiving, waiting for others.
    Communication,
    /// `IO`: reading and writing files.
    InputOutput,
    /// `INIT`: setting up, as `MPI_Init` does. Its time belongs to no activity of the program.
    Setup,
}

impl Activity {
    /// Returns the activity of each callpath, row by row: that of its own tag, else that of the
    /// nearest enclosing region with a tag. None if there is no such region; tags with other values
    /// are ignored.
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
            "INIT" => Some(Self::Setup),
            _ => None,
        }
    }
}

/// The time of one rank by activity, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankUsage {
    /// The time of its root regions, without that of setting up.
    pub total_ns: u64,
    /// The part of it that was neither communication nor input and output.
    pub useful_ns: u64,
    /// The part of it that was input and output.
    pub io_ns: u64,
}

impl RankUsage {
    /// Returns the times of a rank from its inclusive and exclusive times, row by row of
    /// `callpaths`, in nanoseconds.
    pub(crate) fn of_rank(
        callpaths: &CallpathTable,
        activities: &[Option<Activity>],
        inclusive_ns: &[u64],
        exclusive_ns: &[u64],
    ) -> Self {
        let (mut times, mut setup_ns) = (Self::default(), 0_u64);
        for (row, callpath) in callpaths.rows().iter().enumerate() {
            if callpath.parent.is_none() {
                times.total_ns = times.total_ns.saturating_add(inclusive_ns[row]);
            }
            let kind = match activities[row] {
                Some(Activity::Communication) => continue,
                Some(Activity::InputOutput) => &mut times.io_ns,
                Some(Activity::Setup) => &mut setup_ns,
                Some(Activity::Computation) | None => &mut times.useful_ns,
            };
            *kind = kind.saturating_add(exclusive_ns[row]);
        }
        times.total_ns = times.total_ns.saturating_sub(setup_ns);
        times
    }
}

/// The times of several ranks, accumulated: all that their efficiency depends on. Integers, so that
/// ranks can be added in any order with the same result. Ranks without any time are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageOverRanks {
    /// The number of ranks that have any time.
    pub ranks: u32,
    /// The sum of their total times, in nanoseconds.
    pub total_ns: u128,
    /// The greatest total time, in nanoseconds.
    pub total_max_ns: u64,
    /// The sum of their useful times, each at most the rank's total time, in nanoseconds.
    pub useful_ns: u128,
    /// The greatest useful time, in nanoseconds.
    pub useful_max_ns: u64,
    /// The sum of their times of input and output, in nanoseconds.
    pub io_ns: u128,
    /// The greatest ideal time, in nanoseconds: see [`ideal_ns`](Self::ideal_ns).
    pub ideal_max_ns: u64,
    /// The messages and operations of which a companion was seen, without which no ideal time is
    /// known.
    pub companions: u64,
}

/// Returns the exclusive time of each callpath on one rank, row by row, in nanoseconds; 0 for
/// callpaths that the rank did not visit.
///
/// # Panics
/// If the rank is not of this profile.
///
/// # Cost
/// Linear in the number of callpaths.
#[must_use]
pub fn exclusive_ns(profile: &Profile, rank: usize) -> Vec<u64> {
    let inclusive_ns: Vec<u64> =
        profile.values.iter().map(|ranks| ranks[rank].inclusive_ns()).collect();
    exclusive_of(&profile.callpaths, &inclusive_ns)
}

/// Returns the exclusive times for these inclusive times, row by row of `callpaths`.
pub(crate) fn exclusive_of(callpaths: &CallpathTable, inclusive_ns: &[u64]) -> Vec<u64> {
    let mut children_ns = vec![0_u64; callpaths.len()];
    for (index, callpath) in callpaths.iter() {
        if let Some(parent) = callpath.parent {
            let sum = &mut children_ns[parent.row()];
            *sum = sum.saturating_add(inclusive_ns[index.row()]);
        }
    }
    // The children may take more time than the parent: they ran on several threads, or the clock
    // stepped.
    inclusive_ns.iter().zip(children_ns).map(|(own, below)| own.saturating_sub(below)).collect()
}

impl UsageOverRanks {
    /// Adds one rank.
    pub fn add(&mut self, rank: &RankUsage) {
        if rank.total_ns == 0 {
            return;
        }
        let useful_ns = rank.useful_ns.min(rank.total_ns);
        self.merge(&Self {
            ranks: 1,
            total_ns: rank.total_ns.into(),
            total_max_ns: rank.total_ns,
            useful_ns: useful_ns.into(),
            useful_max_ns: useful_ns,
            io_ns: rank.io_ns.into(),
            ..Self::default()
        });
    }

    /// Adds the clock of one rank.
    pub fn add_clock(&mut self, clock: &ClockFacts) {
        let (ideal_max_ns, companions) = (clock.ideal_ns, clock.companions);
        self.merge(&Self { ideal_max_ns, companions, ..Self::default() });
    }

    /// Returns the useful time along the longest chain of causes: the time that the program would
    /// have taken on an ideal network, in nanoseconds. None if no messages were followed.
    #[must_use]
    pub const fn ideal_ns(&self) -> Option<u64> {
        if self.companions > 0 && self.ideal_max_ns > 0 { Some(self.ideal_max_ns) } else { None }
    }

    /// Adds other ranks. Associative and commutative, and the default is its neutral element.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.ranks = self.ranks.saturating_add(other.ranks);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.total_max_ns = self.total_max_ns.max(other.total_max_ns);
        self.useful_ns = self.useful_ns.saturating_add(other.useful_ns);
        self.useful_max_ns = self.useful_max_ns.max(other.useful_max_ns);
        self.io_ns = self.io_ns.saturating_add(other.io_ns);
        self.ideal_max_ns = self.ideal_max_ns.max(other.ideal_max_ns);
        self.companions = self.companions.saturating_add(other.companions);
    }
}
