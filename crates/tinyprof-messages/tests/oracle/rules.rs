//! The rules of this crate, one function for each event, and local compensation beside them.

use tinyprof_messages::clock::{Clock, Wait, message};
use tinyprof_messages::companion::Companion;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::polling::Polling;
use tinyprof_messages::time::{Call, Offset, Post};

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
    polling: Polling,
    offset: Offset,
}

impl Public {
    /// Returns the rules of a rank that knows this of the network.
    pub(crate) fn new(offset: Offset) -> Self {
        Self { clock: Clock::default(), polling: Polling::default(), offset }
    }

    /// Applies a call that has waited for messages, and for receivers.
    fn completed(&mut self, call: Call, heard: &[Heard<Companion>]) -> Wait {
        if let [heard] = heard {
            let (post, partner) = (self.post(call, heard), sized(heard));
            match heard.of {
                Of::Answer if heard.posted.is_none() => {
                    return self.clock.send(call, &partner, self.offset);
                }
                Of::Message => return self.clock.complete(call, post, &partner, self.offset),
                _ => {}
            }
        }
        let several = heard.iter().enumerate().map(|(number, heard)| {
            let (post, partner) = (self.post(call, heard), sized(heard));
            let number = u32::try_from(number).expect("a few partners");
            match heard.of {
                Of::Answer => self.clock.answer(post, &partner, self.offset, number),
                _ => self.clock.incoming(post, &partner, self.offset, number),
            }
        });
        let all = several.reduce(Meeting::combine).expect("a partner");
        self.clock.meet(call, &all)
    }

    /// Returns when the rank has posted what a call completes.
    fn post(&self, call: Call, heard: &Heard<Companion>) -> Post {
        let now = || (call.entered_ns, self.clock.intrusion_ns());
        let own = heard.posted.map(|own| (own.entry_ns, own.intrusion_ns));
        let (posted_ns, intrusion_ns) = own.unwrap_or_else(now);
        Post { posted_ns, intrusion_ns }
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
        match called.heard[0].posted {
            None => self.clock.meet_at(called.call, &all, Offset::default()),
            Some(_) => self.clock.meet(called.call, &all),
        }
    }
}

/// Returns a rank's part of a collective.
fn part(note: &Companion, rank: u32) -> Meeting {
    message(note, Offset::default(), rank)
}

/// Returns the companion with the size of its message.
fn sized(heard: &Heard<Companion>) -> Companion {
    let flags = if heard.blocks { Companion::BLOCKS } else { 0 };
    Companion { bytes: heard.bytes, flags: heard.note.flags | flags, ..heard.note }
}

impl Rules for Public {
    type Note = Companion;

    fn events(&mut self, count: u64, cost_ps: u64) {
        self.clock.events(count, cost_ps);
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
        .with_uncertainty(self.clock.uncertainty())
    }

    fn call(&mut self, called: &Called<'_, Companion>) -> Waits {
        let wait = match (called.sort, called.heard) {
            (Sort::Local, _) => {
                self.polling.other();
                return Waits::default();
            }
            (Sort::Looks, []) => {
                self.polling.failed(called.call.entered_ns, &self.clock);
                return Waits::default();
            }
            (Sort::Looks, heard) => {
                match self.polling.found(called.call, &mut self.clock) {
                    Some(call) => _ = self.completed(call, heard),
                    None => heard.iter().for_each(|heard| self.clock.find(&sized(heard))),
                }
                return Waits::default();
            }
            (Sort::Waits, heard) => {
                self.polling.waited();
                match heard {
                    [] => {
                        self.clock.doubt(called.call.duration_ns());
                        return Waits::default();
                    }
                    [heard, ..] if matches!(heard.of, Of::Member) => self.met(called),
                    _ => self.completed(called.call, heard),
                }
            }
        };
        Waits { waiting_ns: wait.waiting_ns, compensated_ns: wait.compensated_ns }
    }

    fn intrusion_ns(&self) -> u64 {
        self.clock.intrusion_ns()
    }

    fn uncertainty_ns(&self) -> u64 {
        self.clock.uncertainty_ns()
    }
}
