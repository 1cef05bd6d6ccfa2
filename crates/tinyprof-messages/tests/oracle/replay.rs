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
}

/// What a rank is told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Message,
    /// A message that stays, of which its envelope has come.
    Envelope,
    Answer,
    Member,
}

/// A call that has ended.
#[derive(Debug)]
pub(crate) struct Called<'call, Note> {
    pub(crate) call: Call,
    pub(crate) sort: Sort,
    pub(crate) heard: &'call [Heard<Note>],
    pub(crate) gathering: Option<Gathering<'call, Note>>,
}

/// A collective that a call completes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gathering<'call, Note> {
    pub(crate) kind: Kind,
    pub(crate) root: usize,
    pub(crate) rank: usize,
    pub(crate) bytes: u64,
    /// The rank's own state when it started the operation, if that was before the call.
    pub(crate) posted: Option<Note>,
    /// The states of those ranks that have entered by now.
    pub(crate) entered: &'call [Option<Note>],
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
                for partner in partners {
                    let notes = (&sent[..], &posted[..], &entered[..]);
                    hear(run, rank, *partner, notes, &mut heard);
                }
                let gathering = partners.iter().find_map(|partner| match *partner {
                    Partner::Collective { instance, posted } => {
                        let (kind, root, _) = run.collectives[instance];
                        let entered = &entered[instance][..];
                        let posted = posted.and(entered[rank]);
                        let bytes = run.collective_bytes[instance];
                        Some(Gathering { kind, root, rank, bytes, posted, entered })
                    }
                    _ => None,
                });
                let call = Call { entered_ns: *entered_ns, left_ns: record.at_ns };
                let waited = rule.call(&Called { call, sort: *sort, heard: &heard, gathering });
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
    rank: usize,
    partner: Partner,
    (sent, posts, entered): Notes<'_, Note>,
    heard: &mut Vec<Heard<Note>>,
) {
    match partner {
        Partner::Message { message, posted, is_probe } => {
            let about = &run.messages[message];
            heard.push(Heard {
                note: sent[message].expect("the note of a message that was sent"),
                posted: posted.and_then(|request| posts[request]),
                of: if is_probe { Of::Envelope } else { Of::Message },
                bytes: about.bytes,
                blocks: about.blocks,
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
            });
        }
        Partner::Collective { instance, posted } => {
            let (kind, root, _) = &run.collectives[instance];
            let posted = posted.and(entered[instance][rank]);
            for (other, note) in entered[instance].iter().enumerate() {
                if kind.needs(rank, other, *root)
                    && let Some(note) = *note
                {
                    let (of, bytes, blocks) = (Of::Member, 0, false);
                    heard.push(Heard { note, posted, of, bytes, blocks });
                }
            }
        }
    }
}
