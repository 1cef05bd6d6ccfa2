//! The reader of a section of messages and edges.

use std::ops::RangeInclusive;

use super::super::keys::{self, un_zigzag};
use super::rank_sets::FoundSets;
use super::{numbers, rows};
use crate::bytes::{Cursor, Malformed, column};
use crate::model::{
    CallpathId, CallpathTable, CallpathValues, Edge, EdgeKey, EdgeKind, MessageKey, MessageKind,
    Traffic,
};

/// The values to which the messages and edges of a section are added.
pub(in crate::file) trait Targets {
    /// Returns the number of the part's ranks.
    fn ranks(&self) -> usize;

    /// Returns the values by rank of the callpath in a row; none if it is left out.
    ///
    /// # Errors
    /// If there is no memory for them.
    fn of_row(
        &mut self,
        cursor: &Cursor<'_>,
        row: usize,
    ) -> Result<Option<&mut [CallpathValues]>, Malformed>;
}

/// A slice of values for each row from `first` on; other callpaths are left out.
pub(in crate::file) struct Slices<'a, 'b> {
    pub(in crate::file) first: usize,
    pub(in crate::file) values: &'a mut [&'b mut [CallpathValues]],
}

impl Targets for Slices<'_, '_> {
    fn ranks(&self) -> usize {
        self.values.first().map_or(0, |of_ranks| of_ranks.len())
    }

    fn of_row(
        &mut self,
        _: &Cursor<'_>,
        row: usize,
    ) -> Result<Option<&mut [CallpathValues]>, Malformed> {
        let at = row.checked_sub(self.first);
        Ok(at.and_then(|at| self.values.get_mut(at)).map(|of_ranks| &mut **of_ranks))
    }
}

/// Adds the messages and edges of a section to the values of the part's ranks. `rows` are those
/// that may be in it, up to its key.
pub(in crate::file) fn decode_section(
    cursor: &mut Cursor<'_>,
    rows: RangeInclusive<usize>,
    dictionary: &CallpathTable,
    targets: &mut dyn Targets,
) -> Result<(), Malformed> {
    let ranks = targets.ranks();
    let callpaths = read_rows(cursor, &rows)?;
    let message_keys = read_ends(cursor, callpaths.len(), "messages")?;
    let edge_keys = read_ends(cursor, callpaths.len(), "edges")?;
    let sets = FoundSets::read(cursor, ranks)?;
    let messages = Keys::read(cursor, message_keys, &sets, "messages")?;
    let edges = Keys::read(cursor, edge_keys, &sets, "edges")?;
    let origins = Origins { dictionary, unknown: read_unknown(cursor)? };
    let mut start = cursor.clone();
    let of_messages: Vec<rows::MessageRow> =
        messages.read_numbers(cursor, &rows::OF_MESSAGES, "the messages")?;
    let of_edges: Vec<rows::EdgeRow> = edges.read_numbers(cursor, &rows::OF_EDGES, "the edges")?;
    let mut of_messages = of_messages.iter();
    let mut of_edges = of_edges.iter();
    for (at, &row) in callpaths.iter().enumerate() {
        let mut target = targets.of_row(&start, row)?;
        for key in messages.of_callpath(at) {
            let found = message_key(key.stored)
                .ok_or_else(|| start.malformed("the key of a message is not a key"))?;
            for (rank, row) in sets.ranks(key.set).zip(of_messages.by_ref()) {
                let traffic = rows::to_message(row)
                    .ok_or_else(|| start.malformed("the bytes of messages do not fit 64 bits"))?;
                if let Some(of_ranks) = &mut target {
                    insert_message(&mut start, &mut of_ranks[rank], found, traffic)?;
                }
            }
        }
        for key in edges.of_callpath(at) {
            let found = origins
                .edge_key(key.stored)
                .ok_or_else(|| start.malformed("the key of an edge is not a key"))?;
            for (rank, row) in sets.ranks(key.set).zip(of_edges.by_ref()) {
                if let Some(of_ranks) = &mut target {
                    insert_edge(&mut start, &mut of_ranks[rank], found, row)?;
                }
            }
        }
    }
    Ok(())
}

