//! The engine's messages and collectives: when what is waited for has happened.

use crate::engine::{self, Blocked, Engine, Event, NULL, Of, Request};
use crate::program::{Envelope, Kind};
use crate::queues::Wanted;
use crate::trace::{Fact, Message, Partner};

impl Engine<'_> {
    fn request(&mut self, rank: usize, of: Of) -> usize {
        self.requests.push(Request { rank, done_ns: None, of });
        self.run.posted_ns.push(self.now);
        self.requests.len() - 1
    }

    fn done(&mut self, request: usize, at_ns: u64) {
        self.requests[request].done_ns = Some(at_ns);
        self.at(at_ns, Event::Look(self.requests[request].rank));
    }

    pub(super) fn is_done(&self, request: usize) -> bool {
        self.requests[request].done_ns.is_some_and(|done_ns| done_ns <= self.now)
    }

    /// Starts a send. A small message is copied, a large one announced.
    pub(super) fn send(&mut self, rank: usize, envelope: Envelope) -> usize {
        let network = self.network;
        let blocks = envelope.bytes > network.eager_bytes;
        let number = self.run.messages.len();
        let request = self.request(rank, Of::Send(number));
        let mut message = engine::message(rank, envelope, blocks);
        message.sent_ns = self.now;
        message.sender = request;
        message.number = self.ranks[rank].sent;
        self.ranks[rank].sent += 1;
        let bytes_ns = if blocks { 0 } else { network.bytes_ns(envelope.bytes) };
        let arrival = self.now + network.call_ns + network.latency_ns + bytes_ns;
        // Messages of one sender do not overtake each other.
        let last = &mut self.last_arrival[rank * self.ranks.len() + message.to];
        *last = arrival.max(*last + 1);
        let arrival = *last;
        self.run.messages.push(message);
        self.say(rank, Fact::Sent(number));
        self.at(arrival, Event::Arrive(number));
        if !blocks {
            self.done(request, self.now + bytes_ns);
        }
        request
    }

    /// Posts a receive.
    pub(super) fn receive(&mut self, rank: usize, envelope: Envelope) -> usize {
        let mut wanted = Wanted { source: envelope.peer, tag: envelope.tag, number: None };
        let mut wildcard = None;
        if envelope.peer.is_none() {
            let turn = self.ranks[rank].wildcards;
            self.ranks[rank].wildcards += 1;
            wildcard = Some(turn);
            self.run.choices.sources[rank].push((0, 0));
            if let Some(choices) = self.follows {
                let (source, number) = choices.sources[rank][turn];
                wanted.source = Some(source);
                wanted.number = Some(number);
            }
        }
        let request = self.request(rank, Of::Receive(None, wildcard));
        self.say(rank, Fact::Posted(request));
        if let Some(message) = self.queues[rank].post(request, wanted, &self.run.messages) {
            self.deliver(request, message);
        }
        request
    }

    pub(super) fn arrive(&mut self, message: usize) {
        let Message { to, blocks, .. } = self.run.messages[message];
        // Messages of one sender keep their order.
        let is_later = !self.ranks[to].announced.is_empty();
        if self.network.is_lazy && !self.ranks[to].is_inside && (blocks || is_later) {
            self.ranks[to].announced.push(message);
            return;
        }
        match self.queues[to].arrive(message, &self.run.messages) {
            Some(request) => self.deliver(request, message),
            None => self.look(to),
        }
    }

    /// Gives a message that has come to a receive that is posted.
    fn deliver(&mut self, request: usize, number: usize) {
        let network = self.network;
        let message = &mut self.run.messages[number];
        message.receiver = Some(request);
        let (blocks, sender, from) = (message.blocks, message.sender, message.from);
        let bytes_ns = network.bytes_ns(message.bytes);
        let choice = (from, message.number);
        let Request { rank, of, .. } = &mut self.requests[request];
        if let Of::Receive(taken, wildcard) = of {
            *taken = Some(number);
            if let Some(turn) = *wildcard {
                self.run.choices.sources[*rank][turn] = choice;
            }
        }
        if blocks {
            // The receiver asks for the data, which are sent then.
            let sent = self.now + network.latency_ns + bytes_ns;
            self.done(sender, sent);
            self.done(request, sent + network.latency_ns);
        } else {
            self.done(request, self.now);
        }
    }

    /// Enters a collective: the next one of this rank.
    pub(super) fn collective(&mut self, rank: usize, kind: Kind, root: usize, bytes: u64) -> usize {
        let ranks = self.ranks.len();
        let number = self.ranks[rank].collectives;
        self.ranks[rank].collectives += 1;
        if number == self.run.collectives.len() {
            self.run.collectives.push(engine::instance(kind, root, ranks));
            self.run.collective_bytes.push(bytes);
            self.members.push(vec![None; ranks]);
        }
        let request = self.request(rank, Of::Collective(number));
        self.say(rank, Fact::Entered(number));
        self.members[number][rank] = Some(request);
        let (_, _, entries) = &mut self.run.collectives[number];
        entries[rank] = Some(self.now);
        let exits = self.network.exits(kind, root, bytes, entries);
        for (member, exit) in exits.into_iter().enumerate() {
            if let (Some(request), Some(exit)) = (self.members[number][member], exit)
                && self.requests[request].done_ns.is_none()
            {
                self.done(request, exit);
            }
        }
        request
    }

    /// Returns what a request waits for.
    pub(super) fn partner(&self, request: usize, is_fresh: bool) -> Partner {
        let posted = (!is_fresh).then_some(request);
        match self.requests[request].of {
            Of::Receive(message, _) => {
                let message = message.expect("a message that has come");
                Partner::Message { message, posted, is_probe: false }
            }
            Of::Send(message) => Partner::Answer { message, posted },
            Of::Collective(instance) => Partner::Collective { instance, posted },
        }
    }

    /// Lets a rank leave its call if what blocks it has happened.
    pub(super) fn look(&mut self, rank: usize) {
        let Some(blocked) = &self.ranks[rank].blocked else { return };
        let requests = match blocked {
            Blocked::All(requests) => {
                let mut open = requests.iter().filter(|&&request| request != NULL);
                open.all(|&request| self.is_done(request)).then(|| requests.clone())
            }
            Blocked::Any(requests) => {
                let first = (0..requests.len())
                    .filter(|&place| requests[place] != NULL && self.is_done(requests[place]))
                    .min_by_key(|&place| self.requests[requests[place]].done_ns);
                first.map(|place| {
                    self.run.choices.any[rank].push(place);
                    vec![requests[place]]
                })
            }
            Blocked::Probe(wanted) => {
                let Some(message) = self.queues[rank].probe(*wanted, &self.run.messages) else {
                    return;
                };
                self.ranks[rank].partners.push(engine::probed(message));
                Some(Vec::new())
            }
        };
        let Some(requests) = requests else { return };
        self.ranks[rank].blocked = None;
        for request in requests.into_iter().filter(|&request| request != NULL) {
            self.retire(rank, request);
            let is_fresh = self.ranks[rank].fresh.contains(&request);
            let partner = self.partner(request, is_fresh);
            if self.is_followed(partner) {
                self.ranks[rank].partners.push(partner);
            }
        }
        self.at(self.now + self.network.call_ns, Event::Leave(rank));
    }

    /// Returns whether anybody is waited for: not by the sender of a small message.
    fn is_followed(&self, partner: Partner) -> bool {
        match partner {
            Partner::Answer { message, .. } => self.run.messages[message].blocks,
            Partner::Message { .. } | Partner::Collective { .. } => true,
        }
    }
}
