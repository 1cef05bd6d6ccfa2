//! Proposed rules: the arrival is observed where a call has waited, and needs no latency.
//!
//! A call that has waited ended a base cost after what it waited for had arrived. So that arrival
//! is known, whatever the network. Without measurement it would have been earlier by the intrusion
//! of its cause, and the call would have ended at the later of both chains: that of the rank, and
//! that of the arrival. Only the arrival of what was not waited for has to be estimated.

use crate::chain::Chain;
use crate::network_seen::{Network, Sort};
use crate::replay::{Called, Heard, Of, Rules, Scope, Waits};
use crate::trace;
use crate::trees::Trees;

/// The longest time of a call that has not waited, in ns.
const LONGEST_BASE: i64 = 1_000;

/// The part of its own cost that a rank is unsure of: one of so many.
const UNSURE: i64 = 3;

/// The state of a rank that another one is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    chain: Chain,
    /// The shortest latency that the rank has seen, or heard of; 0 if none.
    latency: i64,
}

/// The proposed rules of a rank.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    intrusion: i64,
    uncertainty: i64,
    rest_ps: u64,
    rest_unsure: i64,
    /// The shortest time of a call.
    base: i64,
    network: Network,
    /// The state at the first of a loop of tests that found nothing.
    polling: Option<Chain>,
    has_waited_after_tests: bool,
    trees: Trees,
}

/// A call of a rank, with the time at which it would have ended if it had cost nothing.
#[derive(Clone, Copy, Debug)]
struct Span {
    entered: i64,
    left: i64,
    end: i64,
}

impl Arrival {
    /// Returns the rules of a rank that knows this of the network; 0 for unknown.
    pub(crate) fn new(latency_ns: u64, ps_per_byte: u64) -> Self {
        Self {
            intrusion: 0,
            uncertainty: 0,
            rest_ps: 0,
            rest_unsure: 0,
            base: LONGEST_BASE,
            network: Network::new(latency_ns.cast_signed(), ps_per_byte.cast_signed()),
            polling: None,
            has_waited_after_tests: false,
            trees: Trees::default(),
        }
    }

    fn chain(&self, at: i64) -> Chain {
        Chain { arrival: at, intrusion: self.intrusion, uncertainty: self.uncertainty }
    }

    /// Applies a call that has waited, or has found at once what it wanted.
    fn apply(&mut self, entered: i64, left: i64, heard: &[Heard<Note>]) -> Waits {
        for heard in heard {
            self.network.hear(heard.note.latency);
        }
        self.base = self.base.min(left - entered);
        let span = Span { entered, left, end: left - self.base };
        let all = match heard.first() {
            None => return Waits::default(),
            Some(Heard { of: Of::Member(_), .. }) => self.meet(span, heard),
            Some(_) => self.complete(span, heard),
        };
        let waits = waits(span, self.intrusion, heard);
        self.intrusion = all.intrusion + span.end - all.arrival;
        self.uncertainty = all.uncertainty;
        waits
    }

    /// Returns when both sides of a message were ready, and the sort of its way.
    fn ready(&self, entered: i64, heard: &Heard<Note>) -> (Chain, Sort) {
        let own = heard.posted.map_or_else(|| self.chain(entered), |note| note.chain);
        let partner = heard.note.chain;
        // What a sender announces travels while the receiver still computes.
        let latency = self.network.latency();
        match heard.of {
            _ if !heard.blocks => (partner, Sort::Small),
            Of::Answer => (own.after(latency).join(partner), Sort::Answer),
            _ => (partner.after(latency).join(own), Sort::Large),
        }
    }

    /// Joins the chains of messages with that of the rank.
    fn complete(&mut self, span: Span, heard: &[Heard<Note>]) -> Chain {
        let Span { entered, left, end } = span;
        let mut own = self.chain(entered);
        let ready: Vec<(Chain, Sort)> =
            heard.iter().map(|heard| self.ready(entered, heard)).collect();
        let way = |place: usize| self.network.way(ready[place].1, heard[place].bytes);
        let mut chains: Vec<Chain> =
            (0..ready.len()).map(|place| ready[place].0.after(way(place)).until(end)).collect();
        let last = (0..chains.len())
            .max_by_key(|&place| (chains[place].arrival, ready[place].0.arrival))
            .expect("a partner");
        let (cause, sort) = ready[last];
        let is_sure = cause.arrival >= entered;
        let is_likely = if self.network.knows(sort) {
            chains[last].arrival > entered && left - entered > self.base
        } else {
            left - entered > LONGEST_BASE
        };
        let has_waited = is_sure || is_likely;
        if has_waited {
            chains[last].arrival = end;
        } else {
            own.arrival = end;
        }
        // What did not decide the end of the call arrived at a time that is estimated.
        for (place, (chain, (ready, sort))) in chains.iter_mut().zip(&ready).enumerate() {
            if place != last || !has_waited {
                let unsure = self.network.unsure(*sort).unwrap_or(i64::MAX);
                chain.uncertainty += unsure.min((end - ready.arrival).max(0));
            }
        }
        if is_sure {
            self.network.learn(sort, heard[last].bytes, end - cause.arrival);
        }
        chains.into_iter().fold(own, Chain::join)
    }

