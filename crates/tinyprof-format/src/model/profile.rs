//! A whole profile in memory.

use super::{CallpathIndex, CallpathTable, CallpathValues, Manifest, RankFacts};

/// The profile of a run: all callpaths, ranks and values.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Facts of the run and of the files.
    pub manifest: Manifest,
    /// The dictionary.
    pub callpaths: CallpathTable,
    /// The facts that each rank reports about itself, by rank.
    pub ranks: Vec<RankFacts>,
    /// The values, row by row of `callpaths`, and by rank within a row.
    pub values: Vec<Vec<CallpathValues>>,
}

impl Profile {
    /// Returns the values that `rank` measured at `callpath`; empty if it never visited it.
    ///
    /// # Panics
    /// If the callpath or the rank is not in this profile.
    #[must_use]
    pub fn values(&self, callpath: CallpathIndex, rank: usize) -> &CallpathValues {
        &self.values[callpath.row()][rank]
    }

    /// Returns the callpath whose path, as written by [`CallpathTable::path`], is `path`, if any.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<CallpathIndex> {
        self.callpaths
            .iter()
            .map(|(index, _)| index)
            .find(|&index| self.callpaths.path(index) == path)
    }
}
