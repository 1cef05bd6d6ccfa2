//! The picture of a job, and how pictures of its parts become one.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use tinyprof_format::model::{CallpathTable, EventMap, Losses, Profile};
use tinyprof_report::Statistics;
use tinyprof_vocabulary::RankSet;

use crate::few::Few;
use crate::places::Places;

/// A rank that has not moved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Still {
    /// True if a signal or a debugger has stopped it.
    pub is_stopped: bool,
    /// The time since its numbers changed last, in ns.
    pub since_ns: u64,
    /// Its number.
    pub rank: u32,
    /// Its host.
    pub host: String,
}

/// A host that is missing in a picture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Missing {
    /// Its name.
    pub host: String,
    /// Why, for people.
    pub why: String,
}

/// A job at one moment, over all ranks of whom something is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// The name of its profile.
    pub name: String,
    /// The number of ranks that it has.
    pub size: u32,
    /// Those that are in the picture.
    #[serde(with = "runs")]
    pub ranks: RankSet,
    /// The number of their hosts.
    pub hosts: u32,
    /// The number of hosts on which it has ended.
    pub ended_hosts: u32,
    /// The time for which it has run, in ns, if known.
    pub elapsed_ns: Option<u64>,
    /// The age of the oldest part, in ns.
    pub age_ns: u64,
    /// The callpaths of any rank.
    #[serde(skip)]
    pub callpaths: CallpathTable,
    /// Sums over ranks, by row of the callpaths.
    #[serde(skip)]
    pub statistics: Statistics,
    /// Slow ranks, by row of the callpaths.
    pub places: Vec<Places>,
    /// All that the ranks could not record.
    pub losses: Losses,
    /// The ranks that do not move.
    pub still: Few<Still>,
    /// The hosts that are missing.
    pub missing: Few<Missing>,
}

/// The error of two pictures that tell of the same rank: one of them is not to be believed, or two
/// agents watch one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SameRanks;

impl fmt::Display for SameRanks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tells of ranks that another host tells of, too")
    }
}

impl std::error::Error for SameRanks {}

impl Picture {
    /// Returns the picture of a job from the measurements of its ranks, by number. Those of other
    /// hosts are empty.
    #[must_use]
    pub fn of_ranks(ranks: &[EventMap]) -> Self {
        let mut callpaths = CallpathTable::default();
        for rank in ranks.iter().filter(|rank| !rank.callpaths.is_empty()) {
            // Most ranks have the same callpaths as the others.
            if rank.callpaths.identities() != callpaths.identities() {
                callpaths = callpaths.union(&rank.callpaths);
            }
        }
        let mut picture = Self::empty(callpaths, ranks.len());
        let rows = picture.callpaths.index_by_identity();
        let mut hosts = BTreeSet::new();
        let numbered = (0_u32..).zip(ranks);
        for (number, rank) in numbered.filter(|(_, rank)| is_there(rank)) {
            let host = &rank.facts.host;
            hosts.insert(host);
            picture.ranks.insert(number);
            picture.losses.absorb(&rank.losses());
            picture.statistics.add_event_map(&picture.callpaths, number, rank);
            for (identity, values) in rank.callpaths.identities().iter().zip(&rank.values) {
                if let Some(row) = rows.get(identity).filter(|_| !values.executions.is_empty()) {
                    let inclusive_ns = values.inclusive_ns();
                    picture.places[row.row()].add(picture.size, number, host, inclusive_ns);
                }
            }
        }
        picture.hosts = count(hosts.iter().filter(|host| !host.is_empty()).count());
        picture
    }

    /// Returns the picture of a job from a profile.
    #[must_use]
    pub fn of_profile(profile: &Profile) -> Self {
        let mut picture = Self::empty(profile.callpaths.clone(), profile.ranks.len());
        picture.statistics = Statistics::of_profile(profile);
        picture.losses = profile.manifest.losses;
        let hosts: BTreeSet<&String> = profile.ranks.iter().map(|rank| &rank.host).collect();
        picture.hosts = count(hosts.iter().filter(|host| !host.is_empty()).count());
        picture.ranks = (0..picture.size).collect();
        for (places, ranks) in picture.places.iter_mut().zip(&profile.values) {
            for ((number, values), facts) in (0_u32..).zip(ranks).zip(&profile.ranks) {
                if !values.executions.is_empty() {
                    places.add(picture.size, number, &facts.host, values.inclusive_ns());
                }
            }
        }
        picture
    }

    fn empty(callpaths: CallpathTable, ranks: usize) -> Self {
        Self {
            statistics: Statistics::new(callpaths.len()),
            places: vec![Places::default(); callpaths.len()],
            size: count(ranks),
            callpaths,
            ..Self::default()
        }
    }

