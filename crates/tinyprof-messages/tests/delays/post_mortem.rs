//! Scalasca's delay analysis and critical path, from the whole history, backwards in time.
//!
//! Written from the definition of Böhme, Geimer, Arnold, Voigtlaender and Wolf (ACM TOPC 3(2),
//! 2016). Two ranks are synchronised where one has waited for the other, and behind operations in
//! which all wait for all. At a wait state, the delay of the late rank is how much longer each of
//! its activities was in the interval since then. The costs of the wait state are scaled to the
//! waiting; the part of the late rank's own wait states in the interval is passed on to them, as
//! long-term costs.

use std::collections::BTreeMap;

use crate::history::{History, Piece, Waited};

/// Time by rank and activity.
pub(crate) type Causes = BTreeMap<(usize, u64), f64>;

/// What the analysis says.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) direct: Causes,
    pub(crate) propagated: Causes,
    pub(crate) path: Causes,
}

/// Two ranks were synchronised when each was at its time.
#[derive(Clone, Copy, Debug)]
struct Synchronised {
    own_ns: u64,
    partner_ns: u64,
}

/// Analyses a history.
pub(crate) fn analyse(history: &History) -> Analysis {
    let mut analysis = Analysis { path: path(history), ..Analysis::default() };
    let synchronised = synchronised(history);
    let by_rank: Vec<Vec<usize>> = (0..history.ranks)
        .map(|rank| {
            let own = |number: &usize| history.pieces[*number].rank == rank;
            (0..history.pieces.len()).filter(own).collect()
        })
        .collect();
    // What each wait state has caused at others.
    let mut passed_on = vec![0.0; history.pieces.len()];
    for (number, piece) in history.pieces.iter().enumerate().rev() {
        let Some(Waited { partner, came_ns, ns }) = piece.waited else { continue };
        let since = synchronised[piece.rank][partner]
            .iter()
            .rev()
            .find(|since| since.own_ns <= piece.begin_ns && since.partner_ns <= came_ns)
            .copied()
            .unwrap_or(Synchronised { own_ns: 0, partner_ns: 0 });
        let own = times(history, &by_rank[piece.rank], since.own_ns, piece.begin_ns);
        let its = times(history, &by_rank[partner], since.partner_ns, came_ns);
        let delays: BTreeMap<u64, f64> = its
            .activities
            .iter()
            .map(|(activity, ns)| {
                let own_ns = own.activities.get(activity).copied().unwrap_or(0.0);
                (*activity, (ns - own_ns).max(0.0))
            })
            .collect();
        let its_waiting: f64 = its.waits.iter().map(|(_, ns)| ns).sum();
        let sum = delays.values().sum::<f64>() + its_waiting;
        let scale = (1.0 / sum.max(1.0)).min(1.0 / ns as f64);
        let long_term = passed_on[number];
        for (activity, delay) in delays {
            let cause = (partner, activity);
            *analysis.direct.entry(cause).or_default() += scale * delay * ns as f64;
            *analysis.propagated.entry(cause).or_default() += scale * delay * long_term;
        }
        for (wait, waited_ns) in its.waits {
            passed_on[wait] += scale * waited_ns * (ns as f64 + long_term);
        }
    }
    analysis
}

/// Returns when each rank was synchronised with each other, in order.
fn synchronised(history: &History) -> Vec<Vec<Vec<Synchronised>>> {
    let mut found = vec![vec![Vec::new(); history.ranks]; history.ranks];
    let mut meetings: BTreeMap<usize, Vec<&Piece>> = BTreeMap::new();
    for piece in &history.pieces {
        if let Some(meeting) = piece.meeting {
            let members = meetings.entry(meeting).or_default();
            members.push(piece);
            if members.len() == history.ranks {
                for (one, other) in
                    members.iter().flat_map(|one| members.iter().map(move |other| (one, other)))
                {
                    let (own_ns, partner_ns) = (one.end_ns, other.end_ns);
                    found[one.rank][other.rank].push(Synchronised { own_ns, partner_ns });
                }
            }
        } else if let Some(Waited { partner, came_ns, .. }) = piece.waited {
            let (own_ns, partner_ns) = (piece.end_ns, came_ns);
            found[piece.rank][partner].push(Synchronised { own_ns, partner_ns });
            let (own_ns, partner_ns) = (partner_ns, own_ns);
            found[partner][piece.rank].push(Synchronised { own_ns, partner_ns });
        }
    }
    // Members of an operation leave it one after the other: some have gone on meanwhile.
    for pairs in found.iter_mut().flatten() {
        pairs.sort_by_key(|synchronised| synchronised.own_ns + synchronised.partner_ns);
    }
    found
}

/// What a rank did in an interval.
#[derive(Debug, Default)]
struct Times {
    activities: BTreeMap<u64, f64>,
    /// Its wait states.
    waits: Vec<(usize, f64)>,
}

fn times(history: &History, pieces: &[usize], begin_ns: u64, end_ns: u64) -> Times {
    let mut times = Times::default();
    let first = pieces.partition_point(|piece| history.pieces[*piece].end_ns <= begin_ns);
    for &number in &pieces[first..] {
        let piece = &history.pieces[number];
        if piece.begin_ns >= end_ns {
            break;
        }
        let waited_ns = piece.waited.map_or(0, |waited| waited.ns);
        if waited_ns > 0 && piece.begin_ns >= begin_ns && piece.end_ns <= end_ns {
            times.waits.push((number, waited_ns as f64));
        }
        let begin = (piece.begin_ns + waited_ns).max(begin_ns);
        let ns = piece.end_ns.min(end_ns).saturating_sub(begin);
        *times.activities.entry(piece.activity).or_default() += ns as f64;
    }
    times
}

/// Walks from the end of the last rank to the beginning: over to the rank that was waited for, at
/// each wait state.
fn path(history: &History) -> Causes {
    let mut path = Causes::new();
    let last = (0..history.ranks).max_by_key(|rank| history.ended_ns[*rank]);
    let mut rank = last.expect("a program has ranks");
    let mut at_ns = history.ended_ns[rank];
    for piece in history.pieces.iter().rev() {
        if piece.rank != rank || piece.begin_ns >= at_ns {
            continue;
        }
        assert_eq!(piece.end_ns, at_ns, "no time of a rank is missing");
        let begin_ns = piece.waited.map_or(piece.begin_ns, |waited| waited.came_ns.min(at_ns));
        *path.entry((rank, piece.activity)).or_default() += (at_ns - begin_ns) as f64;
        at_ns = begin_ns;
        if let Some(waited) = piece.waited {
            rank = waited.partner;
        }
    }
    assert_eq!(at_ns, 0, "the path goes back to the beginning");
    path
}
