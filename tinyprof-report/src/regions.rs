//! Regions, each summed over its callpaths.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, CallpathTable, SiteId};

use super::{MpiCall, Statistics};

/// The identity of a region: calls of an MPI function are one region, wherever they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RegionKey<'a> {
    Mpi(&'a str),
    Site(SiteId),
}

impl<'a> RegionKey<'a> {
    pub(super) fn of(region: &'a tinyprof_format::model::Region) -> Self {
        MpiCall::of_region(region).map_or(Self::Site(region.site), |call| Self::Mpi(call.function))
    }
}

/// A region with the sums over its callpaths and all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region<'a> {
    pub(super) name: &'a str,
    /// The callpath with the most exclusive time.
    pub(super) callpath: CallpathIndex,
    pub(super) callpaths: u32,
    pub(super) exclusive_ns: u128,
    pub(super) is_mpi: bool,
}

/// Returns the regions of the callpaths that are counted and were visited, the greatest exclusive
/// time first.
pub(super) fn costliest<'a>(
    callpaths: &'a CallpathTable,
    statistics: &Statistics,
    is_counted: impl Fn(CallpathIndex) -> bool,
) -> Vec<Region<'a>> {
    let mut regions: BTreeMap<RegionKey<'_>, (Region<'_>, u128)> = BTreeMap::new();
    for (callpath, of_callpath) in callpaths.iter().filter(|(index, _)| is_counted(*index)) {
        let row = statistics.row(callpath.row());
        if row.ranks == 0 {
            continue;
        }
        let key = RegionKey::of(&of_callpath.region);
        let (name, is_mpi) = match key {
            RegionKey::Mpi(function) => (function, true),
            RegionKey::Site(_) => (of_callpath.region.name.as_str(), false),
        };
        let none = Region { name, callpath, callpaths: 0, exclusive_ns: 0, is_mpi };
        let (region, greatest_ns) = regions.entry(key).or_insert((none, 0));
        region.callpaths += 1;
        region.exclusive_ns = region.exclusive_ns.saturating_add(row.exclusive.sum_ns);
        if row.exclusive.sum_ns > *greatest_ns {
            (region.callpath, *greatest_ns) = (callpath, row.exclusive.sum_ns);
        }
    }
    let mut regions: Vec<Region<'_>> = regions.into_values().map(|(region, _)| region).collect();
    regions.sort_by_key(|region| (Reverse(region.exclusive_ns), region.callpath));
    regions
}
