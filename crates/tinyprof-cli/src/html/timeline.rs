//! The events of a profile in the page: lanes of ranks and threads, with as many single visits as a
//! browser draws at once.
//!
//! If there are more, the shortest ones are left out, which cannot be seen before one looks very
//! closely, and added up in equal parts of the lane's time. Nothing is left out in silence: the
//! page tells how many visits a part has.
//!
//! * `lanes`: the choice of ranks and threads, and of the shortest visit.
//! * `messages`: messages between lanes.
//! * `parts`: what is added up.
//! * `waits`: how much of a call is waiting over the run, and for whom; single visits do not tell.

mod lanes;
mod messages;
mod parts;
mod waits;

use std::collections::{BTreeSet, HashMap};
use std::error::Error;

use serde_json::{Value, json};
use tinyprof_format::model::{CallpathId, CallpathTable, RankEvents, Region, ThreadEvents};
use tinyprof_report::{MpiCall, Totals};

use crate::events::{ShownEvents, Told};
use crate::export::choose;

use super::columns::Columns;
use lanes::{Lanes, LanesBuilder};
use messages::Messages;
use parts::Parts;
pub(super) use waits::Waits;

/// The most ranks and threads that are shown.
pub(super) const LANES_MAX: usize = 64;
/// The most visits that are in the page one by one.
const VISITS_MAX: u64 = 300_000;

/// The events of a profile for the page.
pub(super) struct Timeline {
    json: Value,
    bytes: Vec<u8>,
    pub(super) told: Told,
    ranks: BTreeSet<usize>,
}

/// The callpaths and ranks whose events are shown.
pub(super) struct Subject<'a> {
    pub(super) callpaths: &'a CallpathTable,
    /// The callpaths that the page has rows for.
    pub(super) in_page: &'a CallpathTable,
    pub(super) totals: &'a Totals,
    /// The ranks that were selected.
    pub(super) ranks: &'a [usize],
}

impl Timeline {
    /// Returns the events of a profile; `None` if there are none.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn of(
        subject: &Subject<'_>,
        events: &ShownEvents<'_>,
    ) -> Result<Option<Self>, Box<dyn Error>> {
        Self::of_at_most(subject, events, VISITS_MAX)
    }

    fn of_at_most(
        subject: &Subject<'_>,
        events: &ShownEvents<'_>,
        visits_max: u64,
    ) -> Result<Option<Self>, Box<dyn Error>> {
        let totals = || Ok::<_, Box<dyn Error>>(subject.totals);
        let choice = choose(subject.ranks, LANES_MAX, totals)?;
        let shown: HashMap<u32, usize> = choice
            .shown
            .iter()
            .filter_map(|shown| Some((u32::try_from(shown.rank).ok()?, shown.stands_for)))
            .collect();
        let is_chosen = |rank: u32| shown.contains_key(&rank);
        let mut builder = LanesBuilder::default();
        let told = events.each(&is_chosen, &mut |rank, events| {
            events.threads.iter().for_each(|thread| builder.add(rank, thread));
            Ok(())
        })?;
        let Some(lanes) = builder.finish(LANES_MAX, visits_max) else { return Ok(None) };
        let mut writer = Writer::new(subject, &lanes);
        events.each(&is_chosen, &mut |rank, events| {
            let stands_for = shown.get(&rank).copied().unwrap_or(1);
            writer.rank(rank, stands_for, events);
            Ok(())
        })?;
        let ranks = (subject.ranks.len(), choice.shown.len());
        let (json, bytes) = writer.finish(ranks, events.hosts());
        let ranks = choice.shown.iter().map(|shown| shown.rank).collect();
        Ok(Some(Self { json, bytes, told, ranks }))
    }

    /// Returns the waiting of the ranks that are shown, none so far.
    pub(super) fn waits(&self, table: &CallpathTable) -> Waits {
        Waits::new(table, self.ranks.clone())
    }

    /// Returns the data for the page.
    pub(super) fn json(&self, waits: &Waits, columns: &mut Columns) -> Value {
        let mut json = self.json.clone();
        json["waits"] = waits.json();
        json["at"] = columns.add_bytes(&self.bytes).into();
        json
    }
}

/// The lanes while they are written.
struct Writer<'a> {
    regions: HashMap<CallpathId, &'a Region>,
    /// The rows of the page.
    rows: HashMap<CallpathId, usize>,
    lanes: &'a Lanes,
    columns: Columns,
    /// The callpaths that events are of, in the order of their numbers.
    numbers: HashMap<CallpathId, u64>,
    callpaths: Vec<Value>,
    written: Vec<Value>,
    messages: Messages,
    left_out: u64,
}

