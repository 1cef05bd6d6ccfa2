//! Why the master and the workers of `fire` wait, by the delay costs that the ranks recorded.

use serde::{Deserialize, Serialize};
use tinyprof_bench_collective::document::table::{Table, float};
use tinyprof_format::model::{Activity, CallpathId, Cause, Profile};

use crate::page::spread;

/// Who waits, for what, and between which calls of whom that is. The paper has its edges.
const CAUSES: [(&str, &str, &str, &str, &str); 6] = [
    ("master", "the local model, with unpacking", "work<MPI_Recv", "work<MPI_Comm_size", "79 +- 1"),
    ("master", "packing of the answer", "work<MPI_Comm_size", "work<MPI_Send", "-"),
    ("workers", "global model, with unpacking", "lead<MPI_Recv", "lead<MPI_Comm_size", "named"),
    ("workers", "packing", "lead<MPI_Comm_size", "lead<MPI_Send", "named"),
    ("workers", "memory of the line", "lead<MPI_Bcast", "lead<MPI_Comm_size", "named"),
    ("workers", "sending the work to others", "", "lead<MPI_Send", "-"),
];

/// A part of the waiting of the master or the workers, as far as an activity explains it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Part {
    who: String,
    cause: String,
    percent: f64,
}

/// Returns the parts in the order of [`CAUSES`]. Time in which ranks had no processor, and waiting
/// that no activity explains, are left out.
pub(super) fn of_waiting(profile: &Profile) -> Vec<Part> {
    let of = |who: &str, from: Option<(&str, &str)>| float(waiting_ns(profile, who, from));
    let part = |(who, cause, from, to, _): &(&str, &str, &str, &str, &str)| Part {
        who: (*who).to_owned(),
        cause: (*cause).to_owned(),
        percent: 100.0 * of(who, Some((from, to))) / of(who, None).max(1.0),
    };
    CAUSES.iter().map(part).collect()
}

/// Returns how long the master or the workers have waited for each other, for an activity between
/// these calls, or for any. A call is told by an empty `from`.
fn waiting_ns(profile: &Profile, who: &str, between: Option<(&str, &str)>) -> u64 {
    let rows = profile.callpaths.index_by_id();
    let path = |id: CallpathId| rows.get(&id).map(|row| profile.callpaths.path(*row));
    let (ranks, waits): (_, &[&str]) = match who {
        "master" => (0..1, &["lead<MPI_Recv"]),
        _ => (1..profile.ranks.len(), &["work<MPI_Recv", "work<MPI_Bcast"]),
    };
    let causes = profile.ranks[ranks].iter().filter_map(|rank| rank.causes.as_ref());
    let costs = causes.flat_map(|of| of.costs.iter().map(move |cost| (of, cost)));
    let mut sum_ns = 0;
    for (of, cost) in costs {
        let is_there = path(cost.callpath).is_some_and(|path| waits.contains(&path.as_str()));
        let is_lost = matches!(cost.cause, Cause::Activity { number: Activity::NO_PROCESSOR, .. });
        if !is_there || is_lost {
            continue;
        }
        let found = match of.activity(cost.cause) {
            Some(Activity::Gap { from, to }) => (path(from).unwrap_or_default(), path(to)),
            Some(Activity::Call(call)) => (String::new(), path(call)),
            _ => continue,
        };
        let (after, before) = (found.0.as_str(), found.1.as_deref());
        let is_wanted = between.is_none_or(|(from, to)| (from, Some(to)) == (after, before));
        if is_wanted {
            sum_ns += cost.total_ns();
        }
    }
    sum_ns
}

/// Returns the table of several runs.
pub(super) fn table(runs: &[&[Part]]) -> String {
    let mut table = Table::new(&["who waits", "for what", "003 has, %", "here, %"]);
    for (at, (who, cause, _, _, paper)) in CAUSES.iter().enumerate() {
        let here = runs.iter().filter_map(|parts| Some(parts.get(at)?.percent));
        table.row(&[(*who).to_owned(), (*cause).to_owned(), (*paper).to_owned(), spread(here)]);
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_of_rows_that_have_none_are_a_dash() {
        let part = |percent| Part { who: "master".into(), cause: "a".into(), percent };
        let (one, none) = ([part(70.0), part(20.0)], []);
        let text = table(&[&one, &none]);
        assert!(text.contains("| 79 +- 1 | 70.0 |") && text.contains("| named | - |"), "{text}");
    }
}
