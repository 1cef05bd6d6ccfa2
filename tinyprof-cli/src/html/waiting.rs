//! The waiting of ranks for each other: a matrix beside that of messages, and the callpaths at both
//! ends of the longest.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use tinyprof_format::model::{CallpathIndex, MessageKey, Profile};

use super::columns::{Columns, FINE};
use super::rows::Bins;

/// The number of pairs of ranks that are listed.
pub(super) const PAIRS_LISTED: usize = 10;
/// The most causes in a page, those of the cells with the longest waiting.
const CAUSES_MAX: usize = 8_192;
/// The most causes of a cell.
const CAUSES_OF_CELL: usize = 3;

/// The callpath that waits, and the one that it waits for, if that is known.
type Ends = (CallpathIndex, Option<CallpathIndex>);

/// Who waits for whom.
#[derive(Debug, Default)]
struct Waiting {
    /// The time in ns by cell, row (who is waited for) times number of bins, plus column (who
    /// waits); then by callpaths.
    cells: BTreeMap<usize, BTreeMap<Ends, u64>>,
    /// The number of times and the time in ns by pair of ranks: who is waited for, who waits.
    pairs: BTreeMap<(usize, usize), (u64, u64)>,
    /// The waiting for ranks that are not known, in ns.
    for_unknown_ns: u64,
}

/// Returns the waiting of the profile, or null if no rank waits for another.
pub(super) fn waiting(profile: &Profile, bins: Bins, columns: &mut Columns) -> Value {
    let found = found(profile, bins);
    if found.cells.is_empty() {
        return Value::Null;
    }
    let sums: Vec<u64> = found.cells.values().map(sum).collect();
    json!({
        "gaps": columns.add_ascending(found.cells.keys().copied()),
        "ns": columns.add(&sums.iter().map(|&ns| as_number(ns)).collect::<Vec<_>>(), FINE),
        "pairs": found.pairs.len(),
        "largest": largest(&found.pairs),
        "causes": causes(&found),
        "for_unknown_ns": found.for_unknown_ns,
    })
}

fn found(profile: &Profile, bins: Bins) -> Waiting {
    let rows = profile.callpaths.index_by_id();
    let mut found = Waiting::default();
    for (callpath, _) in profile.callpaths.iter() {
        for (rank, values) in profile.values[callpath.row()].iter().enumerate() {
            let edges = values.edges.iter().filter(|(key, _)| key.kind.waits());
            for (key, edge) in edges.filter(|(_, edge)| edge.sum_ns > 0) {
                let known = (key.partner != MessageKey::ANY_PARTNER).then_some(key.partner);
                let partner = known.and_then(|offset| rank.checked_add_signed(offset as isize));
                let Some(partner) = partner.filter(|&partner| partner < bins.ranks) else {
                    found.for_unknown_ns = found.for_unknown_ns.saturating_add(edge.sum_ns);
                    continue;
                };
                let cell = partner / bins.ranks_per_bin * bins.count() + rank / bins.ranks_per_bin;
                let ends = (callpath, rows.get(&key.from).copied());
                let of_cell = found.cells.entry(cell).or_default().entry(ends).or_default();
                *of_cell = of_cell.saturating_add(edge.sum_ns);
                let (count, ns) = found.pairs.entry((partner, rank)).or_default();
                *count = count.saturating_add(edge.count);
                *ns = ns.saturating_add(edge.sum_ns);
            }
        }
    }
    found
}

fn sum(ends: &BTreeMap<Ends, u64>) -> u64 {
    ends.values().fold(0, |sum, &ns| sum.saturating_add(ns))
}

#[expect(clippy::cast_precision_loss, reason = "what is shown in colours and three digits")]
fn as_number(ns: u64) -> f64 {
    ns as f64
}

/// Returns the pairs of ranks with the longest waiting: who is waited for, who waits, how often,
/// and the time in ns.
fn largest(pairs: &BTreeMap<(usize, usize), (u64, u64)>) -> Value {
    let mut largest: Vec<_> = pairs.iter().collect();
    largest.sort_by_key(|(_, (_, ns))| Reverse(*ns));
    largest.truncate(PAIRS_LISTED);
    largest.into_iter().map(|((from, to), (count, ns))| json!([from, to, count, ns])).collect()
}

/// Returns the longest waiting of each of the worst cells: cell, the callpath that waits, the one
/// that it waits for or null, and the time in ns.
fn causes(found: &Waiting) -> Value {
    let mut cells: Vec<_> = found.cells.iter().collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages_example as example;

    fn bins(ranks: usize, ranks_per_bin: usize) -> Bins {
        Bins { ranks, ranks_per_bin }
    }

    #[test]
    fn a_profile_of_level_calls_has_no_waiting() {
        let mut profile = example::profile(4);
        profile.values.iter_mut().flatten().for_each(|values| values.edges.clear());
        assert_eq!(waiting(&profile, bins(4, 1), &mut Columns::default()), Value::Null);
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
        let found = super::found(&profile, bins(4, 1));
        assert_eq!(found.cells.len(), 6, "each rank waits for its neighbour, three for rank 3");
        let of_one = example::waiting_ns(1);
        assert_eq!(found.cells[&1], [((recv, Some(send)), of_one)].into());
        let of_both = [((recv, Some(send)), example::waiting_ns(0)), ((reduce, None), 500)];
        assert_eq!(found.cells[&12], of_both.into());
        assert_eq!(found.pairs[&(0, 1)], (3, of_one));
        assert_eq!(found.for_unknown_ns, 4 * 70);
        let causes = causes(&found);
        let of_two = example::waiting_ns(3);
        assert_eq!(causes[0], json!([11, recv.row(), send.row(), of_two]));
        let binned = super::found(&profile, bins(4, 2));
        let all: u64 = binned.cells.values().map(sum).sum();
        assert_eq!(all, (0..4).map(example::waiting_ns).sum::<u64>() + 3 * 500);
        assert_eq!(binned.pairs, found.pairs);
    }
}
