//! What the findings about waiting have in common.

use super::finding::{Finding, FindingKind, Words};
use super::run::Run;
use crate::facts::totals::waits::Waiting;

/// The minimum time of waiting for the same reason as a part of the time of all ranks.
pub(crate) const WAITING_PART: f64 = 0.05;

/// Returns who waits for whom, the longest first.
pub(crate) fn all<'a>(run: &'a Run<'_>) -> impl Iterator<Item = &'a Waiting> {
    run.ranks.iter().flat_map(|of| &of.waits)
}

/// Returns the waiting that is long enough for a finding.
pub(crate) fn long<'a>(run: &'a Run<'_>) -> impl Iterator<Item = &'a Waiting> {
    all(run).filter(|entry| run.part(entry.waiting_ns) >= WAITING_PART)
}

/// Returns a finding about waiting, because of the ranks that are waited for.
pub(crate) fn of_waiting(
    run: &Run<'_>,
    kind: FindingKind,
    entry: &Waiting,
    words: Words,
) -> Finding {
    Finding {
        ranks: entry.for_ranks.clone(),
        waiting_ranks: entry.ranks.clone(),
        ..Finding::new(kind, run.a_rank_ns(entry.waiting_ns), words).at(entry.callpath)
    }
}
