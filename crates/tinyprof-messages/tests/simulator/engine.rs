//! Executes a program: always the rank that is behind all others, one operation at a time.

use tinyprof_messages::time::Call;
use tinyprof_messages::waiting::Collective;

use crate::apart::Apart;
use crate::mailbox::{Mailbox, Message, Posted};
use crate::network::Network;
use crate::program::{Op, Program};
use crate::rules::{Clocks, Part};

/// What became of a program.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// When each rank has ended.
    pub(crate) end_ns: Vec<u64>,
    pub(crate) clocks: Vec<Clocks>,
    /// The sources of each rank's messages, in the order in which they were received.
    pub(crate) sources: Vec<Vec<usize>>,
}

struct Rank {
    now_ns: u64,
    next: usize,
    state: State,
    mailbox: Mailbox,
    /// Posts of the program, as requests of the mailbox.
    posts: Vec<usize>,
    collectives: usize,
    latest: Option<Message>,
    sources: Vec<usize>,
    clocks: Clocks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    /// Since this time, for a request of its own.
    Receiving(u64, usize),
    /// Since this time, for its message to be received.
    Sending(u64),
    /// Since this time, in the collective with this number.
    Meeting(u64, usize),
    Ended,
}

/// A collective that some ranks have entered.
struct Instance {
    kind: Collective,
    root: usize,
    parts: Vec<Option<(u64, Part)>>,
}

struct Engine<'a> {
    program: &'a Program,
    network: Network,
    cost_ns: u64,
    ranks: Vec<Rank>,
    instances: Vec<Instance>,
    apart: &'a [Apart],
    /// The sources that wildcards take, if they are not free.
    replayed: Option<&'a [Vec<usize>]>,
}

/// A run of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    /// The cost of an event.
    pub(crate) cost_ns: u64,
    pub(crate) network: Network,
    pub(crate) apart: &'a [Apart],
    /// The outcome whose messages wildcards take in the same order.
    pub(crate) replayed: Option<&'a Outcome>,
}

/// Runs a program.
pub(crate) fn run(program: &Program, run: Run<'_>) -> Outcome {
    let Run { cost_ns, network, apart, replayed } = run;
    let replayed = replayed.map(|outcome| outcome.sources.as_slice());
    let rank = |rank: usize| Rank {
        now_ns: 1_000_000,
        next: 0,
        state: State::Ready,
        mailbox: Mailbox::default(),
        posts: Vec::new(),
        collectives: 0,
        latest: None,
        sources: Vec::new(),
        clocks: Clocks::new(rank, apart[rank], network),
    };
    let ranks = (0..program.ranks.len()).map(rank).collect();
    let mut engine =
        Engine { program, network, cost_ns, ranks, instances: Vec::new(), apart, replayed };
    let is_ready = |rank: &(usize, &Rank)| rank.1.state == State::Ready;
    while let Some((rank, _)) =
        engine.ranks.iter().enumerate().filter(is_ready).min_by_key(|(_, rank)| rank.now_ns)
    {
        engine.step(rank);
    }
    let ended = engine.ranks.iter().all(|rank| rank.state == State::Ended);
    assert!(ended, "a deadlock");
    let start_ns = 1_000_000;
    let end_ns = engine.ranks.iter().map(|rank| rank.now_ns - start_ns).collect();
    let sources = engine.ranks.iter().map(|rank| rank.sources.clone()).collect();
    let clocks = engine.ranks.into_iter().map(|rank| rank.clocks).collect();
    Outcome { end_ns, clocks, sources }
}