fn insert_message(
    cursor: &mut Cursor<'_>,
    values: &mut CallpathValues,
    key: MessageKey,
    traffic: Traffic,
) -> Result<(), Malformed> {
    let memory = keys::memory_of::<MessageKey, Traffic>(values.messages.is_empty());
    cursor.claim_kept(1, memory, "the messages")?;
    values.messages.insert(key, traffic);
    Ok(())
}

fn insert_edge(
    cursor: &mut Cursor<'_>,
    values: &mut CallpathValues,
    key: EdgeKey,
    row: &rows::EdgeRow,
) -> Result<(), Malformed> {
    let expected = rows::received(&key)
        .and_then(|keys| rows::expected(values.messages.range(keys).map(|(_, traffic)| *traffic)));
    let edge = rows::to_edge(key.kind, row, expected)
        .ok_or_else(|| cursor.malformed("a number of an edge does not fit"))?;
    let memory = keys::memory_of::<EdgeKey, Edge>(values.edges.is_empty());
    cursor.claim_kept(1, memory, "the edges")?;
    values.edges.insert(key, edge);
    Ok(())
}

/// Reads the rows of the callpaths, ascending.
fn read_rows(
    cursor: &mut Cursor<'_>,
    rows: &RangeInclusive<usize>,
) -> Result<Vec<usize>, Malformed> {
    let start = cursor.clone();
    let most = (rows.end() + 1).saturating_sub(*rows.start());
    let count = cursor.count(most, "the number of callpaths with messages")?;
    let gaps = column::read_u64(cursor, count, "the callpaths with messages")?;
    cursor.claim_temporary(count, size_of::<usize>(), "the callpaths with messages")?;
    let mut callpaths = Vec::with_capacity(count);
    let mut next = Some(*rows.end());
    for gap in gaps.into_iter().rev() {
        let row = usize::try_from(gap).ok().and_then(|gap| next?.checked_sub(gap));
        let Some(row) = row.filter(|row| rows.contains(row)) else {
            return Err(start.malformed("messages or edges are of a callpath of another section"));
        };
        callpaths.push(row);
        next = row.checked_sub(1);
    }
    callpaths.reverse();
    Ok(callpaths)
}

/// Reads the numbers of keys of the callpaths. Returns the position behind the last key of each.
fn read_ends(
    cursor: &mut Cursor<'_>,
    callpaths: usize,
    what: &str,
) -> Result<Vec<usize>, Malformed> {
    let start = cursor.clone();
    let of_callpaths = column::read_u64(cursor, callpaths, what)?;
    cursor.claim_temporary(callpaths, size_of::<usize>(), what)?;
    let mut total = 0_usize;
    let ends = of_callpaths.into_iter().map(|count| {
        total = total.checked_add(usize::try_from(count).ok()?)?;
        Some(total)
    });
    let ends: Option<Vec<usize>> = ends.collect();
    ends.filter(|_| total <= column::MAX_VALUES)
        .ok_or_else(|| start.malformed(format!("{what} claim more keys than can be")))
}

fn read_unknown(cursor: &mut Cursor<'_>) -> Result<Vec<CallpathId>, Malformed> {
    let count = cursor.count(cursor.remaining() / 8, "the number of unknown origins")?;
    cursor.claim_temporary(count, size_of::<CallpathId>(), "the unknown origins")?;
    (0..count).map(|_| Ok(CallpathId::from_bits(cursor.u64("an unknown origin")?))).collect()
}

/// A key with the number of its set of ranks.
#[derive(Clone, Copy, Debug)]
struct Key {
    stored: (u64, i32, u64),
    set: u64,
}

