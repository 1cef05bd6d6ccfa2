//! Which ranks of a host move.

use std::collections::HashMap;
use std::fs;

use tinyprof_format::model::EventMap;
use tinyprof_picture::{Few, Still};

/// The time from which on a rank counts as one that does not move, in ns.
const LEAST_NS: u64 = 3_000_000_000;

/// The numbers of each rank when they changed last.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    ranks: HashMap<u32, (u64, u64)>,
}

impl Progress {
    /// Returns the ranks that have neither entered nor left anything for some time. `now_ns` is on
    /// a clock that does not step back.
    pub(super) fn still(&mut self, ranks: &[EventMap], now_ns: u64) -> Few<Still> {
        let mut still = Few::default();
        for (number, rank) in (0_u32..).zip(ranks).filter(|(_, rank)| !rank.callpaths.is_empty()) {
            let now = visits(rank);
            let (then, since_ns) = self.ranks.entry(number).or_insert((now, now_ns));
            if *then != now {
                (*then, *since_ns) = (now, now_ns);
            }
            let since_ns = now_ns.saturating_sub(*since_ns);
            if since_ns >= LEAST_NS {
                let host = rank.facts.host.clone();
                let is_stopped = is_stopped(rank.facts.process_id);
                still.add(Still { is_stopped, since_ns, rank: number, host });
            }
        }
        still
    }
}

/// Returns a number that changes with every entry and exit.
fn visits(rank: &EventMap) -> u64 {
    let all = rank.values.iter().flat_map(|values| &values.executions);
    let visits = all.fold(0_u64, |sum, one| sum.wrapping_add(one.visits));
    // An entry adds a visit that is open, an exit takes it away.
    visits.wrapping_mul(3).wrapping_sub(rank.losses().visits_open)
}

/// Returns whether a process of this host has been stopped by a signal or a debugger.
fn is_stopped(process: u32) -> bool {
    let Ok(text) = fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    // The state follows the name, which is in parentheses and may have some itself.
    let state = text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('T' | 't'))
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{
        CallpathId, CallpathValues, ExecutionSummary, RankFacts, Region, SiteId,
    };

    use super::*;

    fn rank(visits: u64) -> EventMap {
        let site = SiteId::from_bits(1);
        let executions = vec![ExecutionSummary { visits, ..ExecutionSummary::of_one_visit(0, 5) }];
        let values = CallpathValues { executions, ..CallpathValues::default() };
        let record = (CallpathId::root(site), None, Region::named(site, "step"), values);
        let facts = RankFacts { host: "n1".to_owned(), ..RankFacts::default() };
        EventMap::from_records([record], facts)
    }

    #[test]
    fn a_rank_that_does_not_move_is_named_after_a_while() {
        let mut progress = Progress::default();
        let mut at = |seconds: u64, visits: [u64; 2]| {
            let ranks = visits.map(rank);
            let still = progress.still(&ranks, seconds * 1_000_000_000);
            let seconds = still.worst.iter().map(|one| (one.rank, one.since_ns / 1_000_000_000));
            seconds.collect::<Vec<_>>()
        };
        let none: Vec<(u32, u64)> = Vec::new();
        assert_eq!(at(10, [1, 1]), none);
        assert_eq!(at(12, [2, 1]), none);
        assert_eq!(at(13, [3, 1]), [(1, 3)]);
        assert_eq!(at(16, [3, 1]), [(1, 6), (0, 3)]);
        assert_eq!(at(17, [3, 2]), [(0, 4)]);
    }
}
