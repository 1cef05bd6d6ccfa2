//! The causes of waiting of a part's ranks: the last section, left out where no rank knows any.
//!
//! ```text
//! activities (a varint)
//! numbers | kinds | from | to                one for each activity, in ascending order of numbers
//! facts (a varint), then a column for each   one for each rank
//! has causes | costs | parts of the path     one for each rank
//! callpath | rank | activity | direct ns | direct waits | propagated ns | propagated waits
//!                                            one for each cost of each rank
//! rank | activity | ns                       one for each part of the path of each rank
//! ```
//!
//! `from`, `to` and `callpath` are 0 or 1 more than a row. A rank is 0 for waiting that nothing
//! explains, 1 for causes that were too small to be kept, or 2 more than the rank in the world. An
//! activity is 0 or 1 more than its position in the list.

mod decode;
mod message;
#[cfg(test)]
pub(super) mod tests;

use std::collections::{BTreeMap, HashMap};

pub(super) use decode::{decode_activities, decode_section};
pub(super) use message::{length, read_message, write_message};

use crate::bytes::{Sink, column};
use crate::model::{
    Activities, Activity, CallpathId, CallpathTable, Cause, CauseFacts, DelayCost, EdgeKey,
    PathPart, RankCauses, RankFacts,
};

/// The kinds of activities as they are stored; one that no rank of the part has described.
const UNKNOWN: u64 = 0;
const EXCLUSIVE: u64 = 1;
const GAP: u64 = 2;
const CALL: u64 = 3;
/// The ranks that are none, as they are stored, and what is added to others.
const NOBODY: u64 = 0;
const OTHER: u64 = 1;
const RANKS: u64 = 2;

/// Returns kind, from and to of an activity.
fn stored(activity: Activity) -> (u64, CallpathId, CallpathId) {
    match activity {
        Activity::Exclusive(callpath) => (EXCLUSIVE, EdgeKey::UNKNOWN, callpath),
        Activity::Gap { from, to } => (GAP, from, to),
        Activity::Call(callpath) => (CALL, EdgeKey::UNKNOWN, callpath),
    }
}

/// Returns the activity of kind, from and to, if there is such a kind.
fn activity((kind, from, to): (u64, CallpathId, CallpathId)) -> Option<Activity> {
    match kind {
        EXCLUSIVE => Some(Activity::Exclusive(to)),
        GAP => Some(Activity::Gap { from, to }),
        CALL => Some(Activity::Call(to)),
        _ => None,
    }
}

/// Returns a cause as the rank that is stored, and the number of the activity.
fn stored_cause(cause: Cause) -> (u64, u64) {
    match cause {
        Cause::Activity { rank, number } => (u64::from(rank) + RANKS, number),
        Cause::Unexplained => (NOBODY, 0),
        Cause::Other => (OTHER, 0),
    }
}

fn cause(rank: u64, number: u64) -> Option<Cause> {
    match rank {
        NOBODY => Some(Cause::Unexplained),
        OTHER => Some(Cause::Other),
        _ => u32::try_from(rank - RANKS).ok().map(|rank| Cause::Activity { rank, number }),
    }
}

/// Encodes the section of ranks; none if no rank knows any causes.
pub(super) fn encode_section(ranks: &[RankFacts], dictionary: &CallpathTable) -> Option<Vec<u8>> {
    let known: Vec<Option<&RankCauses>> =
        ranks.iter().map(|facts| facts.causes.as_deref()).collect();
    if known.iter().all(Option::is_none) {
        return None;
    }
    let rows = dictionary.iter().map(|(index, callpath)| (callpath.id, index.row() as u64 + 1));
    let rows: HashMap<CallpathId, u64> = rows.collect();
    let row = |id: CallpathId| match id {
        EdgeKey::UNKNOWN => Some(0),
        id => rows.get(&id).copied(),
    };
    let mut sink = Sink::default();
    let of_ranks = || known.iter().flatten().copied();
    let positions = encode_activities(&mut sink, &known, &row);
    sink.varint(CauseFacts::COUNT as u64);
    let mut numbers = |numbers: Vec<u64>| column::write_u64(&mut sink, &numbers);
    let mut by_rank = |of: &dyn Fn(&RankCauses) -> u64| {
        numbers(known.iter().map(|known| known.map_or(0, of)).collect());
    };
    for fact in 0..CauseFacts::COUNT {
        by_rank(&|causes| causes.facts.named()[fact].1);
    }
    by_rank(&|_| 1);
    by_rank(&|causes| causes.costs.len() as u64);
    by_rank(&|causes| causes.path.len() as u64);
    let position = |number: u64| positions.get(&number).copied().unwrap_or(0);
    let mut by_cost = |of: &dyn Fn(&DelayCost) -> u64| {
        numbers(of_ranks().flat_map(|causes| &causes.costs).map(of).collect());
    };
    by_cost(&|cost| row(cost.callpath).unwrap_or(0));
    by_cost(&|cost| stored_cause(cost.cause).0);
    by_cost(&|cost| position(stored_cause(cost.cause).1));
    by_cost(&|cost| cost.direct.ns);
    by_cost(&|cost| cost.direct.count);
    by_cost(&|cost| cost.propagated.ns);
    by_cost(&|cost| cost.propagated.count);
    let mut by_part = |of: &dyn Fn(&PathPart) -> u64| {
        numbers(of_ranks().flat_map(|causes| &causes.path).map(of).collect());
    };
    by_part(&|part| stored_cause(part.cause).0);
    by_part(&|part| position(stored_cause(part.cause).1));
    by_part(&|part| part.ns);
    Some(sink.into_vec())
}

/// Appends the activities that ranks describe or name. Returns their positions by number, plus 1.
fn encode_activities(
    sink: &mut Sink,
    ranks: &[Option<&RankCauses>],
    row: &dyn Fn(CallpathId) -> Option<u64>,
) -> HashMap<u64, u64> {
    let mut all: BTreeMap<u64, [u64; 3]> = BTreeMap::new();
    for causes in ranks.iter().flatten() {
        for (number, activity) in &*causes.activities {
            let (kind, from, to) = stored(*activity);
            // One of a callpath that the dictionary does not have is as good as unknown.
            if let (Some(from), Some(to)) = (row(from), row(to)) {
                all.insert(*number, [kind, from, to]);
            }
        }
        let costs = causes.costs.iter().map(|cost| cost.cause);
        for cause in costs.chain(causes.path.iter().map(|part| part.cause)) {
            all.entry(stored_cause(cause).1).or_insert([UNKNOWN, 0, 0]);
        }
    }
    all.remove(&0);
    sink.varint(all.len() as u64);
    column::write_u64(sink, &all.keys().copied().collect::<Vec<_>>());
    for at in 0..3 {
        column::write_u64(sink, &all.values().map(|stored| stored[at]).collect::<Vec<_>>());
    }
    all.into_keys().zip(1..).collect()
}

/// Gives all ranks the activities that any of them has described.
pub(super) fn share_activities(ranks: &mut [RankFacts]) {
    let mut known = ranks.iter().filter_map(|facts| facts.causes.as_deref());
    let Some(first) = known.next() else { return };
    let mut all = first.activities.clone();
    for causes in known {
        if !std::sync::Arc::ptr_eq(&all, &causes.activities) {
            let theirs: Vec<_> = causes.activities.iter().map(|(n, a)| (*n, *a)).collect();
            std::sync::Arc::<Activities>::make_mut(&mut all).extend(theirs);
        }
    }
    for causes in ranks.iter_mut().filter_map(|facts| facts.causes.as_deref_mut()) {
        causes.activities = all.clone();
    }
}
