//! Why the master and the workers of `fire` wait, by the delay costs that the ranks recorded.

use std::collections::BTreeMap;
use std::ops::Range;

use tinyprof_bench_collective::document::table::{Table, float};
use tinyprof_format::model::{Activity, CallpathId, Cause, Profile};

use crate::page::spread;

/// For each cause: who waits, for what, the calls before and after it, and the figure in the paper.
/// A cause inside of a call has an empty name before it.
const CAUSES: [(&str, &str, [&str; 2], &str); 6] = [
    (
        "master",
        "the local model, with unpacking",
        ["work<MPI_Recv", "work<MPI_Comm_size"],
        "79 +- 1",
    ),
    ("master", "packing of the answer", ["work<MPI_Comm_size", "work<MPI_Send"], "-"),
    ("workers", "global model, with unpacking", ["lead<MPI_Recv", "lead<MPI_Comm_size"], "named"),
    ("workers", "packing", ["lead<MPI_Comm_size", "lead<MPI_Send"], "named"),
    ("workers", "memory of the line", ["lead<MPI_Bcast", "lead<MPI_Comm_size"], "named"),
    ("workers", "sending the work to others", ["", "lead<MPI_Send"], "-"),
];

/// Returns the percentages in the order of [`CAUSES`], of the waiting of the master or the workers
/// that an activity explains. Time in which ranks had no processor is left out.
pub(super) fn of_waiting(profile: &Profile) -> Vec<f64> {
    let of_master = waiting_ns(profile, 0..1, &["lead<MPI_Recv"]);
    let workers = 1..profile.ranks.len();
    let of_workers = waiting_ns(profile, workers, &["work<MPI_Recv", "work<MPI_Bcast"]);
    let part = |(who, _, between, _): &(&str, &str, [&str; 2], &str)| {
        let of = if *who == "master" { &of_master } else { &of_workers };
        let ns = of.get(&between.map(str::to_owned)).copied().unwrap_or(0);
        100.0 * float(ns) / float(of.values().sum::<u64>()).max(1.0)
    };
    CAUSES.iter().map(part).collect()
}

/// Returns how long ranks have waited in these calls, in ns, by the two calls between which others
/// were late.
fn waiting_ns(
    profile: &Profile,
    ranks: Range<usize>,
    waits: &[&str],
) -> BTreeMap<[String; 2], u64> {
    let rows = profile.callpaths.index_by_id();
    let path =
        |id: CallpathId| rows.get(&id).map_or_else(String::new, |row| profile.callpaths.path(*row));
    let causes = profile.ranks[ranks].iter().filter_map(|rank| rank.causes.as_ref());
    let costs = causes.flat_map(|of| of.costs.iter().map(move |cost| (of, cost)));
    let mut sums_ns = BTreeMap::new();
    for (of, cost) in costs {
        let is_lost = matches!(cost.cause, Cause::Activity { number: Activity::NO_PROCESSOR, .. });
        if is_lost || !waits.contains(&path(cost.callpath).as_str()) {
            continue;
        }
        let between = match of.activity(cost.cause) {
            Some(Activity::Gap { from, to }) => [path(from), path(to)],
            Some(Activity::Call(call)) => [String::new(), path(call)],
            _ => continue,
        };
        *sums_ns.entry(between).or_default() += cost.total_ns();
    }
    sums_ns
}

/// Returns the table of several runs.
pub(super) fn table(runs: &[&[f64]]) -> String {
    let mut table = Table::new(&["who waits", "for what", "003 has, %", "here, %"]);
    for (at, (who, cause, _, paper)) in CAUSES.iter().enumerate() {
        let here = runs.iter().filter_map(|percents| percents.get(at).copied());
        table.row(&[(*who).to_owned(), (*cause).to_owned(), (*paper).to_owned(), spread(here)]);
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_of_rows_that_have_none_are_a_dash() {
        let (one, none) = ([70.0, 20.0], []);
        let text = table(&[&one, &none]);
        assert!(text.contains("| 79 +- 1 | 70.0 |") && text.contains("| named | - |"), "{text}");
    }
}