impl Engine<'_> {
    fn step(&mut self, rank: usize) {
        let Some(op) = self.program.ranks[rank].get(self.ranks[rank].next).copied() else {
            self.ranks[rank].state = State::Ended;
            return;
        };
        self.ranks[rank].next += 1;
        match op {
            Op::Work { ns, events } => {
                let me = &mut self.ranks[rank];
                me.now_ns += ns;
                me.clocks.useful(ns);
                self.events(rank, events);
            }
            Op::Send { to, tag, bytes, is_synchronous } => {
                self.send(rank, to, tag, bytes, is_synchronous, false);
            }
            Op::Reply { tag, stops } => {
                let to = self.ranks[rank].latest.expect("a reply to a message").from;
                self.send(rank, to, tag, 1_024, false, stops);
            }
            Op::Receive { from, tag } => {
                self.events(rank, 1);
                let request = self.post(rank, from, tag);
                self.wait(rank, request);
            }
            Op::Post { from, tag } => {
                self.events(rank, 1);
                let request = self.post(rank, from, tag);
                self.ranks[rank].posts.push(request);
                self.ranks[rank].now_ns += self.network.call_ns;
                self.events(rank, 1);
            }
            Op::Wait { request } => {
                self.events(rank, 1);
                let request = self.ranks[rank].posts[request];
                self.wait(rank, request);
            }
            Op::Collective { kind, root } => self.meet(rank, kind, root),
            Op::EndIfStopped => {
                if self.ranks[rank].latest.is_some_and(|message| message.stops) {
                    self.ranks[rank].state = State::Ended;
                }
            }
            Op::Jump { to } => self.ranks[rank].next = to,
        }
    }

    fn events(&mut self, rank: usize, count: u64) {
        let me = &mut self.ranks[rank];
        me.now_ns += count * self.cost_ns;
        me.clocks.events(count, self.cost_ns);
    }

    fn send(&mut self, from: usize, to: usize, tag: i32, bytes: u64, sync: bool, stops: bool) {
        self.events(from, 1);
        let me = &mut self.ranks[from];
        let sent_ns = me.now_ns;
        let companion = me.clocks.beside(sent_ns, bytes);
        let is_synchronous = sync;
        let message = Message { from, tag, bytes, is_synchronous, stops, sent_ns, companion };
        if is_synchronous {
            me.state = State::Sending(sent_ns);
        } else {
            me.now_ns += self.network.call_ns;
            self.events(from, 1);
        }
        if let Some(request) = self.ranks[to].mailbox.deliver(&message, self.network) {
            self.matched(to, request);
        }
    }

    fn post(&mut self, rank: usize, from: Option<usize>, tag: i32) -> usize {
        let me = &mut self.ranks[rank];
        // Receives of a program with wildcards are blocking: the next to post completes next.
        let replayed = self.replayed.map(|sources| sources[rank][me.sources.len()]);
        let from = from.or(replayed);
        let (posted_ns, answer) = (me.now_ns, me.clocks.beside(me.now_ns, 0));
        let post = me.clocks.posts(posted_ns);
        let posted = Posted { from, tag, posted_ns, answer, post, got: None };
        me.mailbox.post(posted, self.network);
        let request = me.mailbox.requests.len() - 1;
        self.matched(rank, request);
        request
    }

    /// Lets those go on that have waited for a request to be matched.
    fn matched(&mut self, rank: usize, request: usize) {
        let posted = self.ranks[rank].mailbox.requests[request];
        let Some((message, done_ns)) = posted.got else { return };
        if let State::Sending(since_ns) = self.ranks[message.from].state
            && message.is_synchronous
        {
            let call = self.leave(message.from, since_ns, done_ns);
            let sender = &mut self.ranks[message.from];
            sender.clocks.sent(call, self.apart[rank], &posted.answer);
            self.events(message.from, 1);
        }
        if matches!(self.ranks[rank].state, State::Receiving(_, waited) if waited == request) {
            self.received(rank, request);
        }
    }

    fn wait(&mut self, rank: usize, request: usize) {
        let me = &mut self.ranks[rank];
        me.state = State::Receiving(me.now_ns, request);
        self.received(rank, request);
    }

    /// Completes a receive that is waited for, if it has its message.
    fn received(&mut self, rank: usize, request: usize) {
        let me = &self.ranks[rank];
        let State::Receiving(since_ns, _) = me.state else { return };
        let Posted { got, post, from, .. } = me.mailbox.requests[request];
        let Some((message, done_ns)) = got else { return };
        let is_wildcard = from.is_none();
        let call = self.leave(rank, since_ns, done_ns);
        let me = &mut self.ranks[rank];
        let from = self.apart[message.from];
        me.clocks.receive(call, &post, from, &message.companion, is_wildcard);
        me.latest = Some(message);
        me.sources.push(message.from);
        self.events(rank, 1);
    }

    /// Ends a call in which the rank has waited until `done_ns`.
    fn leave(&mut self, rank: usize, since_ns: u64, done_ns: u64) -> Call {
        let me = &mut self.ranks[rank];
        me.now_ns = since_ns.max(done_ns) + self.network.call_ns;
        me.state = State::Ready;
        Call { entered_ns: since_ns, left_ns: me.now_ns }
    }

    fn meet(&mut self, rank: usize, kind: Collective, root: usize) {
        self.events(rank, 1);
        let count = self.ranks.len();
        let me = &mut self.ranks[rank];
        let number = me.collectives;
        me.collectives += 1;
        if self.instances.len() == number {
            self.instances.push(Instance { kind, root, parts: vec![None; count] });
        }
        self.instances[number].parts[rank] = Some((me.now_ns, me.clocks.part(me.now_ns)));
        me.state = State::Meeting(me.now_ns, number);
        for other in 0..count {
            self.leave_meeting(other, number);
        }
    }

    /// Lets a rank leave a collective if all have come that it waits for.
    fn leave_meeting(&mut self, rank: usize, number: usize) {
        let State::Meeting(since_ns, meeting) = self.ranks[rank].state else { return };
        let Instance { kind, root, parts } = &self.instances[number];
        let id = |rank: usize| u32::try_from(rank).expect("a rank");
        let is_waited_for = |other: &usize| kind.waits_for(id(rank), id(*other), id(*root));
        let others: Option<Vec<(u64, Part)>> =
            (0..parts.len()).filter(is_waited_for).map(|other| parts[other]).collect();
        let Some(others) = others.filter(|_| meeting == number) else { return };
        let waits = kind.waits(id(rank), id(*root));
        let last_ns = others.iter().map(|(at, _)| *at).max().unwrap_or(0).max(since_ns);
        let part = others.into_iter().map(|(_, part)| part).reduce(Part::combine);
        let call = self.leave(rank, since_ns, last_ns + self.network.collective_ns);
        if let Some(part) = part.filter(|_| waits) {
            self.ranks[rank].clocks.meet(call, &part);
        }
        self.events(rank, 1);
    }
}
