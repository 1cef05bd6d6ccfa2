//! Parts of the sentences of several findings.

use tinyprof_format::model::CallpathIndex;
use tinyprof_vocabulary::RankSet;

use super::run::Run;
use crate::facts::numbers::{ratio, whole};
use crate::facts::sampled_place::SampledPlace;
use crate::facts::statistics::regions::Region;
use crate::facts::statistics::spread::HostId;
use crate::words::names::{cut, shown};
use crate::words::units::{percent_cell, time};

/// The maximum width of a name in a sentence, in columns.
const NAME_COLUMNS: usize = 40;

/// The maximum width of a set of ranks in a sentence, in columns.
const RANKS_COLUMNS: usize = 24;

/// Returns the name of a callpath's region.
pub(crate) fn name(run: &Run<'_>, index: CallpathIndex) -> String {
    cut(&shown(&run.callpaths.get(index).region.name), NAME_COLUMNS)
}

/// Returns ` on HOST` for a sentence; empty if the host is unknown, or the only one.
pub(crate) fn on_host(run: &Run<'_>, host: HostId) -> String {
    let name = run.hosts.short_name(host);
    name.map_or_else(String::new, |name| format!(" on {}", cut(&shown(name), NAME_COLUMNS)))
}

/// Returns `most of it in alltoall (64.4%)`, or all of it if there is one region.
pub(crate) fn mostly(run: &Run<'_>, regions: &[Region<'_>]) -> String {
    let Some(first) = regions.first() else { return String::new() };
    let name = cut(&shown(first.name), NAME_COLUMNS);
    match regions.len() {
        1 => format!("all of it in {name}"),
        _ => format!(
            "most of it in {name} ({})",
            percent_cell(ratio(first.exclusive_ns, run.statistics.times().total_ns)),
        ),
    }
}

/// Returns `By samples it is in work (a.c:12): 800 ms, and 200 ms on the others.`
pub(crate) fn by_samples(place: &SampledPlace) -> String {
    let name = cut(&shown(&place.name), NAME_COLUMNS);
    let here = time(whole(place.here_ns));
    match place.elsewhere_ns {
        Some(ns) => {
            format!("By samples it is in {name}: {here}, and {} on the others.", time(whole(ns)))
        }
        None => format!("By samples most of it is in {name}: {here}."),
    }
}

/// Returns a set of ranks.
fn ranks(ranks: &RankSet) -> String {
    ranks.within(RANKS_COLUMNS)
}

/// Returns a set of ranks, for the beginning of a sentence: `Ranks 0-2`.
pub(crate) fn named(of: &RankSet) -> String {
    let noun = if of.len() == 1 { "Rank" } else { "Ranks" };
    format!("{noun} {}", ranks(of))
}

/// Returns a set of ranks, for the middle of a sentence: `ranks 0-2`.
pub(crate) fn lower(of: &RankSet) -> String {
    let noun = if of.len() == 1 { "rank" } else { "ranks" };
    format!("{noun} {}", ranks(of))
}
