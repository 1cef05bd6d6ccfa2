//! The waiting of ranks for each other: a matrix beside that of messages, and the callpaths at both
//! ends of the longest.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};
use tinyprof_format::model::{
    CallpathId, CallpathIndex, CallpathTable, CallpathValues, MessageKey,
};

use super::columns::{Columns, FINE};
use super::rows::{Bins, PAIRS_LISTED};

/// The most causes in a page, those of the cells with the longest waiting.
const CAUSES_MAX: usize = 8_192;
/// The most causes of a cell.
const CAUSES_OF_CELL: usize = 3;

/// The callpath that waits, and the one that it waits for, if that is known.
type Ends = (CallpathIndex, Option<CallpathIndex>);

/// Who waits for whom, while callpaths are added.
#[derive(Debug)]
pub(super) struct Waiting {
    bins: Bins,
    rows: HashMap<CallpathId, CallpathIndex>,
    /// The time in ns by cell, row (who is waited for) times number of bins, plus column (who
    /// waits); then by callpaths.
    cells: BTreeMap<usize, BTreeMap<Ends, u64>>,
    /// The number of times and the time in ns by pair of ranks: who is waited for, who waits.
    pairs: BTreeMap<(usize, usize), (u64, u64)>,
    /// The waiting for ranks that are not known, in ns.
    for_unknown_ns: u64,
}

impl Waiting {
    /// Creates the waiting of a profile of as many ranks as the bins have, none so far.
    pub(super) fn new(table: &CallpathTable, bins: Bins) -> Self {
        let (cells, pairs) = (BTreeMap::new(), BTreeMap::new());
        Self { bins, rows: table.index_by_id(), cells, pairs, for_unknown_ns: 0 }
    }

    /// Adds that in a callpath, given its values by rank.
    pub(super) fn add(&mut self, index: CallpathIndex, ranks: &[CallpathValues]) {
        for (rank, values) in ranks.iter().enumerate() {
            let edges = values.edges.iter().filter(|(key, _)| key.kind.waits());
            for (key, edge) in edges.filter(|(_, edge)| edge.sum_ns > 0) {
                let Some(partner) = self.partner(rank, key.partner) else {
                    self.for_unknown_ns = self.for_unknown_ns.saturating_add(edge.sum_ns);
                    continue;
                };
                let per_bin = self.bins.ranks_per_bin;
                let cell = partner / per_bin * self.bins.count() + rank / per_bin;
                let ends = (index, self.rows.get(&key.from).copied());
                let of_cell = self.cells.entry(cell).or_default().entry(ends).or_default();
                *of_cell = of_cell.saturating_add(edge.sum_ns);
                let (count, ns) = self.pairs.entry((partner, rank)).or_default();
                *count = count.saturating_add(edge.count);
                *ns = ns.saturating_add(edge.sum_ns);
            }
        }
    }

    /// Returns the rank at an offset from another, if it is known.
    fn partner(&self, rank: usize, offset: i32) -> Option<usize> {
        let offset = Some(offset).filter(|&offset| offset != MessageKey::ANY_PARTNER)?;
        let partner = rank.checked_add_signed(isize::try_from(offset).ok()?)?;
        (partner < self.bins.ranks).then_some(partner)
    }

    /// Returns the waiting for the page, or null if no rank waits for another.
    pub(super) fn json(&self, columns: &mut Columns) -> Value {
        if self.cells.is_empty() {
            return Value::Null;
        }
        let sums: Vec<f64> = self.cells.values().map(|ends| as_number(sum(ends))).collect();
        json!({
            "gaps": columns.add_ascending(self.cells.keys().copied()),
            "ns": columns.add(&sums, FINE),
            "pairs": self.pairs.len(),
            "largest": self.largest(),
            "causes": self.causes(),
            "for_unknown_ns": self.for_unknown_ns,
        })
    }