/// The keys of all callpaths of a section.
#[derive(Debug)]
struct Keys {
    keys: Vec<Key>,
    /// The position behind the last key of each callpath.
    ends: Vec<usize>,
    /// The number of ranks of each key.
    lengths: Vec<usize>,
}

impl Keys {
    fn read(
        cursor: &mut Cursor<'_>,
        ends: Vec<usize>,
        sets: &FoundSets,
        what: &str,
    ) -> Result<Self, Malformed> {
        let start = cursor.clone();
        let total = ends.last().copied().unwrap_or(0);
        let kinds = column::read_u64(cursor, total, what)?;
        let partners = column::read_u64(cursor, total, what)?;
        let thirds = column::read_u64(cursor, total, what)?;
        let of_sets = column::read_u64(cursor, total, what)?;
        cursor.claim_temporary(total, size_of::<Key>() + size_of::<usize>(), what)?;
        let mut keys: Vec<Key> = Vec::with_capacity(total);
        let mut lengths = Vec::with_capacity(total);
        let mut values = 0_usize;
        for at in 0..total {
            let Ok(partner) = i32::try_from(un_zigzag(partners[at])) else {
                return Err(start.malformed(format!("the partners of {what} do not fit 32 bits")));
            };
            let Some(length) = sets.length(of_sets[at]) else {
                return Err(start.malformed(format!("{what} have ranks of no set")));
            };
            values = values.saturating_add(length);
            lengths.push(length);
            keys.push(Key { stored: (kinds[at], partner, thirds[at]), set: of_sets[at] });
        }
        if values > column::MAX_VALUES {
            return Err(start.malformed(format!("{what} claim more ranks than can be")));
        }
        let keys = Self { keys, ends, lengths };
        let ascend = |at| keys.of_callpath(at).is_sorted_by(|a, b| a.stored < b.stored);
        if !(0..keys.ends.len()).all(ascend) {
            return Err(start.malformed(format!("the keys of {what} are not in ascending order")));
        }
        Ok(keys)
    }

    /// Returns the keys of the callpath at a position of the section.
    fn of_callpath(&self, at: usize) -> std::slice::Iter<'_, Key> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.keys[start..self.ends[at]].iter()
    }

    fn read_numbers<const N: usize>(
        &self,
        cursor: &mut Cursor<'_>,
        names: &[&str; N],
        what: &str,
    ) -> Result<Vec<[u64; N]>, Malformed> {
        let total = self.lengths.iter().sum();
        cursor.claim_temporary(total, size_of::<[u64; N]>(), what)?;
        let mut rows = vec![[0; N]; total];
        for (number, name) in names.iter().enumerate() {
            let column = cursor.passing(|cursor| numbers::read(cursor, &self.lengths, name))?;
            rows.iter_mut().zip(column).for_each(|(row, value)| row[number] = value);
        }
        Ok(rows)
    }
}

fn message_key((kind, partner, size_class): (u64, i32, u64)) -> Option<MessageKey> {
    let kind = MessageKind::from_number(u8::try_from(kind).ok()?)?;
    let size_class = u8::try_from(size_class).ok()?;
    (size_class < MessageKey::SIZE_CLASSES).then_some(MessageKey { kind, partner, size_class })
}

/// The callpaths that edges come from.
struct Origins<'a> {
    dictionary: &'a CallpathTable,
    unknown: Vec<CallpathId>,
}

impl Origins<'_> {
    fn edge_key(&self, (kind, partner, origin): (u64, i32, u64)) -> Option<EdgeKey> {
        let kind = EdgeKind::from_number(u8::try_from(kind).ok()?)?;
        let rows = self.dictionary.rows();
        let from = match usize::try_from(origin).ok()?.checked_sub(1) {
            None => EdgeKey::UNKNOWN,
            Some(row) if row < rows.len() => rows[row].id,
            Some(row) => *self.unknown.get(row - rows.len())?,
        };
        Some(EdgeKey { kind, partner, from })
    }
}
