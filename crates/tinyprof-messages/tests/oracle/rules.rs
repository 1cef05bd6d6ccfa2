//! The rules of this crate, one function for each event, and local compensation beside them.

use tinyprof_messages::clock::{Clock, Unclear, Wait, message};
use tinyprof_messages::companion::Companion;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::polling::Polling;
use tinyprof_messages::time::{Call, Offset, Post};
use tinyprof_messages::waiting::Collective;
use tinyprof_messages::ways::{Near, Place, Ways};

use crate::program::Kind;
use crate::replay::{Called, Gathering, Heard, Of, Rules, Waits};
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

/// What the rules of a rank tell those of others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    companion: Companion,
    ways: Ways,
}

/// The rules of this crate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Public {
    clock: Clock,
    polling: Polling,
    offset: Offset,
    ways: Ways,
}

impl Public {
    /// Returns the rules of a rank that knows this of the network.
    pub(crate) fn new(offset: Offset) -> Self {
        Self { clock: Clock::default(), polling: Polling::default(), offset, ways: Ways::default() }
    }

    /// Applies a call that has waited for messages, and for receivers.
    fn completed(&mut self, call: Call, heard: &[Heard<Note>]) -> Wait {
        if let [heard] = heard {
            let (post, partner) = (self.post(call, heard), sized(heard));
            match heard.of {
                Of::Answer if heard.posted.is_none() => {
                    return self.clock.send(call, &partner, self.offset);
                }
                Of::Message | Of::Envelope => {
                    return self.clock.complete(call, post, &partner, self.offset);
                }
                _ => {}
            }
        }
        for heard in heard {
            let (post, partner) = (self.post(call, heard), sized(heard));
            match heard.of {
                Of::Answer => self.clock.hear_answer(call, post, &partner, self.offset),
                _ => self.clock.hear(call, &partner, self.offset),
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
    fn post(&self, call: Call, heard: &Heard<Note>) -> Post {
        let now = || (call.entered_ns, self.clock.intrusion_ns());
        let own = heard.posted.map(|own| (own.companion.entry_ns, own.companion.intrusion_ns));
        let (posted_ns, intrusion_ns) = own.unwrap_or_else(now);
        Post { posted_ns, intrusion_ns }
    }

    /// Applies a collective, or its completion.
    fn met(&mut self, call: Call, gathering: &Gathering<'_, Note>) -> Wait {
        let Gathering { kind, root, rank, bytes, posted, entered } = *gathering;
        let number = |value: usize| u32::try_from(value).expect("a few ranks");
        let [rank, ranks, root] = [rank, entered.len(), root].map(number);
        let kind = match kind {
            Kind::Barrier | Kind::Fence => Collective::Barrier,
            Kind::Allreduce | Kind::Alltoall => Collective::AllToAll,
            Kind::Bcast | Kind::Scatter => Collective::FromRoot,
            Kind::Reduce | Kind::Gather => Collective::ToRoot,
            Kind::Scan => Collective::Scan,
        };
        let place = Place { kind, rank, ranks, root, bytes };
        let own = posted.map(|own| (own.companion.entry_ns, own.companion.intrusion_ns));
        let own = own.unwrap_or((call.entered_ns, self.clock.intrusion_ns()));
        let post = Post { posted_ns: own.0, intrusion_ns: own.1 };
        let tell = |(other, note): (u32, &Option<Note>)| {
            let told = note.as_ref();
            let told = told.map(|note| (part(&note.companion, other), note.ways.hints(place)));
            (other, told)
        };
        let mut near = self.ways.near(place);
        loop {
            let members = (0..).zip(entered).filter(|(other, _)| *other != rank);
            let members = members.filter(|(other, _)| near.needs(place, *other)).map(tell);
            let ways = &mut self.ways;
            match self.clock.meet_along(call, post, place, near, members, ways) {
                Ok(waited) => return waited.map_or_else(Wait::default, |(wait, _)| wait),
                Err(Unclear) => near = Near::all(place),
            }
        }
    }
}

/// Returns a rank's part of a collective.
fn part(note: &Companion, rank: u32) -> Meeting {
    message(note, Offset::default(), rank)
}

/// Returns the companion with the size of its message.
fn sized(heard: &Heard<Note>) -> Companion {
    let flags = if heard.blocks { Companion::BLOCKS } else { 0 };
    Companion {
        bytes: if heard.of == Of::Envelope { 0 } else { heard.bytes },
        flags: heard.note.companion.flags | flags,
        ..heard.note.companion
    }
}

impl Rules for Public {
    type Note = Note;

    fn events(&mut self, count: u64, cost_ps: u64) {
        self.clock.events(count, cost_ps);
    }

    fn useful(&mut self, ns: u64) {
        self.clock.useful(ns);
    }

    fn note(&self, now_ns: u64) -> Note {
        let companion = Companion {
            entry_ns: now_ns,
            intrusion_ns: self.clock.intrusion_ns(),
            ideal_ns: self.clock.ideal_ns(),
            ..Companion::default()
        }
        .with_uncertainty(self.clock.uncertainty_beside(now_ns))
        .with_nearest(self.clock.nearest());
        Note { companion, ways: self.ways }
    }

    fn call(&mut self, called: &Called<'_, Note>) -> Waits {
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
                match &called.gathering {
                    Some(gathering) => self.met(called.call, gathering),
                    None => self.completed(called.call, heard),
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
