//! The reader of the section.

use std::sync::Arc;

use super::{activity, cause};
use crate::bytes::{Cursor, Malformed, column};
use crate::model::{
    Activities, Activity, CallpathId, CallpathTable, Cause, CauseFacts, DelayCost, EdgeKey,
    PathPart, RankCauses, Waited,
};

/// The largest number of facts accepted, so that a damaged number does not cause much work.
const FACTS_MAX: usize = 64;

/// The activities of a section: their numbers, and what is known of them.
struct Described {
    numbers: Vec<u64>,
    known: Activities,
}

/// Reads the activities that the ranks of a part have described, and nothing else of the section.
pub(in crate::file) fn decode_activities(
    cursor: &mut Cursor<'_>,
    dictionary: &CallpathTable,
) -> Result<Activities, Malformed> {
    Described::read(cursor, dictionary).map(|described| described.known)
}

/// Reads the section of a part of this number of ranks: the causes of each, none where it knows
/// none.
pub(in crate::file) fn decode_section(
    cursor: &mut Cursor<'_>,
    ranks: usize,
    dictionary: &CallpathTable,
) -> Result<Vec<Option<Box<RankCauses>>>, Malformed> {
    let described = Described::read(cursor, dictionary)?;
    let count = cursor.count(FACTS_MAX, "the number of facts of causes")?;
    cursor.claim_temporary(ranks, size_of::<CauseFacts>(), "the facts of causes")?;
    let mut facts = vec![[0; CauseFacts::COUNT]; ranks];
    for fact in 0..count {
        let column =
            cursor.passing(|cursor| column::read_u64(cursor, ranks, "a fact of causes"))?;
        for (facts, number) in facts.iter_mut().zip(column) {
            if let Some(found) = facts.get_mut(fact) {
                *found = number;
            }
        }
    }
    let has_causes = column::read_u64(cursor, ranks, "which ranks know causes")?;
    let costs = column::read_u64(cursor, ranks, "the numbers of costs")?;
    let parts = column::read_u64(cursor, ranks, "the numbers of parts of paths")?;
    let all_costs = read_costs(cursor, total(cursor, &costs)?, &described, dictionary)?;
    let all_parts = read_parts(cursor, total(cursor, &parts)?, &described)?;
    let known = Arc::new(described.known);
    cursor.claim_kept(ranks, size_of::<RankCauses>(), "the causes of the ranks")?;
    let (mut costs_left, mut parts_left) = (all_costs.into_iter(), all_parts.into_iter());
    let of_rank = |rank: usize| {
        let take = |count: u64| usize::try_from(count).unwrap_or(0);
        let costs = costs_left.by_ref().take(take(costs[rank])).collect();
        let path = parts_left.by_ref().take(take(parts[rank])).collect();
        (has_causes[rank] > 0).then(|| {
            let facts = CauseFacts::from_numbers(facts[rank]);
            Box::new(RankCauses { activities: Arc::clone(&known), costs, path, facts })
        })
    };
    Ok((0..ranks).map(of_rank).collect())
}

fn total(cursor: &Cursor<'_>, counts: &[u64]) -> Result<usize, Malformed> {
    let total = counts.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
    let total = total.and_then(|total| usize::try_from(total).ok());
    total
        .filter(|total| *total <= column::MAX_VALUES)
        .ok_or_else(|| cursor.malformed("ranks claim more causes than can be"))
}

fn read_costs(
    cursor: &mut Cursor<'_>,
    total: usize,
    described: &Described,
    dictionary: &CallpathTable,
) -> Result<Vec<DelayCost>, Malformed> {
    cursor.claim_kept(total, size_of::<DelayCost>(), "the costs")?;
    let start = cursor.clone();
    cursor.passing(|cursor| {
        let callpaths = column::read_u64(cursor, total, "the callpaths of costs")?;
        let causes = read_causes(cursor, total, described)?;
        let names = ["direct waiting", "direct waits", "propagated waiting", "propagated waits"];
        let mut sums = Vec::with_capacity(names.len());
        for name in names {
            sums.push(column::read_u64(cursor, total, name)?);
        }
        let cost = |(at, cause): (usize, Cause)| {
            let waited = |sum: usize| Waited { ns: sums[sum][at], count: sums[sum + 1][at] };
            let callpath = callpath(&start, dictionary, callpaths[at])?;
            Ok(DelayCost { callpath, cause, direct: waited(0), propagated: waited(2) })
        };
        causes.into_iter().enumerate().map(cost).collect()
    })
}

fn read_parts(
    cursor: &mut Cursor<'_>,
    total: usize,
    described: &Described,
) -> Result<Vec<PathPart>, Malformed> {
    cursor.claim_kept(total, size_of::<PathPart>(), "the parts of paths")?;
    cursor.passing(|cursor| {
        let causes = read_causes(cursor, total, described)?;
        let ns = column::read_u64(cursor, total, "the times of parts of paths")?;
        Ok(causes.into_iter().zip(ns).map(|(cause, ns)| PathPart { cause, ns }).collect())
    })
}

fn read_causes(
    cursor: &mut Cursor<'_>,
    total: usize,
    described: &Described,
) -> Result<Vec<Cause>, Malformed> {
    let start = cursor.clone();
    let ranks = column::read_u64(cursor, total, "the ranks of causes")?;
    let positions = column::read_u64(cursor, total, "the activities of causes")?;
    cursor.claim_temporary(total, size_of::<Cause>(), "the causes")?;
    let cause = |(rank, position): (u64, u64)| {
        let number = match usize::try_from(position).ok()?.checked_sub(1) {
            None => 0,
            Some(position) => *described.numbers.get(position)?,
        };
        cause(rank, number)
    };
    let causes: Option<Vec<Cause>> = ranks.into_iter().zip(positions).map(cause).collect();
    causes.ok_or_else(|| start.malformed("a cause is of no rank or of no activity"))
}

impl Described {
    fn read(cursor: &mut Cursor<'_>, dictionary: &CallpathTable) -> Result<Self, Malformed> {
        let start = cursor.clone();
        let count = cursor.count(column::MAX_VALUES, "the number of activities")?;
        let numbers = column::read_u64(cursor, count, "the numbers of activities")?;
        if !numbers.is_sorted_by(|a, b| a < b) || numbers.first() == Some(&0) {
            return Err(start.malformed("the numbers of activities are not in ascending order"));
        }
        let kinds = column::read_u64(cursor, count, "the kinds of activities")?;
        let from = column::read_u64(cursor, count, "the begins of activities")?;
        let to = column::read_u64(cursor, count, "the ends of activities")?;
        cursor.claim_kept(count, 3 * size_of::<(u64, Activity)>(), "the activities")?;
        let mut known = Activities::new();
        for (at, number) in numbers.iter().enumerate() {
            let [from, to] = [from[at], to[at]].map(|row| callpath(&start, dictionary, row));
            // Kinds of later versions are as good as unknown.
            if let Some(activity) = activity((kinds[at], from?, to?)) {
                known.insert(*number, activity);
            }
        }
        Ok(Self { numbers, known })
    }
}

fn callpath(
    start: &Cursor<'_>,
    dictionary: &CallpathTable,
    stored: u64,
) -> Result<CallpathId, Malformed> {
    let row = usize::try_from(stored).ok().map(|stored| stored.checked_sub(1));
    match row {
        Some(None) => Ok(EdgeKey::UNKNOWN),
        Some(Some(row)) if row < dictionary.len() => Ok(dictionary.rows()[row].id),
        _ => Err(start.malformed("a cause or an activity is of no callpath")),
    }
}
