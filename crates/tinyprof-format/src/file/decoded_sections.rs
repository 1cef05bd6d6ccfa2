//! Sections of messages and edges that are decoded once for all of their callpaths, where a pass
//! over the callpaths would decode them for each.

use std::collections::BTreeMap;

use super::ProfileReader;
use super::communication::{Slices, Targets};
use super::source::Source;
use crate::bytes::{Cursor, Malformed, MemoryLimit};
use crate::error::ReadError;
use crate::model::CallpathValues;

/// The part of the memory limit in which decoded sections are kept.
const MEMORY_PART: u64 = 4;

/// The decoded section of each part that was needed last, as long as there is room.
#[derive(Debug, Default)]
pub(super) struct DecodedSections {
    of_parts: BTreeMap<usize, Decoded>,
    bytes: u64,
}

/// A section: messages and edges only.
#[derive(Debug)]
struct Decoded {
    /// The last row that may be in it.
    last_row: usize,
    ranks: usize,
    rows: BTreeMap<usize, Vec<CallpathValues>>,
    bytes: u64,
}

impl Targets for Decoded {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn of_row(
        &mut self,
        cursor: &Cursor<'_>,
        row: usize,
    ) -> Result<Option<&mut [CallpathValues]>, Malformed> {
        cursor.claim_kept(self.ranks, size_of::<CallpathValues>(), "the callpaths of a section")?;
        let values = self.rows.entry(row);
        Ok(Some(values.or_insert_with(|| vec![CallpathValues::default(); self.ranks])))
    }
}

impl DecodedSections {
    /// Returns the memory that they take, which is claimed as kept.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the messages and edges of a callpath in one part, into values that have none. Each
    /// callpath may be read once.
    pub(super) fn read<S: Source>(
        &mut self,
        reader: &ProfileReader<S>,
        (part, row): (usize, usize),
        values: &mut [CallpathValues],
        memory_limit: &MemoryLimit,
    ) -> Result<(), ReadError> {
        let Some((rows, entry)) = reader.index(part, memory_limit)?.communication(row) else {
            return Ok(());
        };
        let last_row = *rows.end();
        if self.of_parts.get(&part).is_none_or(|decoded| decoded.last_row != last_row) {
            self.forget(part, memory_limit);
            let kept_bytes = memory_limit.kept_bytes();
            let mut decoded =
                Decoded { last_row, ranks: values.len(), rows: BTreeMap::new(), bytes: 0 };
            let has_room = self.bytes < memory_limit.limit_bytes() / MEMORY_PART;
            let read = has_room.then(|| {
                reader.read_communication(part, (rows.clone(), entry), &mut decoded, memory_limit)
            });
            match read {
                Some(Ok(())) => {
                    decoded.bytes = memory_limit.kept_bytes() - kept_bytes;
                    self.bytes += decoded.bytes;
                    self.of_parts.insert(part, decoded);
                }
                Some(Err(error)) if !matches!(error, ReadError::OverLimit { .. }) => {
                    return Err(error);
                }
                // Without room for all of its callpaths, it is decoded for this one.
                _ => {
                    drop(decoded);
                    memory_limit.back_to_kept(kept_bytes);
                    let targets = &mut Slices { first: row, values: &mut [values] };
                    return reader.read_communication(part, (rows, entry), targets, memory_limit);
                }
            }
        }
        let decoded = self.of_parts.get_mut(&part).and_then(|decoded| decoded.rows.get_mut(&row));
        for (own, found) in values.iter_mut().zip(decoded.into_iter().flatten()) {
            own.messages = std::mem::take(&mut found.messages);
            own.edges = std::mem::take(&mut found.edges);
        }
        Ok(())
    }

    fn forget(&mut self, part: usize, memory_limit: &MemoryLimit) {
        if let Some(decoded) = self.of_parts.remove(&part) {
            self.bytes -= decoded.bytes;
            memory_limit.back_to_kept(memory_limit.kept_bytes() - decoded.bytes);
        }
    }
}
