//! The events of a profile as they are shown: of the chosen time and classes, on one clock.
//!
//! * `window`: the part of the run that `--window` names.
//! * `class`: the classes that `--class` names, of callpaths.
//! * `nested`: visits as begins and ends, with messages between them.
//! * `pair`: the two ends of one message.
//! * `clock`: the begins of hosts, so that ranks of one host are on one clock.

mod class;
mod clock;
mod nested;
mod pair;
mod window;

use std::collections::HashSet;
use std::error::Error;
use std::path::Path;

use clap::Args;
use tinyprof_format::file::{Directory, ProfileReader};
use tinyprof_format::model::{
    CallpathId, CallpathTable, EventClass, MessageEvent, RankEvents, RankFacts, ThreadEvents,
    VisitEvent,
};

use crate::memory;

use class::ClassName;
use clock::Clock;
pub(crate) use nested::{Edge, Step, each_edge, each_step};
pub(crate) use pair::{OpenEnds, Pair};
pub(crate) use window::Window;

/// The part of the events that is shown.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EventSelection {
    /// For events: only what happened in this time, from the start of the first rank on, such as
    /// 2s-2.5s or 800ms-; visits that reach beyond it are cut there
    #[arg(long, value_name = "FROM-TO")]
    pub(crate) window: Option<Window>,
    /// For events: only visits of these classes, and messages of their calls: root, call (of MPI),
    /// around-calls, computation
    #[arg(long = "class", value_name = "LIST", value_delimiter = ',', hide_possible_values = true)]
    classes: Vec<ClassName>,
}

impl EventSelection {
    /// Returns what happened in this time.
    #[cfg(feature = "top")]
    pub(crate) const fn of_window(window: Window) -> Self {
        Self { window: Some(window), classes: Vec::new() }
    }

    /// Returns true if anything may be left out.
    pub(crate) fn is_part(&self) -> bool {
        self.window.is_some() || !self.classes.is_empty()
    }
}

/// Takes the events of a rank.
pub(crate) type EventVisitor<'v> = dyn FnMut(u32, &RankEvents) -> Result<(), Box<dyn Error>> + 'v;
/// Chooses ranks.
pub(crate) type RankChoice<'c> = dyn Fn(u32) -> bool + 'c;
/// Passes the events of each rank that is chosen to a visitor; can be called again.
pub(crate) type EachEvents<'e> =
    dyn Fn(&RankChoice<'_>, &mut EventVisitor<'_>) -> Result<(), Box<dyn Error>> + 'e;

/// Passes the events of each rank of a profile that is chosen and kept any to `visit`, in the order
/// of ranks.
///
/// # Errors
/// If the profile cannot be read; and the errors of `visit`.
pub(crate) fn each_in(
    directory: &Path,
    is_chosen: &RankChoice<'_>,
    visit: &mut EventVisitor<'_>,
) -> Result<(), Box<dyn Error>> {
    let reader = ProfileReader::of_source(Directory::new(directory), memory::read_options())?;
    reader.each_events_of(is_chosen, visit)
}

/// Passes the events of a profile in memory, as [`each_in`] does.
#[cfg(test)]
pub(crate) fn each_of(
    profile: &tinyprof_format::model::Profile,
    is_chosen: &RankChoice<'_>,
    visit: &mut EventVisitor<'_>,
) -> Result<(), Box<dyn Error>> {
    let ranks = (0_u32..).zip(&profile.ranks).filter(|(rank, _)| is_chosen(*rank));
    let mut events = ranks.filter_map(|(rank, facts)| Some((rank, facts.events.as_deref()?)));
    events.try_for_each(|(rank, events)| visit(rank, events))
}

/// The profile that events are of.
#[derive(Clone, Copy)]
pub(crate) struct EventsProfile<'a> {
    /// The callpaths that were selected, of the whole tree if `is_whole`.
    pub(crate) callpaths: &'a CallpathTable,
    pub(crate) is_whole: bool,
    pub(crate) facts: &'a [RankFacts],
}

/// The events of a profile, as they are shown.
pub(crate) struct ShownEvents<'e> {
    each: &'e EachEvents<'e>,
    clock: Clock,
    window: Option<Window>,
    /// The callpaths of which visits are shown; none: of all.
    shown: Option<HashSet<CallpathId>>,
}

/// The numbers of visits that are there, and that are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) ranks: u64,
    pub(crate) threads: u64,
    /// The visits that are shown.
    pub(crate) shown: u64,
    /// The visits that the profile does not have.
    pub(crate) lost: u64,
    /// The visits that the profile has.
    pub(crate) kept: u64,
    /// The visits that are shown shorter, as they reach beyond the window.
    pub(crate) cut: u64,
    /// The ends of messages that the profile has, and those that it does not have.
    pub(crate) messages: u64,
    pub(crate) messages_lost: u64,
    pub(crate) threads_without_memory: u64,
}

/// The error for a profile without events.
pub(crate) const NO_EVENTS: &str = "there are no events in this profile: run it with TINYPROF_EVENTS=ring, \
                                    window or thin";

/// The note for ranks that ran on several hosts.
pub(crate) const HOSTS_NOTE: &str =
    "hosts are shown as if their first ranks had begun at the same time";

