//! A pass over the causes of waiting of all ranks, in the memory of those of one part.

use std::sync::Arc;

use super::ProfileReader;
use super::part::{self, PartSection};
use super::source::Source;
use crate::error::ReadError;
use crate::model::{Activities, RankCauses, RankFacts};

impl<S: Source> ProfileReader<S> {
    /// Returns the activities that the ranks have described, by number.
    ///
    /// # Errors
    /// If the index of a part or its section of causes is damaged, or too large for the limit.
    pub fn activities(&self) -> Result<Activities, ReadError> {
        let mut all = Activities::new();
        let memory_limit = self.memory_limit();
        for (number, part) in self.manifest().parts.iter().enumerate() {
            let index = self.index(number, &memory_limit)?;
            let Some(entry) = index.sections.get(&PartSection::Causes) else { continue };
            all.extend(self.section(&part.file, *entry, &memory_limit, |section| {
                part::decode_activities(section, self.callpaths(), index.version)
            })?);
        }
        Ok(all)
    }

    /// Passes the causes of each rank that knows any to `visit`, in the order of ranks. Each has
    /// the [activities](Self::activities) of all ranks.
    ///
    /// # Errors
    /// As [`activities`](Self::activities), and the errors of `visit`.
    ///
    /// # Cost
    /// Memory for the causes of the ranks of one part. The section of a part is read twice.
    pub fn each_causes<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut(u32, RankCauses) -> Result<(), E>,
    ) -> Result<(), E> {
        let activities = Arc::new(self.activities()?);
        for (number, part) in self.manifest().parts.iter().enumerate() {
            let memory_limit = self.memory_limit();
            let index = self.index(number, &memory_limit)?;
            let Some(entry) = index.sections.get(&PartSection::Causes) else { continue };
            let mut facts = vec![RankFacts::default(); part.ranks as usize];
            self.section(&part.file, *entry, &memory_limit, |section| {
                part::decode_causes(section, self.callpaths(), &mut facts, index.version)
            })?;
            for (rank, facts) in (part.first_rank..).zip(facts) {
                if let Some(causes) = facts.causes {
                    visit(rank, RankCauses { activities: Arc::clone(&activities), ..*causes })?;
                }
            }
        }
        Ok(())
    }

    /// Returns the causes of each rank's waiting, by rank; none of ranks that know none.
    ///
    /// ```
    /// use tinyprof_format::file::{ProfileReader, ProfileWriter};
    /// use tinyprof_format::model::{EventMap, RankCauses, RankFacts};
    ///
    /// let scratch = std::env::temp_dir().join(format!("tinyprof-causes-{}", std::process::id()));
    /// std::fs::create_dir_all(&scratch)?;
    /// let causes = Some(Box::new(RankCauses::default()));
    /// let facts = RankFacts { causes, ..RankFacts::default() };
    /// let ranks = [EventMap::default(), EventMap { facts, ..EventMap::default() }];
    /// let path = ProfileWriter::new().write(&scratch.join("run"), &ranks)?;
    /// let causes = ProfileReader::open(&path)?.causes()?;
    /// assert_eq!(causes, [None, Some(RankCauses::default())]);
    /// # std::fs::remove_dir_all(&scratch)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`activities`](Self::activities).
    pub fn causes(&self) -> Result<Vec<Option<RankCauses>>, ReadError> {
        let mut all = vec![None; self.manifest().ranks as usize];
        self.each_causes(|rank, causes| {
            if let Some(of_rank) = all.get_mut(rank as usize) {
                *of_rank = Some(causes);
            }
            Ok::<(), ReadError>(())
        })?;
        Ok(all)
    }
}
