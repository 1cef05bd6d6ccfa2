//! Which callpaths have values of a kind.

use super::{Error, Part, Profile, Section};
use crate::cursor::Budget;
use crate::keys;

impl Profile {
    /// Returns the rows that have edges on some rank.
    pub(crate) fn rows_with_edges(&self) -> Result<Vec<usize>, Error> {
        self.rows_with(|callpaths| &callpaths.edges)
    }

    /// Returns the rows that have messages on some rank.
    pub(crate) fn rows_with_messages(&self) -> Result<Vec<usize>, Error> {
        self.rows_with(|callpaths| &callpaths.messages)
    }

    /// Returns the rows that have keys of messages or edges on some rank.
    fn rows_with(&self, keys: impl Fn(&keys::Callpaths) -> &[usize]) -> Result<Vec<usize>, Error> {
        let mut found = Vec::new();
        let budget = Budget::new(self.limit_bytes);
        for file in &self.parts {
            for (rows, section) in &file.part.communication {
                let mut cursor = section.cursor(&file.bytes, &budget);
                let callpaths = keys::Callpaths::read(&mut cursor, rows)
                    .map_err(|damage| file.damaged(damage))?;
                let counted = callpaths.rows.iter().zip(keys(&callpaths));
                found.extend(counted.filter(|(_, keys)| **keys > 0).map(|(row, _)| *row));
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Returns the rows that have metrics on some rank.
    pub(crate) fn rows_with_metrics(&self) -> Vec<usize> {
        self.rows_of(|part| &part.metrics)
    }

    fn rows_of(&self, list: impl Fn(&Part) -> &[(usize, Section)]) -> Vec<usize> {
        let mut rows: Vec<usize> =
            self.parts.iter().flat_map(|file| list(&file.part)).map(|(row, _)| *row).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}
