//! The head of a section of messages and edges: its callpaths, sets of ranks, and keys.

use std::ops::Range;

use crate::column;
use crate::cursor::{Cursor, Damage};

/// The largest number of keys, of runs, and of the ranks of all keys.
const KEYS_MAX: usize = 1 << 27;

/// Reads a column of `count` integers.
pub(crate) fn integers(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
) -> Result<Vec<u64>, Damage> {
    let mut values = Vec::new();
    column::integers(cursor, count, what, &mut values).map(|()| values)
}

/// The callpaths of a section, and how many keys each has.
#[derive(Debug)]
pub(crate) struct Callpaths {
    /// The rows, ascending.
    pub(crate) rows: Vec<usize>,
    pub(crate) messages: Vec<usize>,
    pub(crate) edges: Vec<usize>,
}

impl Callpaths {
    /// Reads the callpaths of a section, which are among `rows`.
    pub(crate) fn read(cursor: &mut Cursor<'_>, rows: &Range<usize>) -> Result<Self, Damage> {
        let start = cursor.clone();
        let count = cursor.count(rows.len(), "the number of callpaths with messages")?;
        let gaps = integers(cursor, count, "the callpaths with messages")?;
        let mut found = vec![0; count];
        let mut end = rows.end as u64;
        for (row, gap) in found.iter_mut().zip(gaps).rev() {
            let place = end.checked_sub(gap).and_then(|after| after.checked_sub(1));
            let Some(place) = place.filter(|&place| place >= rows.start as u64) else {
                return Err(start.damage("messages are of a callpath of another section"));
            };
            (*row, end) = (place as usize, place);
        }
        let messages = counts(cursor, count, "the keys of messages")?;
        let edges = counts(cursor, count, "the keys of edges")?;
        Ok(Self { rows: found, messages, edges })
    }
}

/// Reads a column whose numbers have a sum that is a possible number of keys.
fn counts(cursor: &mut Cursor<'_>, count: usize, what: &str) -> Result<Vec<usize>, Damage> {
    let start = cursor.clone();
    let counts = integers(cursor, count, what)?;
    let sum = counts.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    if sum.is_none_or(|sum| sum > KEYS_MAX as u64) {
        return Err(start.damage(format!("{what} are too many")));
    }
    start.charge(count, what)?;
    Ok(counts.into_iter().map(|n| n as usize).collect())
}

/// The sets of ranks of a section, each as runs of neighbouring ranks.
#[derive(Debug)]
pub(crate) struct Sets(Vec<Vec<Range<u32>>>);

impl Sets {
    /// Reads the sets of a part with this number of ranks.
    pub(crate) fn read(cursor: &mut Cursor<'_>, ranks: usize) -> Result<Self, Damage> {
        let start = cursor.clone();
        let sets = cursor.count(KEYS_MAX, "the number of sets of ranks")?;
        let runs = counts(cursor, sets, "the runs of ranks")?;
        let total = runs.iter().sum();
        let gaps = integers(cursor, total, "the gaps between runs of ranks")?;
        let lengths = integers(cursor, total, "the lengths of runs of ranks")?;
        start.charge(total.saturating_add(sets.saturating_mul(3)), "the sets of ranks")?;
        let mut numbers = gaps.into_iter().zip(lengths);
        let mut found = Vec::with_capacity(sets);
        for runs in runs {
            let mut set: Vec<Range<u32>> = Vec::with_capacity(runs);
            for (gap, length) in numbers.by_ref().take(runs) {
                let before = set.last().map_or(0, |run| run.end);
                let first = u64::from(before).checked_add(gap);
                let end = first.and_then(|first| first.checked_add(length));
                match (first, end) {
                    (Some(first), Some(end)) if first < end && end <= ranks as u64 => {
                        set.push(first as u32..end as u32);
                    }
                    _ => return Err(start.damage("a run has ranks that are not in the part")),
                }
            }
            if set.is_empty() {
                return Err(start.damage("a set of ranks is empty"));
            }
            found.push(set);
        }
        Ok(Self(found))
    }

    /// Returns the ranks of a set in the part.
    pub(crate) fn ranks(&self, set: usize) -> impl Iterator<Item = u32> {
        self.0[set].iter().cloned().flatten()
    }

    fn length(&self, set: u64) -> Option<usize> {
        let set = self.0.get(usize::try_from(set).ok()?)?;
        Some(set.iter().map(|run| run.len()).sum())
    }
}

/// A key of messages or edges as it is stored.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) kind: u64,
    pub(crate) partner: i32,
    /// The size class or the origin.
    pub(crate) third: u64,
    /// The number of the set of its ranks.
    pub(crate) set: usize,
}

/// The limits of the numbers of a key: kinds, and size classes or origins.
pub(crate) type Limits = (u64, u64);

