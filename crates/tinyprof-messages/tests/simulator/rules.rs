//! The rules of compensation that are compared, side by side in one run.

use tinyprof_messages::clock::Clock;
use tinyprof_messages::companion::Companion;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::{Call, Offset, Post};
use tinyprof_messages::waiting::Inversions;

use crate::apart::Apart;
use crate::network::Network;

/// A rule of compensation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// This crate's rules, all ranks on one clock, synchronous senders get answers.
    Ours,
    /// The same with clocks that are 10 ms apart, and offsets with errors of 0.25 us.
    Apart,
    /// The same with errors of 25 us.
    Uncertain,
    /// The first, without answers.
    Unanswered,
    /// The first, with one clock in collectives, and nothing known of those of senders.
    Unknown,
    /// Paper 002 as printed: the delay alone is sent.
    Printed,
    /// Paper 002 where the receiver has waited.
    WhereWaited,
    /// Each rank subtracts its own events.
    Local,
}

impl Rule {
    pub(crate) const ALL: [Self; 8] = [
        Self::Ours,
        Self::Apart,
        Self::Uncertain,
        Self::Unanswered,
        Self::Unknown,
        Self::Printed,
        Self::WhereWaited,
        Self::Local,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "this crate, one clock",
            Self::Apart => "this crate, clocks 10 ms apart, offsets known to 0.25 us",
            Self::Uncertain => "this crate, clocks 10 ms apart, offsets known to 25 us",
            Self::Unanswered => "this crate, one clock, no answers to synchronous senders",
            Self::Unknown => "this crate, nothing known of clocks except in collectives",
            Self::Printed => "paper 002, as printed",
            Self::WhereWaited => "paper 002, only where the receiver has waited",
            Self::Local => "each rank its own events",
        }
    }

    /// The error of offsets, if the ranks have clocks of their own.
    fn error_ns(self) -> Option<u64> {
        match self {
            Self::Apart => Some(250),
            Self::Uncertain => Some(25_000),
            _ => None,
        }
    }

    /// Rules that know the delay of a message alone.
    fn is_of_002(self) -> bool {
        matches!(self, Self::Printed | Self::WhereWaited)
    }

    fn read(self, clock: Apart, true_ns: u64) -> u64 {
        self.error_ns().map_or(true_ns, |_| clock.read(true_ns))
    }

    fn call(self, clock: Apart, call: Call) -> Call {
        let [entered_ns, left_ns] = [call.entered_ns, call.left_ns].map(|at| self.read(clock, at));
        Call { entered_ns, left_ns }
    }

    fn offset(self, mine: Apart, other: Apart, network: Network) -> Offset {
        let (ns, uncertainty_ns) = self.error_ns().map_or((0, 0), |error_ns| {
            (mine.measured(error_ns) - other.measured(error_ns), 2 * error_ns)
        });
        let ps_per_byte = network.ns_per_kib * 1_000 / 1_024;
        Offset { ns, uncertainty_ns, latency_ns: network.latency_ns, ps_per_byte }
    }
}

const RULES: usize = Rule::ALL.len();

/// The companions of a message, for each rule.
pub(crate) type Beside = [Companion; RULES];

/// The state of a rank when it posted a receive, for each rule.
pub(crate) type Posts = [Post; RULES];

/// A rank's part of a collective, for each rule, and the delay that 002 sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    meetings: [Meeting; RULES],
    least_delay_ns: [u64; RULES],
}

impl Part {
    pub(crate) fn combine(self, other: Self) -> Self {
        let meetings = std::array::from_fn(|i| self.meetings[i].combine(other.meetings[i]));
        let least_delay_ns =
            std::array::from_fn(|i| self.least_delay_ns[i].min(other.least_delay_ns[i]));
        Self { meetings, least_delay_ns }
    }
}

/// The clocks of a rank under all rules.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    rank: u32,
    clocks: [Clock; RULES],
    /// The same for the rules of 002.
    delays_ns: [u64; RULES],
    apart: Apart,
    network: Network,
    /// Of wildcard receives, under the first rule.
    pub(crate) order: Inversions,
}

impl Clocks {
    pub(crate) fn new(rank: usize, apart: Apart, network: Network) -> Self {
        let rank = u32::try_from(rank).expect("a rank");
        let clocks = [Clock::default(); RULES];
        Self { rank, clocks, delays_ns: [0; RULES], apart, network, order: Inversions::default() }
    }

