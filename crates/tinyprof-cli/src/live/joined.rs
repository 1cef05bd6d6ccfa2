//! Ranks of several hosts, each of which knows its own.

use tinyprof_format::model::{CallpathValues, EventMap, Profile};

/// Adds the ranks that a profile has to those of others.
pub(super) fn add_ranks(of: &Profile, to: &mut Vec<EventMap>) {
    to.resize_with(to.len().max(of.ranks.len()), EventMap::default);
    for (number, rank) in to.iter_mut().enumerate().take(of.ranks.len()) {
        if rank.callpaths.is_empty() {
            *rank = event_map(of, number);
        }
    }
}

/// Returns the number of ranks that are there.
pub(super) fn count(ranks: &[EventMap]) -> usize {
    ranks.iter().filter(|rank| !rank.callpaths.is_empty()).count()
}

/// Returns what a rank of a profile has measured.
fn event_map(profile: &Profile, rank: usize) -> EventMap {
    let of_rank = |row: &Vec<CallpathValues>| row[rank].clone();
    let values: Vec<CallpathValues> = profile.values.iter().map(of_rank).collect();
    if values.iter().all(|values| *values == CallpathValues::default()) {
        return EventMap::default();
    }
    EventMap { callpaths: profile.callpaths.clone(), values, facts: profile.ranks[rank].clone() }
}