impl Told {
    /// Returns what users should know about visits that are not shown, or not in full.
    pub(crate) fn notes(&self) -> Vec<String> {
        let Self { shown, lost, kept, cut, messages, messages_lost, .. } = *self;
        let mut notes = Vec::new();
        if lost > 0 {
            let made = kept.saturating_add(lost);
            notes.push(format!(
                "{lost} of {made} visits were not kept, as the memory of a thread was full; each \
                 thread says from where or up to where it is complete"
            ));
        }
        if shown < kept {
            notes.push(format!(
                "{shown} of {kept} visits are of the chosen time, classes and callpaths"
            ));
        }
        if cut > 0 {
            notes.push(format!("{cut} of them reach beyond the window and are cut there"));
        }
        if messages_lost > 0 {
            let made = messages.saturating_add(messages_lost);
            notes.push(format!(
                "{messages_lost} of {made} ends of messages were not kept: some messages have one end"
            ));
        }
        if self.threads_without_memory > 0 {
            let threads = self.threads_without_memory;
            notes.push(format!("{threads} threads had no memory for events"));
        }
        notes
    }
}

impl<'e> ShownEvents<'e> {
    /// Prepares the events of ranks with these facts, by a pass over them.
    ///
    /// # Errors
    /// Those of `each`.
    pub(crate) fn of(
        selection: &EventSelection,
        profile: EventsProfile<'_>,
        each: &'e EachEvents<'e>,
    ) -> Result<Self, Box<dyn Error>> {
        let EventsProfile { callpaths, is_whole, facts } = profile;
        let mut clock = Clock::of_hosts(facts);
        each(&|_| true, &mut |rank, events| {
            clock.add(rank, events.origin_ns);
            Ok(())
        })?;
        let classes: Vec<EventClass> = selection.classes.iter().map(|&name| name.into()).collect();
        let shown = (!is_whole || !classes.is_empty()).then(|| {
            let of = class::of_callpaths(callpaths).into_iter().zip(callpaths.rows());
            let chosen = of.filter(|(class, _)| classes.is_empty() || classes.contains(class));
            chosen.map(|(_, row)| row.id).collect()
        });
        Ok(Self { each, clock, window: selection.window, shown })
    }

    /// Passes the events of each rank that kept any and `is_chosen` to `visit`, and counts them.
    /// Times are ns since the start of the first rank of the host.
    ///
    /// # Errors
    /// If the profile cannot be read; and the errors of `visit`.
    pub(crate) fn each(
        &self,
        is_chosen: &RankChoice<'_>,
        visit: &mut EventVisitor<'_>,
    ) -> Result<Told, Box<dyn Error>> {
        let mut told = Told::default();
        (self.each)(is_chosen, &mut |rank, events| {
            let shown = self.of_rank(rank, events, &mut told);
            visit(rank, &shown)
        })?;
        Ok(told)
    }

    /// Returns the number of hosts, whose clocks are not compared.
    pub(crate) fn hosts(&self) -> usize {
        self.clock.hosts()
    }

    fn of_rank(&self, rank: u32, events: &RankEvents, told: &mut Told) -> RankEvents {
        let offset_ns = self.clock.offset_ns(rank, events.origin_ns);
        told.ranks += 1;
        told.threads_without_memory += events.threads_without_memory;
        let threads = events.threads.iter().map(|thread| self.thread(thread, offset_ns, told));
        RankEvents { origin_ns: 0, threads: threads.collect(), ..*events }
    }

    fn thread(&self, thread: &ThreadEvents, offset_ns: u64, told: &mut Told) -> ThreadEvents {
        told.threads += 1;
        told.kept += thread.visits.len() as u64;
        told.lost = told.lost.saturating_add(thread.lost());
        told.messages += thread.messages.len() as u64;
        told.messages_lost = told.messages_lost.saturating_add(thread.messages_lost());
        let later = |ns: u64| ns.saturating_add(offset_ns);
        let mut shown = ThreadEvents {
            stopped_ns: thread.stopped_ns.map(later),
            cells: thread.cells.clone(),
            visits: Vec::new(),
            messages: Vec::new(),
            ..*thread
        };
        for cell in shown.cells.iter_mut().filter(|cell| cell.lost > 0) {
            cell.lost_first_ns = later(cell.lost_first_ns);
            cell.lost_last_ns = later(cell.lost_last_ns);
        }
        let visits = thread.visits.iter().filter(|visit| self.is_shown(visit.callpath));
        let visits = visits.map(|visit| VisitEvent { begin_ns: later(visit.begin_ns), ..*visit });
        shown.visits = match self.window {
            None => visits.collect(),
            Some(window) => visits.filter_map(|visit| window.part_of(visit, told)).collect(),
        };
        told.shown += shown.visits.len() as u64;
        let messages = thread.messages.iter().filter(|message| self.is_shown(message.callpath));
        let messages = messages.map(|of| MessageEvent { at_ns: later(of.at_ns), ..*of });
        let is_within = |of: &MessageEvent| self.window.is_none_or(|window| window.has(of.at_ns));
        shown.messages = messages.filter(is_within).collect();
        shown
    }

    fn is_shown(&self, callpath: CallpathId) -> bool {
        self.shown.as_ref().is_none_or(|shown| shown.contains(&callpath))
    }
}

#[cfg(test)]
mod tests;
