//! A whole profile in memory.

use super::{CallpathIndex, CallpathTable, CallpathValues, Manifest, RankFacts};

/// The profile of a run: every callpath, every rank, every value.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Facts of the run and of the files.
    pub manifest: Manifest,
    /// The dictionary.
    pub callpaths: CallpathTable,
    /// What each rank says of itself, by rank.
    pub ranks: Vec<RankFacts>,
    /// The values, row by row of `callpaths`, then by rank.
    pub values: Vec<Vec<CallpathValues>>,
}

impl Profile {
    /// What `rank` measured of `callpath`; empty where it never went there.
    ///
    /// # Panics
    /// If the callpath or the rank is not of this profile.
    #[must_use]
    pub fn values(&self, callpath: CallpathIndex, rank: usize) -> &CallpathValues {
        &self.values[callpath.row()][rank]
    }

    /// The callpath with this path as [`CallpathTable::path`] writes it, if there is one.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<CallpathIndex> {
        self.callpaths
            .iter()
            .map(|(index, _)| index)
            .find(|&index| self.callpaths.path(index) == path)
    }
}
