//! The writer of a section of messages and edges.

use std::collections::{BTreeMap, HashMap};

use super::super::{edges, keys::zigzag, messages};
use super::rank_sets::RankSets;
use super::{numbers, rows};
use crate::bytes::{Sink, column};
use crate::model::{CallpathId, CallpathTable, EdgeKey};

/// The number of messages and edges of all ranks from which a section is long enough: a reader of
/// one callpath reads those of others with it.
const ENOUGH: usize = 8_192;

/// A key as it is stored: kind, partner, and size class or origin.
type StoredKey = (u8, i32, u64);

/// The callpaths whose messages and edges go into the next section.
#[derive(Debug)]
pub(in crate::file) struct Communication {
    /// The number of each origin: 1 more than its row in the dictionary, or a number above all rows
    /// for those of `unknown`.
    origins: HashMap<CallpathId, u64>,
    callpaths: u64,
    pending: Pending,
}

#[derive(Debug, Default)]
struct Pending {
    rows: Vec<u32>,
    sets: RankSets,
    messages: Records<3>,
    edges: Records<12>,
    /// The origins that the dictionary does not have.
    unknown: Vec<CallpathId>,
}

/// The messages or the edges, callpath by callpath, key by key and rank by rank.
#[derive(Debug)]
struct Records<const N: usize> {
    keys_of_callpaths: Vec<u64>,
    keys: Vec<StoredKey>,
    sets: Vec<u64>,
    lengths: Vec<usize>,
    numbers: Vec<[u64; N]>,
}

impl Communication {
    /// Prepares the sections of a part over `dictionary`.
    pub(in crate::file) fn of(dictionary: &CallpathTable) -> Self {
        let rows = dictionary.iter().map(|(index, callpath)| (callpath.id, index.row() as u64 + 1));
        Self {
            origins: rows.collect(),
            callpaths: dictionary.len() as u64,
            pending: Pending::default(),
        }
    }

    /// Adds the messages and edges of a callpath, by rank of the part. Rows must ascend.
    pub(in crate::file) fn add(
        &mut self,
        row: u32,
        messages: &[&[messages::Record]],
        edges: &[&[edges::Record]],
    ) {
        if messages.iter().all(|of| of.is_empty()) && edges.iter().all(|of| of.is_empty()) {
            return;
        }
        let mut of_messages = BTreeMap::<StoredKey, Vec<(u64, _)>>::new();
        let mut of_edges = BTreeMap::<StoredKey, Vec<(u64, _)>>::new();
        for (rank, (messages, edges)) in (0..).zip(messages.iter().zip(edges)) {
            for (key, traffic) in *messages {
                let stored = (key.kind as u8, key.partner, key.size_class.into());
                of_messages.entry(stored).or_default().push((rank, rows::of_message(traffic)));
            }
            for (key, edge) in *edges {
                let stored = (key.kind as u8, key.partner, self.origin(key.from));
                let expected = rows::received(key).and_then(|keys| {
                    let first = messages.partition_point(|(key, _)| key < keys.start());
                    let received =
                        messages[first..].iter().take_while(|(key, _)| key <= keys.end());
                    rows::expected(received.map(|(_, traffic)| *traffic))
                });
                let numbers = rows::of_edge(key.kind, edge, expected);
                of_edges.entry(stored).or_default().push((rank, numbers));
            }
        }
        self.pending.rows.push(row);
        self.pending.messages.add(of_messages, &mut self.pending.sets);
        self.pending.edges.add(of_edges, &mut self.pending.sets);
    }

    fn origin(&mut self, id: CallpathId) -> u64 {
        if id == EdgeKey::UNKNOWN {
            return 0;
        }
        let unknown = &mut self.pending.unknown;
        *self.origins.entry(id).or_insert_with(|| {
            unknown.push(id);
            self.callpaths + unknown.len() as u64
        })
    }

    /// Returns true if there are enough messages and edges for a section.
    pub(in crate::file) fn is_enough(&self) -> bool {
        self.pending.messages.numbers.len() + self.pending.edges.numbers.len() >= ENOUGH
    }

    /// Takes what was added since the last section, as the bytes of a section whose key has `row`:
    /// that of the last callpath, or a later one. None if nothing was added.
    pub(in crate::file) fn take_section(&mut self, row: u32) -> Option<Vec<u8>> {
        let pending = std::mem::take(&mut self.pending);
        for id in &pending.unknown {
            self.origins.remove(id);
        }
        let last = *pending.rows.last()?;
        let mut sink = Sink::default();
        sink.varint(pending.rows.len() as u64);
        let between = pending.rows.windows(2).map(|pair| pair[1] - pair[0] - 1);
        let gaps = between.chain([row - last]).map(u64::from);
        column::write_u64(&mut sink, &gaps.collect::<Vec<_>>());
        column::write_u64(&mut sink, &pending.messages.keys_of_callpaths);
        column::write_u64(&mut sink, &pending.edges.keys_of_callpaths);
        pending.sets.write(&mut sink);
        pending.messages.write_keys(&mut sink);
        pending.edges.write_keys(&mut sink);
        sink.varint(pending.unknown.len() as u64);
        pending.unknown.iter().for_each(|id| sink.u64(id.to_bits()));
        pending.messages.write_numbers(&mut sink);
        pending.edges.write_numbers(&mut sink);
        Some(sink.into_vec())
    }
}

impl<const N: usize> Default for Records<N> {
    fn default() -> Self {
        Self {
            keys_of_callpaths: Vec::new(),
            keys: Vec::new(),
            sets: Vec::new(),
            lengths: Vec::new(),
            numbers: Vec::new(),
        }
    }
}

impl<const N: usize> Records<N> {
    fn add(&mut self, by_key: BTreeMap<StoredKey, Vec<(u64, [u64; N])>>, sets: &mut RankSets) {
        self.keys_of_callpaths.push(by_key.len() as u64);
        for (key, of_ranks) in by_key {
            self.keys.push(key);
            self.sets.push(sets.number_of(of_ranks.iter().map(|(rank, _)| *rank)));
            self.lengths.push(of_ranks.len());
            self.numbers.extend(of_ranks.into_iter().map(|(_, numbers)| numbers));
        }
    }

    fn write_keys(&self, sink: &mut Sink) {
        let mut write = |of: fn(&StoredKey) -> u64| {
            column::write_u64(sink, &self.keys.iter().map(of).collect::<Vec<_>>());
        };
        write(|key| key.0.into());
        write(|key| zigzag(key.1.into()));
        write(|key| key.2);
        column::write_u64(sink, &self.sets);
    }

    fn write_numbers(&self, sink: &mut Sink) {
        for at in 0..N {
            let of_one: Vec<u64> = self.numbers.iter().map(|numbers| numbers[at]).collect();
            numbers::write(sink, &of_one, &self.lengths);
        }
    }
}
