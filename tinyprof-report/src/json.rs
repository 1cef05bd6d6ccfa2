//! The report as JSON: every number as measured, in nanoseconds.

use serde_json::{Map, Value, json};

use tinyprof_format::model::{CallpathIndex, Region};

pub(super) use super::long_json::integer;
use super::metrics::Metric;
use super::{ClockOverRanks, Hint, LongJson, RankStatistics, Report, Spread};

/// The maximum length of a path; longer ones are omitted. In a hostile profile the total size of
/// all paths would be quadratic.
const LONGEST_PATH_BYTES: usize = 16_384;

impl Report {
    /// Returns the report as JSON: the facts of the run, its losses, and every callpath in the
    /// order of the table, so that a parent precedes its children. Nothing is folded.
    ///
    /// Times are integers in nanoseconds; means and imbalances are floating-point. A sum that does
    /// not fit 64 bits is floating-point too. `parent` is a position in `callpaths`, as is
    /// `callpath` of a hint; `max_host` is the host of `max_rank`; `lost` is the sum over ranks of
    /// maximum - mean; `filtered` is a sentence. `bytes_out` and `bytes_in` are the bytes of
    /// messages, collective operations and files, at the callpath itself, 0 in a report of
    /// statistics over ranks. These members may be null:
    ///
    /// * `inclusive_ns` and `exclusive_ns` if no rank visited the callpath, and `standard_error` in
    ///   them if every visit was timed.
    /// * A number in `metrics` if it is infinite or unknown.
    /// * `max_host` if there is only one host, or it is unknown.
    /// * `variation` if no rank has two executions.
    /// * `efficiency` if no region declares its activity, `parallel` and `communication` in it if
    ///   no region is tagged as communication, and `serialisation` and `transfer` if the profile is
    ///   not of level `messages`.
    /// * `clock`, and `through_others_ns` and `uncertainty_ns` in `overhead`, unless the profile is
    ///   of level `messages`. Then each callpath has `without_us`: the time of all ranks without
    ///   measurement, and the parts of the difference.
    /// * `filtered` if there was no filter of regions.
    /// * `mpi` if there are no MPI calls.
    /// * `overhead` if another profiler measured, and `visit_cost_ns` and `counted_visit_cost_ns`
    ///   in it if they were not measured.
    /// * `threads` if it is unknown.
    /// * `threads_at_once` unless the work of a callpath went to other threads. If it did, the
    ///   times of its callees, added up over threads, are this many times its own, and its
    ///   `exclusive_ns` is meaningless.
    /// * `path` if it would be longer than 16 KiB; that of a hint also if it has no callpath.
    ///
    /// A report [by region](Self::of_regions) has `regions` in place of `callpaths`, each with the
    /// number of its `callpaths`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        self.json().to_value()
    }

    /// Returns the report as JSON that is generated while it is written; see
    /// [`to_json`](Self::to_json).
    #[must_use]
    pub fn json(&self) -> LongJson<'_> {
        let losses: Map<String, Value> =
            self.losses.named().into_iter().map(|(name, n)| (name.to_owned(), n.into())).collect();
        let members = json!({
            "name": self.name,
            "ranks": self.ranks,
            "hosts": self.hosts,
            "executions": self.executions,
            "threads": self.threads,
            "total_inclusive_ns": integer(self.base.ns()),
            "startup_ns": integer(self.base.startup_ns()),
            "complete": self.incomplete.is_none(),
            "incomplete_because": self.incomplete,
            "precision": self.precision,
            "filtered": self.filtered,
            "losses": losses,
            "efficiency": self.efficiency.map(|found| json!({
                "parallel": found.parallel,
                "load_balance": found.load_balance,
                "communication": found.communication,
                "serialisation": found.serialisation,
                "transfer": found.transfer,
                "io_share": found.io_share,
            })),
            "mpi": self.mpi_json(),
            "hints": self.hints.iter().map(|hint| self.hint_json(hint)).collect::<Vec<_>>(),
            "overhead": self.overhead.map(|cost| json!({
                "visits": cost.visits,
                "visits_not_timed": cost.visits_not_timed,
                "visit_cost_ns": cost.visit_cost_ns,
                "counted_visit_cost_ns": cost.counted_visit_cost_ns,
                "timing_ns": cost.timing_ns(),
                "writing_ns": cost.writing_ns,
                "a_rank_ns": cost.a_rank_ns(),
                "share": cost.share(),
                "through_others_ns": cost.through_others_ns(),
                "uncertainty_ns": cost.uncertainty_ns(),
            })),
            "clock": self.clock.map(ClockOverRanks::to_json),
        });
        LongJson::new(members, self.rows_key(), || {
            self.callpaths.iter().map(|(index, _)| self.callpath_json(index))
        })
    }

    /// Returns the key of the list of callpaths or regions.
    pub(super) const fn rows_key(&self) -> &'static str {
        if self.callpaths_of_regions.is_some() { "regions" } else { "callpaths" }
    }

    /// Returns an entry of the list `callpaths` of [`json`](Self::json).
    pub(super) fn callpath_json(&self, index: CallpathIndex) -> Value {
        let (callpath, row) = (self.callpaths.get(index), &self.statistics.row(index.row()));
        let transfers = self.transfers_of(index);
        let metrics = self.metrics.of_callpath(index).iter();
        let metrics: Map<String, Value> =
            metrics.map(|metric| (metric.key.clone(), metric_json(metric))).collect();
        let mut entry = json!({
            "id": format!("{:016x}", callpath.id.to_bits()),
            "parent": callpath.parent.map(CallpathIndex::row),
            "path": self.path(index),
            "name": callpath.region.name,
            "depth": callpath.depth,
            "site": site_json(&callpath.region),
            "ranks": row.ranks,
            "visits": row.visits,
            "share": self.base.inclusive_share(index, row.inclusive.sum_ns),
            "exclusive_share": self.base.exclusive_share(index, row.exclusive.sum_ns),
            "startup_ns": integer(self.base.startup_in(index)),
            "inclusive_ns": self.spread_json(row, &row.inclusive),
            "exclusive_ns": self.spread_json(row, &row.exclusive),
            "threads_at_once": self.threads_at_once(index),
            "variation": row.coefficient_of_variation(),
            "bytes_out": transfers.out().bytes,
            "bytes_in": transfers.into_rank().bytes,
            "metrics": metrics,
        });
        if let Some(without_us) = self.without_us.get(index.row()) {
            entry["without_us"] = without_us.to_json();
        }
        if let Some(callpaths) = &self.callpaths_of_regions {
            entry["callpaths"] = callpaths[index.row()].into();
        }
        entry
    }

    fn hint_json(&self, hint: &Hint) -> Value {
        json!({
            "kind": hint.kind.word(),
            "callpath": hint.callpath.map(CallpathIndex::row),
            "path": hint.callpath.and_then(|index| self.path(index)),
            "rank": hint.rank,
            "iteration": hint.iteration,
            "lost_ns": hint.lost_ns,
            "headline": hint.headline,
            "evidence": hint.evidence,
            "advice": hint.advice,
        })
    }

    pub(super) fn spread_json(&self, row: &RankStatistics, spread: &Spread) -> Value {
        if row.ranks == 0 {
            return Value::Null;
        }
        json!({
            "sum": integer(spread.sum_ns),
            "standard_error": spread.standard_error_ns(),
            "min": spread.min_ns,
            "mean": row.mean_ns(spread),
            "max": spread.max_ns,
            "max_rank": spread.max_rank,
            "max_host": self.host_names.name(spread.max_host),
            "imbalance": row.imbalance(spread),
            "lost": integer(row.lost_ns(spread)),
        })
    }

    /// Returns a callpath's path as [`CallpathTable::path`]
    /// writes it; none if it is too long.
    pub(super) fn path(&self, index: CallpathIndex) -> Option<String> {
        let (mut names, mut bytes) = (Vec::new(), 0);
        let mut at = Some(index);
        while let Some(here) = at {
            let callpath = self.callpaths.get(here);
            bytes += callpath.region.name.len() + usize::from(!names.is_empty());
            if bytes > LONGEST_PATH_BYTES {
                return None;
            }
            names.push(callpath.region.name.as_str());
            at = callpath.parent;
        }
        names.reverse();
        Some(names.join("<"))
    }
}

fn metric_json(metric: &Metric) -> Value {
    json!({
        "values": metric.values,
        "sum": metric.sum,
        "min": metric.min,
        "mean": metric.mean(),
        "max": metric.max,
    })
}

fn site_json(region: &Region) -> Value {
    json!({
        "id": format!("{:016x}", region.site.to_bits()),
        "file": region.file,
        "line": region.line,
        "column": region.column,
        "module": region.module,
        "kind": region.kind,
        "mode": region.mode,
        "rank_local": region.rank_local,
        "constants": region.constants,
    })
}
