//! How ranks use their time: computation, communication, input and output.

use std::borrow::Cow;

use tinyprof_format::model::{
    Callpath, CallpathTable, ClockFacts, ProcessorFacts, Profile, RankFacts,
};

use crate::facts::numbers::ratio;

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
        let exclusive_ns = with_samples(callpaths, inclusive_ns, exclusive_ns);
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
    /// The number of ranks whose run-queue delay is known.
    pub followed_ranks: u32,
    /// The time since measurement began, of the ranks whose processor time is known, added up, in
    /// nanoseconds.
    pub wall_ns: u128,
    /// Their processor time, in nanoseconds.
    pub cpu_ns: u128,
    /// The time for which the threads of the followed ranks were followed, in nanoseconds.
    pub threads_ns: u128,
    /// The time in which these threads could have run, but had no processor, in nanoseconds.
    pub delay_ns: u128,
    /// The part of `useful_ns` in which they certainly had none, in nanoseconds.
    pub useful_delay_ns: u128,
    /// The number of ranks that know how many of their threads worked.
    pub counted_ranks: u32,
    /// The threads of these ranks that worked.
    pub threads_at_work: u64,
    /// The processors that these threads may use, added up over ranks.
    pub processors_allowed: u64,
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

/// Returns the exclusive times with those of samples in the regions around them: what is known of
/// a region's time does not depend on whether it was sampled.
fn with_samples<'a>(
    callpaths: &CallpathTable,
    inclusive_ns: &[u64],
    exclusive_ns: &'a [u64],
) -> Cow<'a, [u64]> {
    let is_sampled = |callpath: &Callpath| callpath.region.is_sampled();
    if !callpaths.rows().iter().any(is_sampled) {
        return Cow::Borrowed(exclusive_ns);
    }
    let is_part = |callpath: &Callpath| callpath.parent.is_some() && is_sampled(callpath);
    let mut own_ns = without_children(callpaths, inclusive_ns, |child| !is_part(child));
    for (own_ns, callpath) in own_ns.iter_mut().zip(callpaths.rows()) {
        if is_part(callpath) {
            *own_ns = 0;
        }
    }
    Cow::Owned(own_ns)
}

/// Returns the exclusive times for these inclusive times, row by row of `callpaths`.
pub(crate) fn exclusive_of(callpaths: &CallpathTable, inclusive_ns: &[u64]) -> Vec<u64> {
    without_children(callpaths, inclusive_ns, |_| true)
}

/// Returns inclusive times without those of the children that count.
fn without_children(
    callpaths: &CallpathTable,
    inclusive_ns: &[u64],
    counts: impl Fn(&Callpath) -> bool,
) -> Vec<u64> {
    let mut children_ns = vec![0_u64; callpaths.len()];
    for (index, callpath) in callpaths.iter() {
        if let Some(parent) = callpath.parent.filter(|_| counts(callpath)) {
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

    /// Adds one rank with what it knows of its clock and its processor time.
    pub fn add_with_facts(&mut self, rank: &RankUsage, facts: &RankFacts) {
        self.add(rank);
        let ClockFacts { ideal_ns: ideal_max_ns, companions, .. } = facts.clock;
        let processor = &facts.processor;
        let known = |ns: u64| if processor.known_delay_ns().is_some() { ns.into() } else { 0 };
        self.merge(&Self {
            ideal_max_ns,
            companions,
            followed_ranks: processor.known_delay_ns().is_some().into(),
            wall_ns: processor.wall_ns.into(),
            cpu_ns: processor.cpu_ns.into(),
            threads_ns: known(processor.threads_ns),
            delay_ns: known(processor.delay_ns),
            useful_delay_ns: useful_delay_ns(rank, processor).into(),
            counted_ranks: (processor.threads_at_work > 0).into(),
            threads_at_work: processor.threads_at_work,
            processors_allowed: processor.processors_allowed,
            ..Self::default()
        });
    }

    /// Returns the useful time, in nanoseconds, without that in which ranks certainly had no
    /// processor. It may be less: delays are taken to be in other time as far as that goes.
    #[must_use]
    pub const fn useful_on_processors_ns(&self) -> u128 {
        self.useful_ns.saturating_sub(self.useful_delay_ns)
    }

    /// Returns the part of the time of the followed threads in which they could have run, but had
    /// no processor; none if no rank was followed.
    #[must_use]
    pub fn delay_share(&self) -> Option<f64> {
        (self.threads_ns > 0).then(|| ratio(self.delay_ns, self.threads_ns))
    }

    /// Returns the mean number of threads of a rank that worked; none if that is not known.
    #[must_use]
    pub fn threads_at_work_of_a_rank(&self) -> Option<f64> {
        let ranks = self.counted_ranks.into();
        (ranks > 0).then(|| ratio(self.threads_at_work.into(), ranks))
    }

    /// Returns the mean number of processors that the threads of a rank may use; none if that is
    /// not known.
    #[must_use]
    pub fn processors_of_a_rank(&self) -> Option<f64> {
        let processors = self.processors_allowed.into();
        (processors > 0).then(|| ratio(processors, self.counted_ranks.max(1).into()))
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
        self.followed_ranks = self.followed_ranks.saturating_add(other.followed_ranks);
        self.wall_ns = self.wall_ns.saturating_add(other.wall_ns);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.threads_ns = self.threads_ns.saturating_add(other.threads_ns);
        self.delay_ns = self.delay_ns.saturating_add(other.delay_ns);
        self.useful_delay_ns = self.useful_delay_ns.saturating_add(other.useful_delay_ns);
        self.counted_ranks = self.counted_ranks.saturating_add(other.counted_ranks);
        self.threads_at_work = self.threads_at_work.saturating_add(other.threads_at_work);
        self.processors_allowed = self.processors_allowed.saturating_add(other.processors_allowed);
    }
}

/// Returns the part of a rank's useful time in which it certainly had no processor, in nanoseconds:
/// the delay that is longer than all other time of its threads.
fn useful_delay_ns(rank: &RankUsage, processor: &ProcessorFacts) -> u64 {
    let Some(delay_ns) = processor.known_delay_ns() else { return 0 };
    let other_ns = processor.threads_ns.saturating_sub(rank.useful_ns);
    let of_threads_ns = delay_ns.saturating_sub(other_ns).min(rank.useful_ns);
    // Several threads may have more useful time than the rank has time: then both count less.
    let counted_ns = rank.useful_ns.min(rank.total_ns);
    if rank.useful_ns == 0 {
        return 0;
    }
    let part = u128::from(of_threads_ns) * u128::from(counted_ns) / u128::from(rank.useful_ns);
    u64::try_from(part).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_in_useful_time_as_far_as_there_is_no_other() {
        let rank = |useful_ns| RankUsage { total_ns: 100, useful_ns, io_ns: 0 };
        let check = |useful_ns, threads_ns, delay_ns, expected| {
            let processor = ProcessorFacts { threads_ns, delay_ns, ..ProcessorFacts::default() };
            assert_eq!(useful_delay_ns(&rank(useful_ns), &processor), expected);
        };
        check(80, 100, 75, 55);
        check(80, 100, 20, 0);
        check(100, 100, 30, 30);
        check(80, 0, 75, 0); // unknown
        check(0, 100, 90, 0);
        check(200, 200, 100, 50); // two threads
        check(40, 10, 90, 40); // contradictory: never more than there is
    }
}
