//! Ranks and their events on one clock for all exporters of events, with notes on those that are
//! missing.

use std::collections::BTreeMap;
use std::error::Error;

use tinyprof_format::model::{RankEvents, ThreadEvents};

use super::choice::choose;
use super::exporter::{Notes, Request, Source};
use super::summary::Summary;
use crate::events::{EventVisitor, HOSTS_NOTE, NO_EVENTS, RankChoice, ShownEvents};

/// The most bytes that are written without a word, as viewers take no more.
const BYTES_MAX: u64 = 500_000_000;

/// Takes the events of a rank, with the rank's name and number.
type RankVisitor<'v> =
    dyn FnMut(&Source<'_>, &str, u32, &RankEvents) -> Result<(), Box<dyn Error>> + 'v;

/// The ranks of a profile whose events are shown.
pub(super) struct ShownRanks<'r> {
    pub(super) source: Source<'r>,
    request: &'r Request<'r>,
    names: BTreeMap<u32, String>,
    notes: Notes,
}

impl<'r> ShownRanks<'r> {
    /// Opens the profile of a request, and chooses its ranks.
    ///
    /// # Errors
    /// If the profile cannot be read.
    pub(super) fn of(request: &'r Request<'r>) -> Result<Self, Box<dyn Error>> {
        let source = request.source()?;
        let totals = || Ok::<_, Box<dyn Error>>(Summary::of(&source)?.totals);
        let choice = choose(&source.ranks, request.max_ranks, totals)?;
        let notes: Notes = choice.note_without_mean(source.ranks.len()).into_iter().collect();
        let name = |rank: usize| u32::try_from(rank).unwrap_or(u32::MAX);
        let names = choice.shown.iter().map(|shown| (name(shown.rank), shown.name())).collect();
        Ok(Self { source, request, names, notes })
    }

    /// Returns the numbers and names of the ranks, in their order.
    pub(super) fn ranks(&self) -> &BTreeMap<u32, String> {
        &self.names
    }

    /// Passes the events of each rank to `visit`, with the rank's name. A visit, or
    /// an end of a message, takes about `visit_bytes` in the file.
    ///
    /// # Errors
    /// If the profile cannot be read, has no events or too many for viewers; and those of `visit`.
    pub(super) fn each(
        mut self,
        visit_bytes: u64,
        visit: &mut RankVisitor<'_>,
    ) -> Result<Notes, Box<dyn Error>> {
        let (source, names) = (&self.source, &self.names);
        let each = |is_chosen: &RankChoice<'_>, visit: &mut EventVisitor<'_>| {
            self.request.inputs[0].each_events(is_chosen, visit)
        };
        let profile = source.events_profile();
        let events = ShownEvents::of(&self.request.events, profile, &each)?;
        let mut bytes = 0;
        let told = events.each(&|rank| names.contains_key(&rank), &mut |rank, events| {
            let of_thread = |thread: &ThreadEvents| thread.visits.len() + thread.messages.len();
            let count: usize = events.threads.iter().map(of_thread).sum();
            bytes += count as u64 * visit_bytes;
            if bytes > BYTES_MAX {
                return Err(format!(
                    "the trace would have more than {BYTES_MAX} bytes: choose ranks with --rank or \
                     --max-ranks, or a time with --window"
                )
                .into());
            }
            visit(source, names.get(&rank).map_or("", String::as_str), rank, events)
        })?;
        if told.threads == 0 {
            return Err(NO_EVENTS.into());
        }
        self.notes.extend(told.notes());
        if events.hosts() > 1 {
            self.notes.push(HOSTS_NOTE.to_owned());
        }
        Ok(self.notes)
    }
}
