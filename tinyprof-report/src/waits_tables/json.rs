//! Waiting as JSON.

use serde_json::{Value, json};
use tinyprof_format::model::CallpathIndex;

use crate::json::integer;
use crate::{ClockOverRanks, CompensatedRank, LongJson, Report, Waiting, Waits};

impl Report {
    /// Returns the waiting of this report's profile as JSON that is generated while it is written.
    ///
    /// * `waits`: for each entry the `kind`, such as `late_sender`; the `callpath` that waits and
    ///   `for_callpath`, null where it is not known; `ranks` and `for_ranks` as text like `1-6`;
    ///   `count`, `waiting_ns`, `compensated_ns` and `transfer_ns`, summed over ranks; `share` of
    ///   the time of all ranks, null for start-up; `wrong_order_ns`, the part of the waiting that
    ///   is due to order.
    /// * `mpi_ns`: the time of all ranks in MPI calls, and `unfollowed_ns`, the part of it in calls
    ///   of which it is not known for whom they wait.
    /// * `clock`: the facts of the clocks of all ranks, added up; null if the profile is not of
    ///   level `messages`.
    /// * `compensated`: for each `rank` the time of its roots as it was measured, less what its own
    ///   measuring cost (`local_ns`), and less all delays (`parallel_ns`), with `uncertainty_ns`.
    #[must_use]
    pub fn waits_json<'a>(&'a self, waits: &'a Waits) -> LongJson<'a> {
        let members = json!({
            "name": self.name,
            "ranks": self.ranks,
            "total_inclusive_ns": integer(self.base.ns()),
            "startup_ns": integer(self.base.startup_ns()),
            "by_rank": waits.by_rank,
            "waiting_ns": integer(waits.waiting_ns()),
            "compensated_ns": integer(waits.compensated_ns()),
            "mpi_ns": self.unfollowed.as_ref().map(|all| integer(all.mpi_ns())),
            "unfollowed_ns": self.unfollowed.as_ref().map(|all| integer(all.ns())),
            "clock": self.clock.map(ClockOverRanks::to_json),
            "compensated": self.compensated.iter().map(of_rank).collect::<Vec<_>>(),
        });
        LongJson::new(members, "waits", || {
            waits.entries.iter().map(|entry| self.waiting_json(entry))
        })
    }

    fn waiting_json(&self, entry: &Waiting) -> Value {
        let path = |callpath: Option<CallpathIndex>| callpath.and_then(|at| self.path(at));
        json!({
            "kind": entry.pattern.name(),
            "callpath": path(entry.callpath),
            "for_callpath": path(entry.for_callpath),
            "ranks": entry.ranks.to_string(),
            "for_ranks": entry.for_ranks.to_string(),
            "count": entry.count,
            "waiting_ns": integer(entry.waiting_ns),
            "compensated_ns": integer(entry.compensated_ns),
            "transfer_ns": integer(entry.transfer_ns),
            "wrong_order_ns": integer(entry.wrong_order_ns),
            "share": (!entry.is_startup).then(|| self.base.share(entry.waiting_ns)),
        })
    }
}

fn of_rank(of_rank: &CompensatedRank) -> Value {
    json!({
        "rank": of_rank.rank,
        "measured_ns": of_rank.measured_ns,
        "local_ns": of_rank.local_ns,
        "parallel_ns": of_rank.parallel_ns,
        "uncertainty_ns": of_rank.uncertainty_ns,
        "propagated_uncertainty_ns": of_rank.propagated_uncertainty_ns,
        "unfollowed_ns": of_rank.unfollowed_ns,
    })
}
