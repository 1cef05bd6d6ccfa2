//! Drives rules by what a measured run has left behind.

use tinyprof_messages::time::Call;

use crate::program::Kind;
use crate::trace::{Fact, Partner, Run, Sort};

/// What a rank is told of a partner of its call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard<Note> {
    /// The partner's state: when it sent, posted its receive, or entered the collective.
    pub(crate) note: Note,
    /// The rank's own state when it posted what the call completes.
    pub(crate) posted: Option<Note>,
    pub(crate) of: Of,
    pub(crate) bytes: u64,
    /// The sender waits for its receiver.
    pub(crate) blocks: bool,
    /// How often data of that rank are sent on until they come to this one, at most.
    pub(crate) hops: u32,
    pub(crate) own_hops: u32,
    /// The operation cannot complete without it.
    pub(crate) needed: bool,
}

/// What a rank is told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Message,
    Answer,
    Member(Kind),
}

/// The ranks of a collective whose entries a rank looks at when it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those that the data come from: the root, all ranks, or those up to the rank.
    Needed,
    /// Those besides that pass the data on in a binomial tree.
    Tree,
}

/// A call that has ended.
#[derive(Debug)]
pub(crate) struct Called<'call, Note> {
    pub(crate) call: Call,
    pub(crate) sort: Sort,
    pub(crate) heard: &'call [Heard<Note>],
    /// A rank that passes data on has not entered the collective yet.
    pub(crate) is_absent: bool,
}

/// The waiting of a call: in the run, and without measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    pub(crate) waiting_ns: u64,
    pub(crate) compensated_ns: u64,
}

/// The rules of a rank.
pub(crate) trait Rules {
    /// The state of a rank that another one is told.
    type Note: Copy;

    /// Returns which entries of a collective it looks at.
    fn scope(&self) -> Scope {
        Scope::Needed
    }

    fn events(&mut self, count: u64, cost_ps: u64);
    fn useful(&mut self, ns: u64);
    fn note(&self, now_ns: u64) -> Self::Note;
    fn call(&mut self, called: &Called<'_, Self::Note>) -> Waits;
    fn intrusion_ns(&self) -> u64;
    fn uncertainty_ns(&self) -> u64;
}

/// What the rules say of a rank at the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    pub(crate) intrusion_ns: u64,
    pub(crate) uncertainty_ns: u64,
    pub(crate) waits: Waits,
}

/// Lets rules judge a run. The cost of an event is what each rank believes it to be.
pub(crate) fn replay<R: Rules>(run: &Run, cost_ps: &[u64], new: impl Fn() -> R) -> Vec<Verdict> {
    let ranks = run.ended_ns.len();
    let mut rules: Vec<R> = (0..ranks).map(|_| new()).collect();
    let mut waits = vec![Waits::default(); ranks];
    let mut sent: Vec<Option<R::Note>> = vec![None; run.messages.len()];
    let mut posted: Vec<Option<R::Note>> = vec![None; run.posted_ns.len()];
    let mut entered: Vec<Vec<Option<R::Note>>> = vec![vec![None; ranks]; run.collectives.len()];
    for record in &run.records {
        let rank = record.rank;
        let rule = &mut rules[rank];
        match &record.fact {
            Fact::Events(count) => rule.events(*count, cost_ps[rank]),
            Fact::Useful(ns) => rule.useful(*ns),
            Fact::Sent(message) => sent[*message] = Some(rule.note(record.at_ns)),
            Fact::Posted(request) => posted[*request] = Some(rule.note(record.at_ns)),
            Fact::Entered(instance) => entered[*instance][rank] = Some(rule.note(record.at_ns)),
            Fact::Left { sort, entered_ns, partners } => {
                let mut heard = Vec::new();
                let mut is_absent = false;
                let scope = rule.scope();
                for partner in partners {
                    let notes = (&sent[..], &posted[..], &entered[..]);
                    hear(run, (rank, scope), *partner, notes, (&mut heard, &mut is_absent));
                }
                let call = Call { entered_ns: *entered_ns, left_ns: record.at_ns };
                let waited = rule.call(&Called { call, sort: *sort, heard: &heard, is_absent });
                waits[rank].waiting_ns += waited.waiting_ns;
                waits[rank].compensated_ns += waited.compensated_ns;
            }
        }
    }
    let verdicts = rules.iter().zip(waits).map(|(rule, waits)| Verdict {
        intrusion_ns: rule.intrusion_ns(),
        uncertainty_ns: rule.uncertainty_ns(),
        waits,
    });
    verdicts.collect()
}

