//! All that has happened in a run, by rank: what an event trace holds.

use crate::engine;
use crate::network::Network;
use crate::program::{Kind, Op};
use crate::programs::Planned;
use crate::trace::{Fact, Partner, Run};

/// A rank has waited for another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited {
    pub(crate) partner: usize,
    /// When the partner came.
    pub(crate) came_ns: u64,
    pub(crate) ns: u64,
}

/// A piece of a rank's time: an activity, or a call.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) rank: usize,
    pub(crate) activity: u64,
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
    /// If it is a call that has waited.
    pub(crate) waited: Option<Waited>,
    /// The number of an operation in which all wait for all.
    pub(crate) meeting: Option<usize>,
}

/// The history of a run.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) ranks: usize,
    /// All pieces, in the order of their ends.
    pub(crate) pieces: Vec<Piece>,
    pub(crate) ended_ns: Vec<u64>,
}

/// Runs a program.
pub(crate) fn of(planned: &Planned, network: Network) -> History {
    let run = engine::run(&planned.program, network, None);
    let ranks = planned.program.ranks.len();
    let mut next = vec![0; ranks];
    let mut pieces = Vec::new();
    for record in &run.records {
        let rank = record.rank;
        let (begin_ns, end_ns, partners) = match &record.fact {
            Fact::Useful(ns) if *ns > 0 => (record.at_ns, record.at_ns + ns, [].as_slice()),
            Fact::Left { entered_ns, partners, .. } => {
                (*entered_ns, record.at_ns, partners.as_slice())
            }
            _ => continue,
        };
        let came = partners.iter().filter_map(|partner| came(&run, rank, *partner)).max();
        let waited = came.and_then(|(came_ns, partner)| {
            let ns = came_ns.min(end_ns).saturating_sub(begin_ns);
            (ns > 0).then_some(Waited { partner, came_ns, ns })
        });
        let activity = planned.activities[rank][next[rank]];
        let is_call = !matches!(planned.program.ranks[rank][next[rank]], Op::Compute(_));
        assert_eq!(is_call, matches!(record.fact, Fact::Left { .. }), "operations in order");
        next[rank] += 1;
        let meeting = partners.iter().find_map(|partner| meeting(&run, *partner));
        pieces.push(Piece { rank, activity, begin_ns, end_ns, waited, meeting });
    }
    pieces.sort_by_key(|piece| piece.end_ns);
    History { ranks, pieces, ended_ns: run.ended_ns }
}

/// Returns when the partner came, and which rank it is.
fn came(run: &Run, rank: usize, partner: Partner) -> Option<(u64, usize)> {
    match partner {
        Partner::Message { message, .. } => {
            Some((run.messages[message].sent_ns, run.messages[message].from))
        }
        Partner::Answer { message, .. } => {
            let receiver = run.messages[message].receiver?;
            Some((run.posted_ns[receiver], run.messages[message].to))
        }
        Partner::Collective { instance, .. } => {
            let (kind, root, entries) = &run.collectives[instance];
            let needed = (0..entries.len()).filter(|&other| kind.needs(rank, other, *root));
            needed.filter_map(|other| Some((entries[other]?, other))).max()
        }
    }
}

fn meeting(run: &Run, partner: Partner) -> Option<usize> {
    let Partner::Collective { instance, .. } = partner else { return None };
    let (kind, ..) = run.collectives[instance];
    let is_meeting = matches!(kind, Kind::Barrier | Kind::Allreduce | Kind::Alltoall | Kind::Fence);
    is_meeting.then_some(instance)
}
