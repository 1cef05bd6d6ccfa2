//! Where the sections of a part are.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeInclusive};

use super::part::PartSection;
use super::section::IndexEntry;
use crate::model::FormatVersion;

/// The sections of a part.
#[derive(Debug)]
pub(super) struct PartIndex {
    /// The version of the part's writer.
    pub(super) version: FormatVersion,
    pub(super) sections: BTreeMap<PartSection, IndexEntry>,
}

impl PartIndex {
    /// Returns the section that may hold messages and edges of the callpath in a row, with the rows
    /// that may be in it.
    pub(super) fn communication(&self, row: usize) -> Option<(RangeInclusive<usize>, IndexEntry)> {
        let sections = |rows| self.sections.range::<PartSection, (Bound<_>, Bound<_>)>(rows);
        let (own, first) = (PartSection::Communication(row), PartSection::Communication(0));
        let (&found, &entry) = sections((Bound::Included(own), Bound::Unbounded)).next()?;
        let before = sections((Bound::Included(first), Bound::Excluded(own))).next_back();
        let first = before.and_then(|(section, _)| section.row()).map_or(0, |row| row + 1);
        Some((first..=found.row()?, entry))
    }
}
