//! The engine: runs a program event by event, in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::network::Network;
use crate::program::{Envelope, Kind, Op, Program, Slot};
use crate::queues::{Queues, Wanted};
use crate::trace::{Choices, Fact, Message, Partner, Record, Run, Sort};

/// A request that is complete, and one that was never made.
pub(super) const NULL: usize = usize::MAX;

/// An event of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// The rank goes on with its next operation.
    Next(usize),
    /// The rank enters the call of its operation.
    Enter(usize),
    /// Something that the rank waits for may have happened.
    Look(usize),
    /// The rank leaves its call.
    Leave(usize),
    /// A message, or its announcement, arrives.
    Arrive(usize),
}

/// A request, of the program or of a blocking call.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) rank: usize,
    pub(super) done_ns: Option<u64>,
    pub(super) of: Of,
}

/// What a request is of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    /// The message, once it is known; the number among the rank's receives from any source.
    Receive(Option<usize>, Option<usize>),
    Send(usize),
    Collective(usize),
}

/// What a rank is blocked by.
#[derive(Clone, Debug)]
pub(super) enum Blocked {
    All(Vec<usize>),
    Any(Vec<usize>),
    Probe(Wanted),
}

/// The state of a rank.
#[derive(Debug, Default)]
pub(super) struct Rank {
    pub(super) next: usize,
    pub(super) entered_ns: u64,
    pub(super) is_inside: bool,
    /// Large messages that came while the rank was in no call.
    pub(super) announced: Vec<usize>,
    pub(super) blocked: Option<Blocked>,
    /// Requests of the call that were not posted before it.
    pub(super) fresh: Vec<usize>,
    pub(super) slots: Vec<usize>,
    pub(super) partners: Vec<Partner>,
    pub(super) looks: bool,
    /// How often the loop of this operation has gone round.
    pub(super) rounds: usize,
    pub(super) found: bool,
    pub(super) sent: usize,
    pub(super) collectives: usize,
    pub(super) wildcards: usize,
    pub(super) any: usize,
}

/// A run that is under way.
pub(crate) struct Engine<'program> {
    pub(super) program: &'program Program,
    pub(super) network: Network,
    event_ns: u64,
    pub(super) follows: Option<&'program Choices>,
    pub(super) now: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    number: u64,
    pub(super) ranks: Vec<Rank>,
    pub(super) queues: Vec<Queues>,
    pub(super) requests: Vec<Request>,
    pub(super) last_arrival: Vec<u64>,
    pub(super) run: Run,
    /// The requests of each collective.
    pub(super) members: Vec<Vec<Option<usize>>>,
}

/// Runs a program. Without measurement it follows the choices of the measured run.
pub(crate) fn run(program: &Program, network: Network, follows: Option<&Choices>) -> Run {
    let ranks = program.ranks.len();
    let event_ns = if follows.is_some() { 0 } else { program.event_ns };
    let mut engine = Engine {
        program,
        network,
        event_ns,
        follows,
        now: 0,
        events: BinaryHeap::new(),
        number: 0,
        ranks: (0..ranks).map(|_| Rank::default()).collect(),
        queues: (0..ranks).map(|_| Queues::default()).collect(),
        requests: Vec::new(),
        last_arrival: vec![0; ranks * ranks],
        run: Run { ended_ns: vec![0; ranks], ..Run::default() },
        members: Vec::new(),
    };
    engine.run.choices = Choices { sources: vec![Vec::new(); ranks], any: vec![Vec::new(); ranks] };
    for rank in 0..ranks {
        engine.at(0, Event::Next(rank));
    }
    while let Some(Reverse((time, _, event))) = engine.events.pop() {
        engine.now = time;
        engine.handle(event);
    }
    for (rank, state) in engine.ranks.iter().enumerate() {
        assert_eq!(state.next, program.ranks[rank].len(), "rank {rank} waits for ever");
    }
    engine.run
}