impl<'a> Writer<'a> {
    fn new(subject: &Subject<'a>, lanes: &'a Lanes) -> Self {
        let regions = subject.callpaths.rows().iter().map(|row| (row.id, &*row.region)).collect();
        let rows = subject.in_page.iter().map(|(index, row)| (row.id, index.row())).collect();
        Self {
            regions,
            rows,
            lanes,
            columns: Columns::default(),
            numbers: HashMap::new(),
            callpaths: Vec::new(),
            written: Vec::new(),
            messages: Messages::default(),
            left_out: 0,
        }
    }

    fn rank(&mut self, rank: u32, stands_for: usize, events: &RankEvents) {
        for thread in &events.threads {
            if self.lanes.has(rank, thread.thread) {
                self.thread(rank, stands_for, thread);
            }
        }
    }

    fn thread(&mut self, rank: u32, stands_for: usize, thread: &ThreadEvents) {
        let mut parts = Parts::new(self.lanes.from_ns, self.lanes.to_ns);
        let mut kept = Vec::new();
        let mut within_ns = 0;
        for visit in &thread.visits {
            if visit.duration_ns >= self.lanes.shortest_ns {
                kept.push(*visit);
                continue;
            }
            // What is around it is added up already.
            let is_outermost = visit.begin_ns >= within_ns;
            within_ns = within_ns.max(visit.end_ns());
            parts.add(visit, self.is_call(visit.callpath), is_outermost);
            self.left_out += 1;
        }
        let callpaths: Vec<u64> = kept.iter().map(|visit| self.number(visit.callpath)).collect();
        let before = std::iter::once(self.lanes.from_ns).chain(kept.iter().map(|v| v.begin_ns));
        let gaps: Vec<u64> =
            kept.iter().zip(before).map(|(v, before)| v.begin_ns.saturating_sub(before)).collect();
        self.messages.add(rank, self.written.len() as u64, &thread.messages);
        let columns = &mut self.columns;
        self.written.push(json!({
            "rank": rank,
            "thread": thread.thread,
            "stands_for": stands_for,
            "lost": thread.lost(),
            "policy": thread.policy.name(),
            "complete_ns": thread.complete_ns().map(|(from, to)| [as_number(from), as_number(to)]),
            "callpaths": columns.add_exact(callpaths.into_iter()),
            "depths": columns.add_exact(kept.iter().map(|visit| visit.depth.into())),
            "gaps": columns.add_exact(gaps.into_iter()),
            "durations": columns.add_exact(kept.iter().map(|visit| visit.duration_ns)),
            "parts": parts.json(columns),
        }));
    }

    fn is_call(&self, callpath: CallpathId) -> bool {
        let region = self.regions.get(&callpath);
        region.is_some_and(|region| MpiCall::of_region(region).is_some())
    }

    /// Returns the number by which the page knows a callpath.
    fn number(&mut self, callpath: CallpathId) -> u64 {
        if let Some(&number) = self.numbers.get(&callpath) {
            return number;
        }
        let row = self.rows.get(&callpath).copied();
        let name = self.regions.get(&callpath).map_or("[unknown]", |region| region.name.as_str());
        self.callpaths.push(json!({ "name": name, "row": row, "is_call": self.is_call(callpath) }));
        let number = self.numbers.len() as u64;
        self.numbers.insert(callpath, number);
        number
    }

    fn finish(mut self, (ranks, ranks_shown): (usize, usize), hosts: usize) -> (Value, Vec<u8>) {
        let messages = self.messages.json(self.lanes.from_ns, &mut self.columns);
        let json = json!({
            "from_ns": as_number(self.lanes.from_ns),
            "to_ns": as_number(self.lanes.to_ns),
            "lanes": self.written,
            "messages": messages,
            "callpaths": self.callpaths,
            "shortest_ns": as_number(self.lanes.shortest_ns),
            "left_out": self.left_out,
            "ranks_omitted": ranks - ranks_shown,
            "threads_omitted": self.lanes.threads_omitted,
            "hosts": hosts,
        });
        (json, self.columns.into_bytes())
    }
}

/// Numbers of the page are exact up to 2^53 ns, which are 104 days.
#[expect(clippy::cast_precision_loss, reason = "as said")]
fn as_number(ns: u64) -> f64 {
    ns as f64
}

#[cfg(test)]
mod tests;