/// The notes of messages, of requests, and of collectives and ranks.
type Notes<'run, Note> = (&'run [Option<Note>], &'run [Option<Note>], &'run [Vec<Option<Note>>]);

/// Adds what the rank hears of a partner.
fn hear<Note: Copy>(
    run: &Run,
    (rank, scope): (usize, Scope),
    partner: Partner,
    (sent, posts, entered): Notes<'_, Note>,
    (heard, is_absent): (&mut Vec<Heard<Note>>, &mut bool),
) {
    match partner {
        Partner::Message { message, posted } => {
            let about = &run.messages[message];
            heard.push(Heard {
                note: sent[message].expect("the note of a message that was sent"),
                posted: posted.and_then(|request| posts[request]),
                of: Of::Message,
                bytes: about.bytes,
                blocks: about.blocks,
                hops: 1,
                own_hops: 0,
                needed: true,
            });
        }
        Partner::Answer { message, posted } => {
            let about = &run.messages[message];
            let receiver = about.receiver.expect("a receive that has taken the message");
            heard.push(Heard {
                note: posts[receiver].expect("the note of a receive that was posted"),
                posted: posted.and(sent[message]),
                of: Of::Answer,
                bytes: about.bytes,
                blocks: about.blocks,
                hops: 1,
                own_hops: 0,
                needed: true,
            });
        }
        Partner::Collective { instance, posted } => {
            let (kind, root, _) = &run.collectives[instance];
            let own = posted.and(entered[instance][rank]);
            let ranks = entered[instance].len();
            let place_of = |rank: usize| (rank + ranks - root) % ranks;
            for (other, note) in entered[instance].iter().enumerate() {
                let place = place_of(other);
                let is_heard = match scope {
                    Scope::Needed => kind.needs(rank, other, *root),
                    Scope::Tree => {
                        kind.needs(rank, other, *root) || passes_on(*kind, place_of(rank), place)
                    }
                };
                if is_heard && let Some(note) = *note {
                    let (of, bytes, blocks) = (Of::Member(*kind), 0, false);
                    let own_hops = hops(*kind, 0, 0, ranks);
                    let hops = hops(*kind, place_of(rank), place, ranks);
                    let needed = kind.needs(rank, other, *root);
                    let posted = own;
                    heard.push(Heard { note, posted, of, bytes, blocks, hops, own_hops, needed });
                } else if is_heard {
                    *is_absent = true;
                }
            }
        }
    }
}

/// Returns whether data between the root and a rank at `place` pass one at `other`.
fn passes_on(kind: Kind, place: usize, other: usize) -> bool {
    // An ancestor has the lowest binary ones cleared.
    let is_above = |upper: usize, lower: usize| {
        let mut above = lower;
        while above > upper {
            above &= above - 1;
        }
        above == upper && upper != lower
    };
    match kind {
        Kind::Bcast | Kind::Scatter => is_above(other, place),
        Kind::Reduce | Kind::Gather => is_above(place, other),
        _ => false,
    }
}

/// Returns how many messages data of `other` take to the rank at `place`, at most.
fn hops(kind: Kind, place: usize, other: usize, ranks: usize) -> u32 {
    match kind {
        Kind::Bcast | Kind::Scatter | Kind::Reduce | Kind::Gather => (place ^ other).count_ones(),
        Kind::Barrier | Kind::Allreduce | Kind::Fence => {
            let distance = (place + ranks - other) % ranks;
            let all = ranks.next_power_of_two();
            let ways = (distance..all).step_by(ranks);
            ways.map(usize::count_ones).max().unwrap_or(0)
        }
        Kind::Scan => (place + ranks - other).rem_euclid(ranks).count_ones(),
        // All rounds, or all but one.
        Kind::Alltoall => {
            let is_all = ranks * (ranks - 1) / 2 % ranks == (place + ranks - other) % ranks;
            ranks as u32 - if is_all { 1 } else { 2 }
        }
    }
}
