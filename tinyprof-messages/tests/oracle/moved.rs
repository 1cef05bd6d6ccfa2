//! Proposed rules out of this crate's functions: partners are moved by the latency that was
//! measured at the start, and all of them by the rest, if the call has waited.

use tinyprof_messages::clock::Clock;
use tinyprof_messages::companion::Companion;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::{Call, Offset};

use crate::replay::{Called, Heard, Of, Rules, Scope, Waits};
use crate::rules::part;
use crate::trace::Sort;
use crate::trees::Trees;

/// The longest time of a call that has not waited, in ns.
const LONGEST_BASE: i64 = 1_000;

/// The rules of a rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    clock: Clock,
    own: Clock,
    offset: Offset,
    base: i64,
    trees: Trees,
    /// The time and the clock at the first of a loop of tests that found nothing.
    polling: Option<(u64, Clock)>,
    has_waited_after_tests: bool,
}

impl Moved {
    /// Returns the rules of a rank that knows this of the network.
    pub(crate) fn new(offset: Offset) -> Self {
        let (clock, own) = (Clock::default(), Clock::default());
        let (base, trees) = (LONGEST_BASE, Trees::default());
        let (polling, has_waited_after_tests) = (None, false);
        Self { clock, own, offset, base, trees, polling, has_waited_after_tests }
    }

    /// Returns when what a partner has, or wants, is there.
    fn arrival(&self, entered_ns: u64, heard: &Heard<Companion>) -> Meeting {
        let latency = self.offset.latency_ns.cast_signed();
        let bytes = (heard.bytes * self.offset.ps_per_byte / 1_000).cast_signed();
        let partner = part(&heard.note, 1);
        if let Of::Member(_) = heard.of {
            return later(partner, latency * i64::from(heard.hops));
        }
        if !heard.blocks {
            return later(partner, latency + bytes);
        }
        // A large message is announced, asked for when both sides are ready, and sent.
        let own = heard.posted.map_or_else(
            || self.clock.meeting(entered_ns, Offset::default(), 0),
            |own| part(&own, 0),
        );
        match heard.of {
            Of::Answer => later(later(own, latency).combine(partner), latency + bytes),
            _ => later(later(partner, latency).combine(own), 2 * latency + bytes),
        }
    }

    fn apply(&mut self, call: Call, heard: &[Heard<Companion>]) {
        let Some(first) = heard.first() else { return };
        let entered = call.entered_ns.cast_signed();
        let left = call.left_ns.cast_signed();
        self.base = self.base.min(left - entered);
        let end = left - self.base;
        let arrivals = heard.iter().map(|heard| self.arrival(call.entered_ns, heard));
        let mut all = arrivals.reduce(Meeting::combine).expect("a partner");
        let is_member = matches!(first.of, Of::Member(_));
        if is_member {
            // The way of the rank's own part may be the longest.
            let own = self.clock.meeting(call.entered_ns, Offset::default(), 0);
            let own = first.posted.map_or(own, |own| part(&own, 0));
            let latency = self.offset.latency_ns.cast_signed();
            all = all.combine(later(own, latency * i64::from(first.own_hops)));
        }
        let is_open = is_member && first.posted.is_none();
        let is_sure = heard.iter().any(|heard| heard.note.entry_ns.cast_signed() >= entered);
        let is_likely = all.last_ns > entered && left - entered > self.base;
        if is_open || is_sure || is_likely {
            all = later(all, end - all.last_ns);
        } else {
            all = later(all, entered.min(all.last_ns) - all.last_ns);
        }
        self.clock.meet(call, &all);
    }
}

/// Returns a meeting that is later, in the run and without measurement.
fn later(meeting: Meeting, ns: i64) -> Meeting {
    Meeting { last_ns: meeting.last_ns + ns, virtual_ns: meeting.virtual_ns + ns, ..meeting }
}

impl Rules for Moved {
    type Note = Companion;

    fn scope(&self) -> Scope {
        Scope::Tree
    }

    fn events(&mut self, count: u64, cost_ps: u64) {
        self.clock.events(count, cost_ps);
        self.own.events(count, cost_ps);
    }

    fn useful(&mut self, ns: u64) {
        self.clock.useful(ns);
    }

    fn note(&self, now_ns: u64) -> Companion {
        Companion {
            entry_ns: now_ns,
            intrusion_ns: self.clock.intrusion_ns(),
            ideal_ns: self.clock.ideal_ns(),
            ..Companion::default()
        }
    }

    fn call(&mut self, called: &Called<'_, Companion>) -> Waits {
        match called.sort {
            Sort::Local => self.polling = None,
            Sort::Waits => {
                self.has_waited_after_tests |= self.polling.take().is_some();
                let latency = self.offset.latency_ns.cast_signed();
                let entered_ns = |note: &Companion| note.entry_ns.cast_signed();
                let heard = self.trees.relevant(called, latency, entered_ns);
                self.apply(called.call, &heard);
            }
            Sort::Looks if called.heard.is_empty() => {
                self.polling.get_or_insert((called.call.entered_ns, self.clock));
            }
            // Work that is there anyway, and interrupted by tests.
            Sort::Looks if self.has_waited_after_tests => self.polling = None,
            // A loop that does nothing but wait is one call, with the cost of its tests in it.
            Sort::Looks => {
                let (entered_ns, clock) =
                    self.polling.take().unwrap_or((called.call.entered_ns, self.clock));
                self.clock = clock;
                self.apply(Call { entered_ns, ..called.call }, called.heard);
            }
        }
        Waits::default()
    }

    fn intrusion_ns(&self) -> u64 {
        self.clock.intrusion_ns()
    }

    fn uncertainty_ns(&self) -> u64 {
        self.own.intrusion_ns() / 3
    }
}
