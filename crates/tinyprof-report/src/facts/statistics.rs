//! Statistics of every callpath over ranks. They can be merged in any order with the same result.

pub(crate) mod efficiency;
pub(crate) mod hosts;
pub(crate) mod mpi_usage;
pub(crate) mod rank;
pub(crate) mod regions;
pub(crate) mod rows;
pub(crate) mod spread;
pub(crate) mod threads_at_once;
pub(crate) mod time_base;
pub(crate) mod wire;

use tinyprof_format::model::{
    CallpathIndex, CallpathTable, EventMap, ExecutionSummary, Profile, RankFacts,
};

use crate::facts::statistics::rank::RankStatistics;
use crate::facts::statistics::rows::Rows;
use crate::facts::statistics::spread::HostId;
use crate::facts::totals::RankSums;
use crate::facts::totals::Totals;
use crate::facts::totals::variation::Variation;
use crate::facts::usage::exclusive_of;
use crate::facts::usage::{Activity, RankUsage, UsageOverRanks};

/// The statistics of every callpath of a table, row by row.
///
/// Ranks can compute their own and merge them up a tree; a reader of a whole profile adds rank
/// after rank. Both give equal statistics:
///
/// ```
/// use tinyprof_format::model::{
///     CallpathId, CallpathValues, EventMap, ExecutionSummary, Mode, RankFacts, Region, RegionKind,
///     SiteId,
/// };
/// use tinyprof_report::Statistics;
///
/// let site = SiteId::from_bits(1);
/// let region = Region {
///     site, name: "main".into(), module: "m".into(), file: "m.rs".into(), line: 1, column: 1,
///     kind: RegionKind::Function, mode: Mode::Total, rank_local: false, constants: [].into(),
/// };
/// let rank = |ns| {
///     let executions = vec![ExecutionSummary::of_one_visit(0, ns)];
///     let values = CallpathValues { executions, ..CallpathValues::default() };
///     let record = (CallpathId::root(site), None, region.clone(), values);
///     EventMap::from_records([record], RankFacts::default())
/// };
/// let (fast, slow) = (rank(10), rank(30));
///
/// let sent = Statistics::of_event_map(&slow, 1).to_bytes();
/// let mut received = Statistics::from_bytes(&sent).unwrap();
/// received.merge(&Statistics::of_event_map(&fast, 0));
///
/// let main = received.row(0);
/// assert_eq!((main.ranks, main.inclusive.sum_ns, main.inclusive.max_rank), (2, 40, 1));
/// assert_eq!(main.imbalance(&main.inclusive), Some(0.5));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    rows: Rows,
    times: UsageOverRanks,
}

impl Statistics {
    /// Returns the statistics of no rank over `callpaths` rows.
    #[must_use]
    pub fn new(callpaths: usize) -> Self {
        Self { rows: Rows::of_no_rank(callpaths), times: UsageOverRanks::default() }
    }

    /// Returns the statistics with these rows, of ranks whose times as a whole are unknown.
    #[must_use]
    pub fn from_rows(rows: Vec<RankStatistics>) -> Self {
        Self { rows: Rows::of_ranks(rows), times: UsageOverRanks::default() }
    }

    /// Returns the statistics with these times of the ranks as a whole.
    #[must_use]
    pub fn with_times(self, times: UsageOverRanks) -> Self {
        Self { times, ..self }
    }

    /// Returns the statistics of one rank, parallel to its own callpath table.
    #[must_use]
    pub fn of_event_map(map: &EventMap, rank: u32) -> Self {
        let mut statistics = Self::new(map.callpaths.len());
        statistics.add_rank(&map.callpaths, rank, &map.facts, |index| {
            &map.values[index.row()].executions
        });
        statistics
    }

    /// Returns the statistics of a whole profile, parallel to its callpath table.
    #[must_use]
    pub fn of_profile(profile: &Profile) -> Self {
        let mut statistics = Self::new(profile.callpaths.len());
        let activities = Activity::of_callpaths(&profile.callpaths);
        for ((rank, facts), number) in profile.ranks.iter().enumerate().zip(0u32..) {
            let place = (number, HostId::of_name(&facts.host));
            let facts = Some(facts);
            let of = |row: usize| &profile.values[row][rank].executions[..];
            let (sums, variation) = (|row| sums(of(row)), |row| Variation::of_one_rank(of(row)));
            statistics.add(&profile.callpaths, &activities, (place, facts), sums, variation);
        }
        statistics
    }

    /// Returns the statistics of the totals of a profile, parallel to its callpath table.
    #[must_use]
    pub fn of_totals(totals: &Totals) -> Self {
        let mut statistics = Self::new(totals.callpaths().len());
        let activities = Activity::of_callpaths(totals.callpaths());
        // A row's variation is that of all ranks: it is added with the first rank that came there.
        let first_ranks: Vec<Option<usize>> =
            (0..totals.callpaths().len()).map(|row| totals.first_rank(row)).collect();
        for rank in 0..totals.ranks().len() {
            let is_first = |row: usize| first_ranks[row] == Some(rank);
            let variation =
                |row| if is_first(row) { totals.variation(row) } else { Variation::default() };
            statistics.add_total(totals, &activities, (rank, true), variation);
        }
        statistics
    }

    /// Returns the statistics of one rank of a profile, parallel to its callpath table, as if each
    /// callpath had a single execution.
    pub fn of_rank(totals: &Totals, rank: usize) -> Self {
        let mut statistics = Self::new(totals.callpaths().len());
        let activities = Activity::of_callpaths(totals.callpaths());
        let variation = Variation { executions: 1, ..Variation::default() };
        statistics.add_total(totals, &activities, (rank, false), |_| variation);
        statistics
    }

