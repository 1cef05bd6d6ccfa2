//! A section of messages and edges of some callpaths.

use std::collections::HashMap;
use std::ops::Range;

use crate::cursor::{Cursor, Damage};
use crate::edges::{self, Edges};
use crate::keys::{self, Callpaths, Key, Sets};
use crate::messages::{self, Messages};

/// The part that a section is of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Of<'a> {
    pub(crate) first_rank: u32,
    pub(crate) ranks: usize,
    /// The ids of the callpaths of the dictionary.
    pub(crate) ids: &'a [u64],
}

/// Adds the messages and edges of the callpath `wanted` to those of other parts. The section may be
/// of callpaths in `rows`.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    rows: &Range<usize>,
    of: Of<'_>,
    wanted: usize,
    to: &mut (Messages, Edges),
) -> Result<(), Damage> {
    let start = cursor.clone();
    let callpaths = Callpaths::read(cursor, rows)?;
    let sets = Sets::read(cursor, of.ranks)?;
    let (message_keys, message_lengths) = keys::read(cursor, &callpaths.messages, &sets)?;
    keys::check(&message_keys, messages::LIMITS, &start)?;
    let (edge_keys, edge_lengths) = keys::read(cursor, &callpaths.edges, &sets)?;
    let unknown = cursor.count(cursor.remaining() / 8, "the number of unknown origins")?;
    start.charge(unknown, "the unknown origins")?;
    let unknown: Vec<u64> =
        (0..unknown).map(|_| cursor.u64("an unknown origin")).collect::<Result<_, _>>()?;
    let origins = 1 + of.ids.len() as u64 + unknown.len() as u64;
    keys::check(&edge_keys, (edges::KINDS, origins), &start)?;
    let mut of_messages: [Vec<u64>; 3] = Default::default();
    for column in &mut of_messages {
        *column = keys::numbers(cursor, &message_lengths, "a number of messages")?;
    }
    let mut of_edges: [Vec<u64>; 12] = Default::default();
    for column in &mut of_edges {
        *column = keys::numbers(cursor, &edge_lengths, "a number of edges")?;
    }
    // What the frames keep, and the messages by rank and partner.
    start.charge(message_lengths.iter().sum::<usize>().saturating_mul(12), "the messages")?;
    start.charge(edge_lengths.iter().sum::<usize>().saturating_mul(13), "the edges")?;
    let (mut next_message, mut next_edge) = (0, 0);
    let (mut message_keys, mut edge_keys) = (message_keys.iter(), edge_keys.iter());
    let each = callpaths.rows.iter().zip(callpaths.messages.iter().zip(&callpaths.edges));
    for (&row, (&messages, &edges)) in each {
        let mut ignored = Default::default();
        let to = if row == wanted { &mut *to } else { &mut ignored };
        let mut received: HashMap<(u32, i32), (u64, u64)> = HashMap::new();
        for (rank, key) in of_ranks(&sets, message_keys.by_ref().take(messages)) {
            let [count, mean, remainder] =
                of_messages.each_ref().map(|column| column[next_message]);
            next_message += 1;
            let Some(bytes) = messages::bytes(count, mean, remainder) else {
                return Err(start.damage("the bytes of messages do not fit 64 bits"));
            };
            to.0.push(of.first_rank.saturating_add(rank), key, count, bytes);
            if messages::is_received(key) {
                let all = received.entry((rank, key.partner)).or_default();
                *all = (all.0.saturating_add(count), all.1.saturating_add(bytes));
            }
        }
        for (rank, key) in of_ranks(&sets, edge_keys.by_ref().take(edges)) {
            let numbers = of_edges.each_ref().map(|column| column[next_edge]);
            next_edge += 1;
            let origin = match usize::try_from(key.third).unwrap_or(usize::MAX).checked_sub(1) {
                None => 0,
                Some(row) if row < of.ids.len() => of.ids[row],
                Some(row) => unknown[row - of.ids.len()],
            };
            let place = (of.first_rank.saturating_add(rank), key, origin);
            if !to.1.push(place, numbers, received.get(&(rank, key.partner)).copied()) {
                return Err(start.damage("a number of an edge is above its limit"));
            }
        }
    }
    cursor.finish("a section")
}

/// Returns each rank of each key.
fn of_ranks<'a>(
    sets: &'a Sets,
    keys: impl Iterator<Item = &'a Key>,
) -> impl Iterator<Item = (u32, &'a Key)> {
    keys.flat_map(|key| sets.ranks(key.set).map(move |rank| (rank, key)))
}