impl Engine<'_> {
    pub(super) fn at(&mut self, time: u64, event: Event) {
        self.number += 1;
        self.events.push(Reverse((time, self.number, event)));
    }

    pub(super) fn say(&mut self, rank: usize, fact: Fact) {
        self.run.records.push(Record { rank, at_ns: self.now, fact });
    }

    fn op(&self, rank: usize) -> Option<Op> {
        self.program.ranks[rank].get(self.ranks[rank].next).cloned()
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Next(rank) => self.next(rank),
            Event::Enter(rank) => self.enter(rank),
            Event::Look(rank) => self.look(rank),
            Event::Leave(rank) => self.leave(rank),
            Event::Arrive(message) => self.arrive(message),
        }
    }

    /// Lets a rank compute, then go on as `event` says.
    fn compute(&mut self, rank: usize, ns: u64, events: u64, event: Event) {
        self.say(rank, Fact::Events(events));
        self.say(rank, Fact::Useful(ns));
        self.at(self.now + ns + events * self.event_ns, event);
    }

    fn next(&mut self, rank: usize) {
        match self.op(rank) {
            None => self.run.ended_ns[rank] = self.now,
            Some(Op::Compute(work)) => {
                self.ranks[rank].next += 1;
                self.compute(rank, work.ns, work.events, Event::Next(rank));
            }
            // Work that a test interrupts comes first.
            Some(Op::Overlap(_, work, _)) => {
                self.compute(rank, work.ns, work.events + 1, Event::Enter(rank));
            }
            Some(_) => self.compute(rank, 0, 1, Event::Enter(rank)),
        }
    }

    fn enter(&mut self, rank: usize) {
        let op = self.op(rank).expect("an operation that was entered");
        let now = self.now;
        let state = &mut self.ranks[rank];
        state.entered_ns = now;
        state.is_inside = true;
        for message in std::mem::take(&mut state.announced) {
            self.arrive(message);
        }
        let state = &mut self.ranks[rank];
        state.looks = false;
        state.found = false;
        state.fresh.clear();
        state.partners.clear();
        match op {
            Op::Compute(_) => unreachable!("computing is no call"),
            Op::Send(envelope) => {
                let request = self.send(rank, envelope);
                self.block(rank, Blocked::All(vec![request]), true);
            }
            Op::Recv(envelope) => {
                let request = self.receive(rank, envelope);
                self.block(rank, Blocked::All(vec![request]), true);
            }
            Op::Sendrecv(to, from) => {
                let requests = vec![self.receive(rank, from), self.send(rank, to)];
                self.block(rank, Blocked::All(requests), true);
            }
            Op::Isend(envelope, slot) => {
                let request = self.send(rank, envelope);
                self.keep(rank, slot, request);
            }
            Op::Irecv(envelope, slot) => {
                let request = self.receive(rank, envelope);
                self.keep(rank, slot, request);
            }
            Op::Collective(kind, root, bytes) => {
                let request = self.collective(rank, kind, root, bytes);
                self.block(rank, Blocked::All(vec![request]), true);
            }
            Op::Start(kind, root, bytes, slot) => {
                let request = self.collective(rank, kind, root, bytes);
                self.keep(rank, slot, request);
            }
            Op::Wait(slot) => {
                let requests = self.of_slots(rank, &[slot]);
                self.block(rank, Blocked::All(requests), false);
            }
            Op::Waitall(slots) => {
                let requests = self.of_slots(rank, &slots);
                self.block(rank, Blocked::All(requests), false);
            }
            Op::Waitany(slots) => self.wait_any(rank, &slots),
            Op::Probe(envelope) => {
                let wanted = wanted(envelope);
                self.block(rank, Blocked::Probe(wanted), false);
            }
            Op::PollProbe(envelope, _) => {
                let found = self.queues[rank].probe(wanted(envelope), &self.run.messages);
                self.test(rank, found.map(probed));
            }
            Op::Poll(slot, _) | Op::Overlap(slot, _, _) => {
                let request = self.ranks[rank].slots[slot];
                let done = self.is_done(request);
                let partner = done.then(|| self.partner(request, false));
                if done {
                    self.retire(rank, request);
                }
                self.test(rank, partner);
            }
        }
    }

    /// Ends a call that does not wait.
    fn test(&mut self, rank: usize, found: Option<Partner>) {
        let state = &mut self.ranks[rank];
        state.looks = true;
        state.found = found.is_some();
        state.partners.extend(found);
        self.at(self.now + self.network.call_ns, Event::Leave(rank));
    }

    fn keep(&mut self, rank: usize, slot: Slot, request: usize) {
        let slots = &mut self.ranks[rank].slots;
        slots.resize(slots.len().max(slot + 1), NULL);
        slots[slot] = request;
        self.at(self.now + self.network.call_ns, Event::Leave(rank));
    }

    fn of_slots(&self, rank: usize, slots: &[Slot]) -> Vec<usize> {
        slots.iter().map(|&slot| self.ranks[rank].slots[slot]).collect()
    }

    /// Makes a request null, as the standard says of one that is complete.
    pub(super) fn retire(&mut self, rank: usize, request: usize) {
        for slot in &mut self.ranks[rank].slots {
            if *slot == request {
                *slot = NULL;
            }
        }
    }

    fn wait_any(&mut self, rank: usize, slots: &[Slot]) {
        let requests = self.of_slots(rank, slots);
        let turn = self.ranks[rank].any;
        self.ranks[rank].any += 1;
        let blocked = match self.follows {
            Some(choices) => Blocked::All(vec![requests[choices.any[rank][turn]]]),
            None => Blocked::Any(requests),
        };
        self.block(rank, blocked, false);
    }

    fn block(&mut self, rank: usize, blocked: Blocked, is_fresh: bool) {
        if let (Blocked::All(requests), true) = (&blocked, is_fresh) {
            self.ranks[rank].fresh.clone_from(requests);
        }
        self.ranks[rank].blocked = Some(blocked);
        self.look(rank);
    }

    fn leave(&mut self, rank: usize) {
        let state = &mut self.ranks[rank];
        state.is_inside = false;
        let partners = std::mem::take(&mut state.partners);
        let sort = match (state.looks, partners.is_empty()) {
            (true, _) => Sort::Looks,
            (false, true) => Sort::Local,
            (false, false) => Sort::Waits,
        };
        let entered_ns = state.entered_ns;
        self.say(rank, Fact::Left { sort, entered_ns, partners });
        let op = self.op(rank).expect("an operation that was entered");
        let state = &mut self.ranks[rank];
        let is_found = state.found;
        state.rounds += 1;
        let rounds = state.rounds;
        match op {
            Op::Poll(_, work) | Op::PollProbe(_, work) if !is_found => {
                self.compute(rank, work.ns, work.events + 2, Event::Enter(rank));
            }
            Op::Overlap(_, work, parts) if rounds < parts => {
                if is_found {
                    let left = (parts - rounds) as u64;
                    state.rounds = 0;
                    state.next += 1;
                    self.compute(rank, left * work.ns, left * work.events + 1, Event::Next(rank));
                } else {
                    self.compute(rank, work.ns, work.events + 2, Event::Enter(rank));
                }
            }
            _ => {
                state.rounds = 0;
                state.next += 1;
                self.compute(rank, 0, 1, Event::Next(rank));
            }
        }
    }
}

/// Returns a message that a probe has found.
pub(super) fn probed(message: usize) -> Partner {
    Partner::Message { message, posted: None, is_probe: true }
}

/// Returns what a probe wants.
fn wanted(envelope: Envelope) -> Wanted {
    Wanted { source: envelope.peer, tag: envelope.tag, number: None }
}

/// Returns a collective's part of a program, for the parts of the engine that keep them.
pub(super) fn instance(kind: Kind, root: usize, ranks: usize) -> (Kind, usize, Vec<Option<u64>>) {
    (kind, root, vec![None; ranks])
}

/// Returns a message that is under way.
pub(super) fn message(from: usize, envelope: Envelope, blocks: bool) -> Message {
    let to = envelope.peer.expect("a receiver");
    let Envelope { tag, bytes, .. } = envelope;
    let (sent_ns, number, sender, receiver) = (0, 0, 0, None);
    Message { from, to, tag, bytes, blocks, sent_ns, number, sender, receiver }
}