    fn add_total(
        &mut self,
        totals: &Totals,
        activities: &[Option<Activity>],
        (rank, with_facts): (usize, bool),
        variation: impl Fn(usize) -> Variation,
    ) {
        let host = HostId::of_name(&totals.ranks()[rank].host);
        let sums = |row: usize| totals.sums(row, rank);
        let number = u32::try_from(rank).unwrap_or(u32::MAX);
        let facts = with_facts.then(|| &totals.ranks()[rank]);
        self.add(totals.callpaths(), activities, ((number, host), facts), sums, variation);
    }

    /// Adds the measurements of `rank`, which has these `facts`: `summaries` returns them for each
    /// row of `callpaths`, the table of these statistics.
    pub fn add_rank<'a>(
        &mut self,
        callpaths: &CallpathTable,
        rank: u32,
        facts: &RankFacts,
        summaries: impl Fn(CallpathIndex) -> &'a [ExecutionSummary],
    ) {
        let activities = Activity::of_callpaths(callpaths);
        let of = |row| summaries(CallpathIndex::new(row));
        let (sums, variation) = (|row| sums(of(row)), |row| Variation::of_one_rank(of(row)));
        let place = (rank, HostId::of_name(&facts.host));
        self.add(callpaths, &activities, (place, Some(facts)), sums, variation);
    }

    fn add(
        &mut self,
        callpaths: &CallpathTable,
        activities: &[Option<Activity>],
        ((rank, host), facts): ((u32, HostId), Option<&RankFacts>),
        sums: impl Fn(usize) -> Option<RankSums>,
        variation: impl Fn(usize) -> Variation,
    ) {
        self.grow_to(callpaths.len());
        let rows = || 0..callpaths.len();
        let inclusive_ns: Vec<u64> =
            rows().map(|row| sums(row).map_or(0, |sums| sums.inclusive_ns)).collect();
        let variances_ns2: Vec<u128> =
            rows().map(|row| sums(row).map_or(0, |sums| whole(sums.variance_ns2))).collect();
        let exclusive_ns = exclusive_of(callpaths, &inclusive_ns);
        let usage = RankUsage::of_rank(callpaths, activities, &inclusive_ns, &exclusive_ns);
        match facts {
            Some(facts) => self.times.add_with_facts(&usage, facts),
            None => self.times.add(&usage),
        }
        let mut exclusive_variances_ns2 = variances_ns2.clone();
        for (index, callpath) in callpaths.iter() {
            if let Some(parent) = callpath.parent {
                // The variance of a difference of estimates is the sum of both variances.
                let variance = &mut exclusive_variances_ns2[parent.row()];
                *variance = variance.saturating_add(variances_ns2[index.row()]);
            }
        }
        let of_row = |row: usize| {
            let Some(RankSums { visits, inclusive_ns, .. }) = sums(row) else {
                return RankStatistics::default();
            };
            let exclusive_ns = exclusive_ns[row];
            let mut one =
                RankStatistics::of_one_rank(rank, host, visits, inclusive_ns, exclusive_ns);
            one.variation = variation(row);
            one.inclusive.variance_ns2 = variances_ns2[row];
            one.exclusive.variance_ns2 = exclusive_variances_ns2[row];
            one
        };
        self.rows.add_rank(rank, host, rows().map(of_row));
    }

    /// Adds the measurements of `rank`. The table of these statistics, `dictionary`, may contain
    /// callpaths that the rank did not visit.
    ///
    /// A callpath that is missing in the dictionary has no row and is ignored: unite the tables
    /// first.
    pub fn add_event_map(&mut self, dictionary: &CallpathTable, rank: u32, map: &EventMap) {
        let own = map.callpaths.index_by_identity();
        self.add_rank(dictionary, rank, &map.facts, |index| {
            let found = own.get(&dictionary.identities()[index.row()]);
            found.map_or(&[], |at| map.values[at.row()].executions.as_slice())
        });
    }

    /// Adds the statistics of other ranks over the same table. Associative and commutative; no rank
    /// may be in both. Missing rows count as callpaths that no rank visited.
    pub fn merge(&mut self, other: &Self) {
        self.rows.merge(&other.rows);
        self.times.merge(&other.times);
    }

    /// Returns the times of the ranks as a whole, by activity.
    #[must_use]
    pub const fn times(&self) -> &UsageOverRanks {
        &self.times
    }

    /// Returns the statistics, row by row of the callpath table.
    #[must_use]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = RankStatistics> + '_ {
        (0..self.rows.len()).map(|row| self.rows.get(row))
    }

    /// Returns the statistics of the callpath in this row.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> RankStatistics {
        self.rows.get(row)
    }

    pub(crate) fn grow_to(&mut self, callpaths: usize) {
        self.rows.grow_to(callpaths);
    }
}

/// Returns the sums of these summaries; none if there are none. A row with metrics only has no
/// visits.
fn sums(summaries: &[ExecutionSummary]) -> Option<RankSums> {
    (!summaries.is_empty()).then(|| RankSums {
        visits: ExecutionSummary::visits_of(summaries),
        inclusive_ns: ExecutionSummary::inclusive_ns_of(summaries),
        variance_ns2: ExecutionSummary::sum_variance_ns2_of(summaries),
    })
}

/// Returns a variance as an integer, rounded up, so that an uncertain value never reads as exact.
/// NaN, which only occurs in a damaged profile, becomes 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a variance is not negative, and what is too large becomes the largest"
)]
fn whole(variance_ns2: f64) -> u128 {
    variance_ns2.ceil() as u128
}
