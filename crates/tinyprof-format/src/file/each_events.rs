//! A pass over the events of ranks, all or some, in the memory of those of one.

use std::sync::Arc;

use super::ProfileReader;
use super::part::{self, PartSection};
use super::source::Source;
use crate::error::ReadError;
use crate::model::RankEvents;

impl<S: Source> ProfileReader<S> {
    /// Passes the events of each rank that kept any to `visit`, in the order of ranks.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use tinyprof_format::file::{ProfileReader, ProfileWriter};
    /// use tinyprof_format::model::{EventMap, RankEvents, RankFacts};
    ///
    /// let scratch = std::env::temp_dir().join(format!("tinyprof-events-{}", std::process::id()));
    /// std::fs::create_dir_all(&scratch)?;
    /// let events = Some(Arc::new(RankEvents { origin_ns: 5, ..RankEvents::default() }));
    /// let facts = RankFacts { events, ..RankFacts::default() };
    /// let ranks = [EventMap::default(), EventMap { facts, ..EventMap::default() }];
    /// let path = ProfileWriter::new().write(&scratch.join("run"), &ranks)?;
    /// let mut origins = Vec::new();
    /// ProfileReader::open(&path)?.each_events(|rank, events| {
    ///     origins.push((rank, events.origin_ns));
    ///     Ok::<(), tinyprof_format::error::ReadError>(())
    /// })?;
    /// assert_eq!(origins, [(1, 5)]);
    /// # std::fs::remove_dir_all(&scratch)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the index of a part or its section of events is damaged, or too large for the limit, and
    /// the errors of `visit`.
    pub fn each_events<E: From<ReadError>>(
        &self,
        visit: impl FnMut(u32, &RankEvents) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_events_of(|_| true, visit)
    }

    /// Does the same with the ranks that are wanted. Events of others are not decoded, and parts
    /// without any of them are not read.
    ///
    /// # Errors
    /// As for [`each_events`](Self::each_events).
    pub fn each_events_of<E: From<ReadError>>(
        &self,
        is_wanted: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, &RankEvents) -> Result<(), E>,
    ) -> Result<(), E> {
        for (number, part) in self.manifest().parts.iter().enumerate() {
            let rank_of =
                |at: usize| part.first_rank.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
            if !(0..part.ranks as usize).any(|at| is_wanted(rank_of(at))) {
                continue;
            }
            let memory_limit = self.memory_limit();
            let index = self.index(number, &memory_limit)?;
            let Some(entry) = index.sections.get(&PartSection::Events) else { continue };
            let mut visited = Ok(());
            self.section(&part.file, *entry, &memory_limit, |section| {
                let mut pass = |at: usize, events: Arc<RankEvents>| {
                    if visited.is_ok() {
                        visited = visit(rank_of(at), &events);
                    }
                };
                let is_wanted = |at: usize| is_wanted(rank_of(at));
                part::decode_events(
                    section,
                    part.ranks as usize,
                    index.version,
                    &is_wanted,
                    &mut pass,
                )
            })?;
            visited?;
        }
        Ok(())
    }
}