    /// Adds the picture of other ranks. Associative and commutative but for the order of callpaths.
    ///
    /// # Errors
    /// If both have a rank, or are of jobs of different size. Then nothing is added.
    ///
    /// # Cost
    /// Linear in the number of callpaths, whatever the number of ranks.
    pub fn merge(&mut self, other: &Self) -> Result<(), SameRanks> {
        let mut ranks = self.ranks.clone();
        ranks.absorb(&other.ranks);
        let is_disjoint = ranks.len() == self.ranks.len() + other.ranks.len();
        let is_empty = self.ranks.is_empty() || other.ranks.is_empty();
        if !is_disjoint || (!is_empty && self.size != other.size) {
            return Err(SameRanks);
        }
        if self.ranks.is_empty() {
            self.name.clone_from(&other.name);
        }
        self.ranks = ranks;
        self.size = self.size.max(other.size);
        self.hosts = self.hosts.saturating_add(other.hosts);
        self.ended_hosts = self.ended_hosts.saturating_add(other.ended_hosts);
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        self.age_ns = self.age_ns.max(other.age_ns);
        self.losses.absorb(&other.losses);
        self.still.merge(&other.still);
        self.missing.merge(&other.missing);
        self.merge_callpaths(other);
        Ok(())
    }

    fn merge_callpaths(&mut self, other: &Self) {
        if self.callpaths.identities() == other.callpaths.identities() {
            self.statistics.merge(&other.statistics);
            let pairs = self.places.iter_mut().zip(&other.places);
            return pairs.for_each(|(places, more)| places.merge(more));
        }
        let callpaths = self.callpaths.union(&other.callpaths);
        let mut statistics = self.statistics_over(&callpaths);
        statistics.merge(&other.statistics_over(&callpaths));
        let mut places = vec![Places::default(); callpaths.len()];
        for one in [&*self, other] {
            for (row, of_row) in one.rows_in(&callpaths).into_iter().zip(&one.places) {
                row.into_iter().for_each(|row| places[row].merge(of_row));
            }
        }
        (self.callpaths, self.statistics, self.places) = (callpaths, statistics, places);
    }

    /// Returns the rows of its callpaths in a table that has them all.
    fn rows_in(&self, callpaths: &CallpathTable) -> Vec<Option<usize>> {
        let rows = callpaths.index_by_identity();
        let own = self.callpaths.identities().iter();
        own.map(|identity| rows.get(identity).map(|index| index.row())).collect()
    }

    fn statistics_over(&self, callpaths: &CallpathTable) -> Statistics {
        let mut rows = vec![tinyprof_report::RankStatistics::default(); callpaths.len()];
        for (row, of_row) in self.rows_in(callpaths).into_iter().zip(self.statistics.rows()) {
            row.into_iter().for_each(|row| rows[row] = of_row);
        }
        Statistics::from_rows(rows).with_times(*self.statistics.times())
    }

    /// Returns whether its parts belong together, as far as one can see.
    pub(crate) fn is_sound(&self) -> bool {
        self.places.len() == self.callpaths.len()
            && self.statistics.rows().len() == self.callpaths.len()
            && self.ranks.runs().last().is_none_or(|(_, last)| *last < self.size)
            && self.places.iter().all(|places| places.is_sound(self.size))
            && self.still.is_sound()
            && self.missing.is_sound()
    }

    /// Returns whether the job has ended on all hosts that told of it.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.hosts > 0 && self.ended_hosts >= self.hosts
    }

    /// Returns whether all ranks of the job are in it, on hosts that all answer.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.missing.count == 0 && self.ranks.len() == u64::from(self.size)
    }

    /// Returns how many ranks share a place in [`bins`](Places::bins).
    #[must_use]
    pub fn ranks_a_bin(&self) -> usize {
        crate::places::ranks_a_bin(self.size)
    }
}

/// Ranks as their runs.
mod runs {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use tinyprof_vocabulary::RankSet;

    pub(super) fn serialize<S: Serializer>(ranks: &RankSet, to: S) -> Result<S::Ok, S::Error> {
        ranks.runs().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<RankSet, D::Error> {
        let runs = Vec::<(u32, u32)>::deserialize(from)?;
        let ranks = RankSet::of_runs(&runs);
        let is_in_order = ranks.runs() == runs;
        if is_in_order { Ok(ranks) } else { Err(D::Error::custom("its ranks are in no order")) }
    }
}

/// Returns whether something is known of a rank.
fn is_there(rank: &EventMap) -> bool {
    !rank.facts.host.is_empty() || !rank.callpaths.is_empty()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
