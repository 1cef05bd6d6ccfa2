//! The rules of this crate, one function for each event, and local compensation beside them.

use tinyprof_messages::clock::{Clock, Wait, message};
use tinyprof_messages::companion::Companion;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::{Offset, Post};

use crate::replay::{Called, Heard, Of, Rules, Waits};
use crate::trace::Sort;

/// Local compensation: each rank subtracts the cost of its own events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Local(Clock);

impl Rules for Local {
    type Note = ();

    fn events(&mut self, count: u64, cost_ps: u64) {
        self.0.events(count, cost_ps);
    }

    fn useful(&mut self, _: u64) {}

    fn note(&self, _: u64) {}

    fn call(&mut self, _: &Called<'_, ()>) -> Waits {
        Waits::default()
    }

    fn intrusion_ns(&self) -> u64 {
        self.0.intrusion_ns()
    }

    fn uncertainty_ns(&self) -> u64 {
        self.0.intrusion_ns() / 3
    }
}

/// The rules of this crate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Public {
    clock: Clock,
    own: Clock,
    offset: Offset,
}

impl Public {
    /// Returns the rules of a rank that knows this of the network.
    pub(crate) fn new(offset: Offset) -> Self {
        Self { clock: Clock::default(), own: Clock::default(), offset }
    }

    /// Applies a call that has waited for one message.
    fn received(&mut self, called: &Called<'_, Companion>, heard: &Heard<Companion>) -> Wait {
        match heard.posted {
            None => self.clock.receive(called.call, &sized(heard), self.offset),
            Some(own) => {
                let post = Post { posted_ns: own.entry_ns, intrusion_ns: own.intrusion_ns };
                self.clock.complete(called.call, post, &sized(heard), self.offset)
            }
        }
    }

    /// Applies a call that has waited for several, of which some may be answers to sends.
    fn completed(&mut self, called: &Called<'_, Companion>) -> Wait {
        let several = called.heard.iter().enumerate().map(|(number, heard)| {
            message(&sized(heard), self.offset, u32::try_from(number).expect("a few partners"))
        });
        let all = several.reduce(Meeting::combine).expect("a partner");
        self.clock.meet(called.call, &all)
    }

    /// Applies a collective, or its completion.
    fn met(&mut self, called: &Called<'_, Companion>) -> Wait {
        let own = called.heard[0].posted;
        let own = own.map_or_else(
            || self.clock.meeting(called.call.entered_ns, Offset::default(), 0),
            |own| part(&own, 0),
        );
        let others = called.heard.iter().map(|heard| part(&heard.note, 1));
        let all = others.fold(own, Meeting::combine);
        self.clock.meet_at(called.call, &all, Offset::default())
    }
}

/// Returns a rank's part of a collective.
pub(crate) fn part(note: &Companion, rank: u32) -> Meeting {
    Meeting::new(note.entry_ns.cast_signed(), note.intrusion_ns, note.ideal_ns, rank)
}

/// Returns the companion with the size of its message.
fn sized(heard: &Heard<Companion>) -> Companion {
    let flags = if heard.blocks { Companion::BLOCKS } else { 0 };
    Companion { bytes: heard.bytes, flags, ..heard.note }
}

impl Rules for Public {
    type Note = Companion;

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
        let wait = match (called.sort, called.heard) {
            (Sort::Local, _) | (_, []) => return Waits::default(),
            (Sort::Looks, heard) => {
                for heard in heard {
                    self.clock.find(&sized(heard));
                }
                return Waits::default();
            }
            (Sort::Waits, [heard, ..]) if matches!(heard.of, Of::Member(_)) => self.met(called),
            (Sort::Waits, [heard]) if heard.of == Of::Message => self.received(called, heard),
            (Sort::Waits, [heard]) => self.clock.send(called.call, &sized(heard), self.offset),
            (Sort::Waits, _) => self.completed(called),
        };
        Waits { waiting_ns: wait.waiting_ns, compensated_ns: wait.compensated_ns }
    }

    fn intrusion_ns(&self) -> u64 {
        self.clock.intrusion_ns()
    }

    fn uncertainty_ns(&self) -> u64 {
        self.own.intrusion_ns() / 3
    }
}