    /// Returns the pairs of ranks with the longest waiting: who is waited for, who waits, how
    /// often, and the time in ns.
    fn largest(&self) -> Value {
        let mut largest: Vec<_> = self.pairs.iter().collect();
        largest.sort_by_key(|(_, (_, ns))| Reverse(*ns));
        largest.truncate(PAIRS_LISTED);
        largest.into_iter().map(|((from, to), (count, ns))| json!([from, to, count, ns])).collect()
    }

    /// Returns the longest waiting of each of the worst cells: cell, the callpath that waits, the
    /// one that it waits for or null, and the time in ns.
    fn causes(&self) -> Value {
        let mut cells: Vec<_> = self.cells.iter().collect();
        cells.sort_by_key(|(_, ends)| Reverse(sum(ends)));
        let of_cell = |(cell, ends): (&usize, &BTreeMap<Ends, u64>)| {
            let mut longest: Vec<_> = ends.iter().map(|(&ends, &ns)| (ns, ends)).collect();
            longest.sort_by_key(|(ns, _)| Reverse(*ns));
            longest.truncate(CAUSES_OF_CELL);
            let cell = *cell;
            longest.into_iter().map(move |(ns, (callpath, source))| {
                json!([cell, callpath.row(), source.map(CallpathIndex::row), ns])
            })
        };
        cells.into_iter().flat_map(of_cell).take(CAUSES_MAX).collect()
    }
}

fn sum(ends: &BTreeMap<Ends, u64>) -> u64 {
    ends.values().fold(0, |sum, &ns| sum.saturating_add(ns))
}

#[expect(clippy::cast_precision_loss, reason = "what is shown in colours and three digits")]
fn as_number(ns: u64) -> f64 {
    ns as f64
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::Profile;

    use super::*;
    use crate::messages_example as example;

    fn waiting(profile: &Profile, ranks_per_bin: usize) -> Waiting {
        let bins = Bins { ranks: profile.ranks.len(), ranks_per_bin };
        let mut waiting = Waiting::new(&profile.callpaths, bins);
        let rows = profile.callpaths.iter().zip(&profile.values);
        rows.for_each(|((index, _), values)| waiting.add(index, values));
        waiting
    }

    #[test]
    fn a_profile_of_level_calls_has_no_waiting() {
        let mut profile = example::profile(4);
        profile.values.iter_mut().flatten().for_each(|values| values.edges.clear());
        assert_eq!(waiting(&profile, 1).json(&mut Columns::default()), Value::Null);
    }

    #[test]
    fn cells_pairs_and_causes_are_those_of_the_edges() {
        let profile = example::profile(4);
        let row = |name: &str| {
            profile.callpaths.iter().find(|(at, _)| profile.callpaths.path(*at) == name)
        };
        let [recv, send, reduce] =
            ["main<exchange<MPI_Recv", "main<exchange<MPI_Send", "main<MPI_Allreduce"]
                .map(|name| row(name).expect("it is there").0);
        let found = waiting(&profile, 1);
        assert_eq!(found.cells.len(), 6, "each rank waits for its neighbour, three for rank 3");
        let of_one = example::waiting_ns(1);
        assert_eq!(found.cells[&1], [((recv, Some(send)), of_one)].into());
        let of_both = [((recv, Some(send)), example::waiting_ns(0)), ((reduce, None), 500)];
        assert_eq!(found.cells[&12], of_both.into());
        assert_eq!(found.pairs[&(0, 1)], (3, of_one));
        assert_eq!(found.for_unknown_ns, 4 * 70);
        let causes = found.causes();
        let of_two = example::waiting_ns(3);
        assert_eq!(causes[0], json!([11, recv.row(), send.row(), of_two]));
        let binned = waiting(&profile, 2);
        let all: u64 = binned.cells.values().map(sum).sum();
        assert_eq!(all, (0..4).map(example::waiting_ns).sum::<u64>() + 3 * 500);
        assert_eq!(binned.pairs, found.pairs);
    }
}
