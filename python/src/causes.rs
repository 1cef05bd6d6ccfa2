//! The causes of waiting of a part's ranks.

use std::collections::HashMap;

use crate::cursor::{Cursor, Damage};
use crate::keys::integers;

/// The facts that this reader knows, and the largest number in any version.
pub(crate) const FACTS: usize = 10;
const FACTS_MAX: usize = 64;
/// The largest number of activities, of costs, and of parts of paths.
const LARGEST: u64 = 1 << 27;
/// The largest rank as it is stored: 2 more than the rank.
const RANK_MAX: u64 = u32::MAX as u64 + 2;

/// The causes of all ranks, rank by rank. Callpaths and ranks are as they are stored; activities
/// are their numbers, and 0 for those that are not kept apart.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    /// Kind, from and to of each activity that any rank has described.
    pub(crate) activities: HashMap<u64, [u64; 3]>,
    /// The ranks that know causes.
    pub(crate) ranks: Vec<u32>,
    /// The facts of these ranks.
    pub(crate) facts: [Vec<u64>; FACTS],
    /// The rank of each cost, then callpath, rank and activity of the cause, and four sums.
    pub(crate) cost_ranks: Vec<u32>,
    pub(crate) costs: [Vec<u64>; 7],
    /// The rank of each part of a path, then rank, activity and time.
    pub(crate) part_ranks: Vec<u32>,
    pub(crate) parts: [Vec<u64>; 3],
}

/// Adds the causes of a part of this number of ranks.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    (first_rank, ranks): (u32, usize),
    callpaths: usize,
    to: &mut Causes,
) -> Result<(), Damage> {
    let start = cursor.clone();
    let activities = cursor.count(LARGEST as usize, "the number of activities")?;
    let numbers = integers(cursor, activities, "the numbers of activities")?;
    if !numbers.is_sorted_by(|a, b| a < b) || numbers.first() == Some(&0) {
        return Err(start.damage("the numbers of activities are not in ascending order"));
    }
    let kinds = integers(cursor, activities, "the kinds of activities")?;
    let from = integers(cursor, activities, "the begins of activities")?;
    let ends = integers(cursor, activities, "the ends of activities")?;
    start.charge(activities.saturating_mul(8), "the activities")?;
    check(&start, [&from, &ends], callpaths as u64, "an activity is of no callpath")?;
    for (at, &number) in numbers.iter().enumerate() {
        if (1..=3).contains(&kinds[at]) {
            to.activities.insert(number, [kinds[at], from[at], ends[at]]);
        }
    }
    let count = cursor.count(FACTS_MAX, "the number of facts of causes")?;
    let mut facts: [Vec<u64>; FACTS] = std::array::from_fn(|_| vec![0; ranks]);
    for fact in 0..count {
        let column = integers(cursor, ranks, "a fact of causes")?;
        if let Some(known) = facts.get_mut(fact) {
            *known = column;
        }
    }
    let has_causes = integers(cursor, ranks, "which ranks know causes")?;
    let costs = integers(cursor, ranks, "the numbers of costs")?;
    let parts = integers(cursor, ranks, "the numbers of parts of paths")?;
    for rank in (0..ranks).filter(|&rank| has_causes[rank] > 0) {
        to.ranks.push(first_rank.saturating_add(rank as u32));
        to.facts.iter_mut().zip(&facts).for_each(|(to, of)| to.push(of[rank]));
    }
    let of_costs = columns::<7>(cursor, total(&start, &costs)?, "the costs")?;
    let of_parts = columns::<3>(cursor, total(&start, &parts)?, "the parts of paths")?;
    let reason = "a cause is of no rank, no activity or no callpath";
    check(&start, [&of_costs[0]], callpaths as u64, reason)?;
    check(&start, [&of_costs[1], &of_parts[0]], RANK_MAX, reason)?;
    check(&start, [&of_costs[2], &of_parts[1]], activities as u64, reason)?;
    extend(first_rank, &costs, &mut to.cost_ranks);
    extend(first_rank, &parts, &mut to.part_ranks);
    let number = |position: u64| match position {
        0 => 0,
        position => numbers[position as usize - 1],
    };
    for (at, (to, mut column)) in to.costs.iter_mut().zip(of_costs).enumerate() {
        if at == 2 {
            column.iter_mut().for_each(|position| *position = number(*position));
        }
        to.append(&mut column);
    }
    for (at, (to, mut column)) in to.parts.iter_mut().zip(of_parts).enumerate() {
        if at == 1 {
            column.iter_mut().for_each(|position| *position = number(*position));
        }
        to.append(&mut column);
    }
    cursor.finish("a section")
}

fn columns<const N: usize>(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
) -> Result<[Vec<u64>; N], Damage> {
    let mut found = std::array::from_fn(|_| Vec::new());
    for column in &mut found {
        *column = integers(cursor, count, what)?;
    }
    Ok(found)
}

fn total(start: &Cursor<'_>, counts: &[u64]) -> Result<usize, Damage> {
    let sum = counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
    match sum.filter(|&sum| sum <= LARGEST) {
        Some(sum) => Ok(sum as usize),
        None => Err(start.damage("ranks claim more causes than can be")),
    }
}

fn check<const N: usize>(
    start: &Cursor<'_>,
    columns: [&Vec<u64>; N],
    most: u64,
    reason: &str,
) -> Result<(), Damage> {
    if columns.iter().any(|column| column.iter().any(|&number| number > most)) {
        return Err(start.damage(reason));
    }
    Ok(())
}

/// Adds each rank as often as its count says. The sum of the counts is bounded.
fn extend(first_rank: u32, counts: &[u64], ranks: &mut Vec<u32>) {
    for (rank, &count) in (first_rank..).zip(counts) {
        ranks.extend(std::iter::repeat_n(rank, count as usize));
    }
}