/// Reads the keys of callpaths which have this many each. Returns them with the number of ranks of
/// each.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    of_callpaths: &[usize],
    sets: &Sets,
) -> Result<(Vec<Key>, Vec<usize>), Damage> {
    let start = cursor.clone();
    let total = of_callpaths.iter().sum();
    let kinds = integers(cursor, total, "the kinds of keys")?;
    let partners = integers(cursor, total, "the partners of keys")?;
    let thirds = integers(cursor, total, "the size classes or origins of keys")?;
    let of_sets = integers(cursor, total, "the sets of ranks of keys")?;
    start.charge(total.saturating_mul(5), "the keys")?;
    let (mut keys, mut lengths) = (Vec::with_capacity(total), Vec::with_capacity(total));
    let mut values = 0_usize;
    for at in 0..total {
        let Ok(partner) = i32::try_from(un_zigzag(partners[at])) else {
            return Err(start.damage("a partner is above its limit"));
        };
        let Some(length) = sets.length(of_sets[at]) else {
            return Err(start.damage("a key has a set of ranks that is not there"));
        };
        values = values.saturating_add(length);
        lengths.push(length);
        let set = of_sets[at] as usize;
        keys.push(Key { kind: kinds[at], partner, third: thirds[at], set });
    }
    if values > KEYS_MAX {
        return Err(start.damage("keys claim more ranks than are possible"));
    }
    let mut rest = keys.as_slice();
    for &count in of_callpaths {
        let (of_one, after) = rest.split_at(count);
        let number = |key: &Key| (key.kind, key.partner, key.third);
        if of_one.windows(2).any(|pair| number(&pair[0]) >= number(&pair[1])) {
            return Err(start.damage("the keys of a callpath are not in ascending order"));
        }
        rest = after;
    }
    Ok((keys, lengths))
}

/// Returns an error unless all keys are within the limits.
pub(crate) fn check(keys: &[Key], (kinds, thirds): Limits, at: &Cursor<'_>) -> Result<(), Damage> {
    if keys.iter().any(|key| key.kind >= kinds || key.third >= thirds) {
        return Err(at.damage("a key of messages or edges has a number above its limit"));
    }
    Ok(())
}

/// Reads one number for each rank of each key. `lengths` gives the number of ranks of each key.
pub(crate) fn numbers(
    cursor: &mut Cursor<'_>,
    lengths: &[usize],
    what: &str,
) -> Result<Vec<u64>, Damage> {
    let start = cursor.clone();
    let total = lengths.iter().sum();
    match cursor.u8(what)? {
        0 => cursor.charge(total, what).map(|()| vec![0; total]),
        1 => integers(cursor, total, what),
        2 => {
            let least = integers(cursor, lengths.len(), what)?;
            let mut numbers = integers(cursor, total, what)?;
            let mut rest = numbers.as_mut_slice();
            for (least, &length) in least.into_iter().zip(lengths) {
                let (of_key, after) = rest.split_at_mut(length);
                of_key.iter_mut().for_each(|number| *number = number.wrapping_add(least));
                rest = after;
            }
            Ok(numbers)
        }
        3 => {
            let mut numbers = Vec::new();
            for &length in lengths {
                column::integers(cursor, length, what, &mut numbers)?;
            }
            Ok(numbers)
        }
        4 => usual(cursor, lengths, what),
        tag => Err(start.damage(format!("{what}: layout {tag} is none"))),
    }
}

/// Reads numbers of which most ranks of a key have the same, and the others, which are in sets of
/// positions among the ranks of their key.
fn usual(cursor: &mut Cursor<'_>, lengths: &[usize], what: &str) -> Result<Vec<u64>, Damage> {
    let start = cursor.clone();
    let sets = Sets::read(cursor, lengths.iter().copied().max().unwrap_or(0))?;
    let usual = integers(cursor, lengths.len(), what)?;
    let others_of = counts(cursor, lengths.len(), what)?;
    let total: usize = lengths.iter().sum();
    let count: usize = others_of.iter().sum();
    if count > total {
        return Err(start.damage(format!("{what}: more sets of others than ranks")));
    }
    let of_sets = integers(cursor, count, what)?;
    let others = integers(cursor, count, what)?;
    start.charge(total, what)?;
    let mut numbers = Vec::with_capacity(total);
    let mut others = of_sets.into_iter().zip(others);
    for ((&length, usual), count) in lengths.iter().zip(usual).zip(others_of) {
        let first = numbers.len();
        numbers.resize(first + length, usual);
        let mut left = length;
        for (set, other) in others.by_ref().take(count) {
            let wrong = || start.damage(format!("{what}: a set of others is not of the key"));
            let ranks = sets.length(set).ok_or_else(wrong)?;
            left = left.checked_sub(ranks).ok_or_else(wrong)?;
            for position in sets.ranks(set as usize) {
                let number = numbers[first..].get_mut(position as usize).ok_or_else(wrong)?;
                *number = other;
            }
        }
    }
    Ok(numbers)
}

/// Returns 0, -1, 1, -2, ... for 0, 1, 2, 3, ...
pub(crate) const fn un_zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}