    pub(crate) fn events(&mut self, count: u64, cost_ns: u64) {
        self.clocks.iter_mut().for_each(|clock| clock.events(count, cost_ns * 1_000));
        self.delays_ns.iter_mut().for_each(|delay_ns| *delay_ns += count * cost_ns);
    }

    pub(crate) fn useful(&mut self, ns: u64) {
        self.clocks.iter_mut().for_each(|clock| clock.useful(ns));
    }

    pub(crate) fn beside(&self, now_ns: u64, bytes: u64) -> Beside {
        Rule::ALL.map(|rule| Companion {
            entry_ns: rule.read(self.apart, now_ns),
            intrusion_ns: self.intrusion_ns(rule),
            ideal_ns: self.clocks[rule as usize].ideal_ns(),
            bytes,
            ..Companion::default()
        })
    }

    pub(crate) fn posts(&self, now_ns: u64) -> Posts {
        Rule::ALL.map(|rule| Post {
            posted_ns: rule.read(self.apart, now_ns),
            intrusion_ns: self.intrusion_ns(rule),
        })
    }

    /// A receive has returned, or a wait for one.
    pub(crate) fn receive(
        &mut self,
        call: Call,
        posts: &Posts,
        from: Apart,
        beside: &Beside,
        is_wildcard: bool,
    ) {
        for rule in Rule::ALL {
            let (mine, companion) = (rule.call(self.apart, call), &beside[rule as usize]);
            let has_waited = companion.entry_ns > mine.entered_ns;
            if rule == Rule::Printed || rule == Rule::WhereWaited && has_waited {
                self.take_over(rule, call, companion.intrusion_ns);
            } else if !rule.is_of_002() && rule != Rule::Local {
                let offset = rule.offset(self.apart, from, self.network);
                let offset = if rule == Rule::Unknown { Offset::UNKNOWN } else { offset };
                let post = posts[rule as usize];
                let wait = self.clocks[rule as usize].complete(mine, post, companion, offset);
                if is_wildcard && rule == Rule::Ours {
                    let latency_ns = self.network.latency_ns;
                    self.order.deliver(wait.partner_ns, wait.virtual_ns, latency_ns);
                }
            }
        }
    }

    /// A synchronous send has returned: `beside` is what the receiver answers.
    pub(crate) fn sent(&mut self, call: Call, to: Apart, beside: &Beside) {
        for rule in [Rule::Ours, Rule::Apart, Rule::Uncertain] {
            let offset = rule.offset(self.apart, to, self.network);
            let call = rule.call(self.apart, call);
            self.clocks[rule as usize].send(call, &beside[rule as usize], offset);
        }
    }

    /// Paper 002, figure 6: `x2 = min(x1, o2 + w)`, with the sign of its errata, where w is the
    /// time in the receive.
    fn take_over(&mut self, rule: Rule, call: Call, delay_ns: u64) {
        let mine_ns = &mut self.delays_ns[rule as usize];
        *mine_ns = delay_ns.min(*mine_ns + call.duration_ns());
    }

    pub(crate) fn part(&self, entered_ns: u64) -> Part {
        let meetings = Rule::ALL.map(|rule| {
            let common = rule.offset(self.apart, Apart::COMMON, self.network);
            let entered_ns = rule.read(self.apart, entered_ns);
            self.clocks[rule as usize].meeting(entered_ns, common, self.rank)
        });
        Part { meetings, least_delay_ns: self.delays_ns }
    }

    pub(crate) fn meet(&mut self, call: Call, part: &Part) {
        for rule in Rule::ALL {
            if rule.is_of_002() {
                self.take_over(rule, call, part.least_delay_ns[rule as usize]);
            } else if rule != Rule::Local {
                let common = rule.offset(self.apart, Apart::COMMON, self.network);
                let call = rule.call(self.apart, call);
                let clock = &mut self.clocks[rule as usize];
                clock.meet_at(call, &part.meetings[rule as usize], common);
            }
        }
    }

    pub(crate) fn ideal_ns(&self) -> u64 {
        self.clocks[Rule::Ours as usize].ideal_ns()
    }

    pub(crate) fn intrusion_ns(&self, rule: Rule) -> u64 {
        if rule.is_of_002() {
            self.delays_ns[rule as usize]
        } else {
            self.clocks[rule as usize].intrusion_ns()
        }
    }
}
