//! Regions, each summed over its callpaths.

use std::cmp::Reverse;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tinyprof_format::model::{CallpathIndex, CallpathTable, SiteId};

use crate::facts::statistics::Statistics;
use crate::facts::totals::transfers::MpiCall;

/// The identity of a region: calls of an MPI function are one region, wherever they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegionKey<'a> {
    /// The function.
    Mpi(&'a str),
    /// The function that was sampled.
    Sampled(&'a str),
    /// The function and line that were sampled.
    Line(&'a str),
    /// The site of any other region.
    Site(SiteId),
}

impl<'a> RegionKey<'a> {
    /// Returns the identity of a region.
    #[must_use]
    pub fn of(region: &'a tinyprof_format::model::Region) -> Self {
        if let Some(function) = region.sampled_function() {
            return Self::Sampled(function);
        }
        MpiCall::of_region(region).map_or(Self::Site(region.site), |call| Self::Mpi(call.function))
    }

    /// Returns the identity of a region, of which samples of different lines are different ones.
    #[must_use]
    pub fn of_line(region: &'a tinyprof_format::model::Region) -> Self {
        region.sampled_line().map_or_else(|| Self::of(region), Self::Line)
    }

    /// Returns a number that is equal for equal regions, and differs between others as far as
    /// hashes do.
    fn number(self) -> u64 {
        match self {
            Self::Site(site) => site.to_bits(),
            Self::Mpi(function) | Self::Sampled(function) | Self::Line(function) => {
                let mut hasher = DefaultHasher::new();
                function.hash(&mut hasher);
                hasher.finish()
            }
        }
    }
}

/// A region with the sums over its callpaths and all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region<'a> {
    pub(crate) name: &'a str,
    /// The callpath with the most exclusive time.
    pub(crate) callpath: CallpathIndex,
    pub(crate) callpaths: u32,
    pub(crate) exclusive_ns: u128,
    pub(crate) is_mpi: bool,
}

/// Returns the `count` regions with the most exclusive time, the greatest first, of the callpaths
/// that are counted and were visited.
///
/// # Cost
/// Sorts the callpaths by region, in 16 bytes each: there may be a million of them.
pub(crate) fn costliest<'a>(
    callpaths: &'a CallpathTable,
    statistics: &Statistics,
    count: usize,
    is_counted: impl Fn(CallpathIndex) -> bool,
) -> Vec<Region<'a>> {
    let visited = callpaths
        .iter()
        .filter(|(index, _)| is_counted(*index) && statistics.row(index.row()).ranks > 0);
    let mut keys: Vec<(u64, CallpathIndex)> = visited
        .map(|(index, callpath)| (RegionKey::of(&callpath.region).number(), index))
        .collect();
    keys.sort_unstable();
    let mut greatest: Vec<Region<'a>> = Vec::new();
    for of_region in keys.chunk_by(|left, right| left.0 == right.0) {
        let region = sum(callpaths, statistics, of_region.iter().map(|(_, index)| *index));
        let order = |region: &Region<'_>| (Reverse(region.exclusive_ns), region.callpath);
        let place = greatest.partition_point(|other| order(other) < order(&region));
        greatest.insert(place, region);
        greatest.truncate(count);
    }
    greatest
}

/// Returns the sum over the callpaths of a region, of which there is at least one.
fn sum<'a>(
    callpaths: &'a CallpathTable,
    statistics: &Statistics,
    of_region: impl Iterator<Item = CallpathIndex>,
) -> Region<'a> {
    let exclusive_ns = |index: CallpathIndex| statistics.row(index.row()).exclusive.sum_ns;
    let (mut number, mut sum_ns, mut costliest) = (0, 0_u128, CallpathIndex::new(0));
    for index in of_region {
        if number == 0 || exclusive_ns(index) > exclusive_ns(costliest) {
            costliest = index;
        }
        number += 1;
        sum_ns = sum_ns.saturating_add(exclusive_ns(index));
    }
    let region = &callpaths.get(costliest).region;
    let (name, is_mpi) = match RegionKey::of(region) {
        RegionKey::Mpi(function) => (function, true),
        RegionKey::Sampled(function) => (function, false),
        RegionKey::Line(_) | RegionKey::Site(_) => (region.name.as_str(), false),
    };
    Region { name, callpath: costliest, callpaths: number, exclusive_ns: sum_ns, is_mpi }
}
