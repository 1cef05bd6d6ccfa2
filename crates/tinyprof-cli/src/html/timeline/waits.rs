//! The waiting in calls over the run, by rank and callpath, and the cause of most of it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};
use tinyprof_format::model::{
    CallpathId, CallpathIndex, CallpathTable, CallpathValues, EdgeKey, MessageKey,
};

/// The largest number of calls, counted rank by rank, whose waiting the page tells: those that wait
/// longest.
const WAITS_MAX: usize = 8_192;

/// The waiting of the ranks that are shown, while callpaths are added.
#[derive(Debug)]
pub(in crate::html) struct Waits {
    rows: HashMap<CallpathId, usize>,
    ranks: BTreeSet<usize>,
    of_calls: BTreeMap<(usize, usize), Wait>,
}

/// The waiting in a callpath on a rank.
#[derive(Clone, Copy, Debug)]
struct Wait {
    ns: u64,
    /// The time in the callpath.
    inclusive_ns: u64,
    /// The longest part that is for one rank in one callpath.
    most: (EdgeKey, u64),
}

impl Waits {
    pub(super) fn new(table: &CallpathTable, ranks: BTreeSet<usize>) -> Self {
        let rows = table.index_by_id().into_iter().map(|(id, index)| (id, index.row())).collect();
        Self { rows, ranks, of_calls: BTreeMap::new() }
    }

    /// Adds that in a callpath, given its values by rank.
    pub(in crate::html) fn add(&mut self, index: CallpathIndex, ranks: &[CallpathValues]) {
        for &rank in &self.ranks {
            let Some(values) = ranks.get(rank) else { continue };
            let waits =
                values.edges.iter().filter(|(key, edge)| key.kind.waits() && edge.sum_ns > 0);
            let waits = waits.map(|(&key, edge)| (key, edge.sum_ns));
            let Some(most) = waits.clone().max_by_key(|&(_, ns)| ns) else { continue };
            let ns = waits.fold(0_u64, |sum, (_, ns)| sum.saturating_add(ns));
            let inclusive_ns = values.inclusive_ns();
            self.of_calls.insert((rank, index.row()), Wait { ns, inclusive_ns, most });
        }
    }

    /// Returns for each rank and callpath its waiting and its time, and the rank, callpath and time
    /// of most of the waiting; null where they are not known.
    pub(super) fn json(&self) -> Value {
        let mut waits: Vec<_> = self.of_calls.iter().collect();
        waits.sort_by_key(|(_, wait)| Reverse(wait.ns));
        let of = |(&(rank, row), wait): (&(usize, usize), &Wait)| {
            let (key, ns) = wait.most;
            let offset = Some(key.partner).filter(|&offset| offset != MessageKey::ANY_PARTNER);
            let offset = offset.and_then(|offset| isize::try_from(offset).ok());
            let partner = offset.and_then(|offset| rank.checked_add_signed(offset));
            json!([rank, row, wait.ns, wait.inclusive_ns, partner, self.rows.get(&key.from), ns])
        };
        waits.into_iter().take(WAITS_MAX).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages_example as example;

    #[test]
    fn the_cause_of_most_waiting_is_told_for_each_shown_rank() {
        let profile = example::profile(4);
        let mut waits = Waits::new(&profile.callpaths, [1, 3].into());
        let rows = profile.callpaths.iter().zip(&profile.values);
        rows.for_each(|((index, _), values)| waits.add(index, values));
        let json = waits.json();
        let row = |name: &str| {
            let found =
                profile.callpaths.iter().find(|(at, _)| profile.callpaths.path(*at) == name);
            found.expect("it is there").0.row()
        };
        let [recv, send] = ["main<exchange<MPI_Recv", "main<exchange<MPI_Send"].map(row);
        let of = |rank: usize| {
            let waits = json.as_array().expect("a list").iter();
            let mut own = waits.filter(|wait| wait[0] == rank && wait[1] == recv);
            own.next().expect("it waits").clone()
        };
        let ns = example::waiting_ns(1);
        assert_eq!(of(1).as_array().expect("a list")[4..], [json!(0), json!(send), json!(ns)]);
        assert!(json.as_array().expect("a list").iter().all(|wait| wait[0] == 1 || wait[0] == 3));
    }
}