    /// Joins the chains of a collective. What is not known of its way is equal for all ranks.
    fn meet(&mut self, span: Span, heard: &[Heard<Note>]) -> Chain {
        let Span { entered, left, end } = span;
        let first = &heard[0];
        let last = heard.iter().max_by_key(|heard| heard.note.chain.arrival).expect("a member");
        if last.note.chain.arrival > entered {
            let hops = i64::from(last.hops.max(1));
            self.network.hear((end - last.note.chain.arrival) / hops);
        }
        let latency = self.network.latency();
        let hops = |hops: u32| latency * i64::from(hops);
        let others = heard.iter().map(|heard| heard.note.chain.after(hops(heard.hops)));
        let others = others.reduce(Chain::join).expect("a member");
        let mut own = self.chain(entered);
        let start = first.posted.map_or(own, |note| note.chain).after(hops(first.own_hops));
        let ready = start.arrival.max(others.arrival);
        let mut rest = end - ready;
        if let (Of::Member(kind), true) = (first.of, first.posted.is_some()) {
            // It may have been complete before the call.
            let sort = Sort::Collective(kind);
            let is_likely = if self.network.knows(sort) {
                left - entered > self.base && ready + self.network.way(sort, 1) > entered
            } else {
                left - entered > LONGEST_BASE
            };
            if ready >= entered {
                self.network.learn(sort, 1, rest);
            } else if !is_likely {
                rest = self.network.way(sort, 1).min(entered - ready);
                own.arrival = end;
            }
        }
        let (mut start, mut others) = (start.after(rest), others.after(rest));
        let unsure = if latency > 0 { latency / 4 } else { rest.abs() / 2 };
        let early = if start.arrival < others.arrival { &mut start } else { &mut others };
        early.uncertainty += unsure;
        own.join(start).join(others)
    }
}

/// Returns the waiting of a call, by Scalasca's definitions.
fn waits(span: Span, intrusion: i64, heard: &[Heard<Note>]) -> Waits {
    let needed = || heard.iter().filter(|heard| heard.needed).map(|heard| heard.note.chain);
    let came = needed().map(|chain| chain.arrival).max().unwrap_or(0).min(span.left);
    let virtually = needed().map(|chain| chain.arrival - chain.intrusion).max().unwrap_or(0);
    Waits {
        waiting_ns: (came - span.entered).max(0) as u64,
        compensated_ns: (virtually - (span.entered - intrusion)).max(0) as u64,
    }
}

impl Rules for Arrival {
    type Note = Note;

    fn scope(&self) -> Scope {
        Scope::Tree
    }

    fn events(&mut self, count: u64, cost_ps: u64) {
        self.rest_ps += count * cost_ps;
        let ns = (self.rest_ps / 1_000).cast_signed();
        self.rest_ps %= 1_000;
        self.intrusion += ns;
        self.rest_unsure += ns;
        self.uncertainty += self.rest_unsure / UNSURE;
        self.rest_unsure %= UNSURE;
    }

    fn useful(&mut self, _: u64) {}

    fn note(&self, now_ns: u64) -> Note {
        Note { chain: self.chain(now_ns.cast_signed()), latency: self.network.seen_latency() }
    }

    fn call(&mut self, called: &Called<'_, Note>) -> Waits {
        let entered = called.call.entered_ns.cast_signed();
        let left = called.call.left_ns.cast_signed();
        match called.sort {
            trace::Sort::Local => {
                self.polling = None;
                Waits::default()
            }
            trace::Sort::Waits => {
                self.has_waited_after_tests |= self.polling.take().is_some();
                let latency = self.network.latency();
                let heard = self.trees.relevant(called, latency, |note| note.chain.arrival);
                self.apply(entered, left, &heard)
            }
            trace::Sort::Looks if called.heard.is_empty() => {
                let chain = self.chain(entered);
                self.polling.get_or_insert(chain);
                Waits::default()
            }
            // Work that is there anyway, and interrupted by tests.
            trace::Sort::Looks if self.has_waited_after_tests => {
                self.polling = None;
                Waits::default()
            }
            // A loop that does nothing but wait: its own cost is hidden by the waiting.
            trace::Sort::Looks => {
                let began = self.polling.take().unwrap_or_else(|| self.chain(entered));
                self.intrusion = began.intrusion;
                self.uncertainty = began.uncertainty;
                self.apply(began.arrival, left, called.heard);
                Waits::default()
            }
        }
    }

    fn intrusion_ns(&self) -> u64 {
        self.intrusion.max(0) as u64
    }

    fn uncertainty_ns(&self) -> u64 {
        self.uncertainty.max(0) as u64
    }
}
