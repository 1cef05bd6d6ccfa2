//! How far a job is: the iteration that its ranks have reached in the loop that takes most of their
//! time, or in a region that the user has named, and what is left of them.

use std::time::Duration;

use serde_json::{Value, json};
use tinyprof_format::model::{Callpath, CallpathIndex, Region, RegionKind};
use tinyprof_picture::Picture;
use tinyprof_report::cells::time_cell;
use tinyprof_report::escaped;

use crate::arguments::IterationCount;

/// The iterations of a callpath.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Iterations {
    callpath: String,
    name: String,
    /// The mean of the ranks that are in it, with the iteration under way.
    reached: u64,
    /// How many there will be, as the user says.
    of: Option<u64>,
    /// The mean time of one on a rank so far.
    each_ns: u64,
}

impl Iterations {
    /// Returns those of the costliest loop, or of the region that `count` names.
    pub(super) fn of(picture: &Picture, count: Option<&IterationCount>) -> Option<Self> {
        let region = count.and_then(|count| count.region.as_deref());
        let is_meant = |found: &Region| match region {
            None => found.kind == RegionKind::Loop,
            // Calls of MPI have their place behind their name.
            Some(name) => {
                let rest = found.name.strip_prefix(name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" at "))
            }
        };
        let of = |(index, callpath): (CallpathIndex, &Callpath)| {
            let row = picture.statistics.row(index.row());
            // Of an outer and an inner loop that take the same time, the outer one.
            let key = (row.inclusive.sum_ns, u32::MAX - callpath.depth);
            let is_loop = row.visits > 0 && is_meant(&callpath.region);
            is_loop.then_some((key, index, row.visits, row.ranks))
        };
        let loops = picture.callpaths.iter().filter_map(of);
        let ((sum_ns, _), index, visits, ranks) = loops.max_by_key(|(key, ..)| *key)?;
        let each_ns = sum_ns / u128::from(visits);
        Some(Self {
            callpath: picture.callpaths.path(index),
            name: picture.callpaths.get(index).region.name.clone(),
            reached: visits / u64::from(ranks.max(1)),
            of: count.map(|count| count.iterations),
            each_ns: u64::try_from(each_ns).unwrap_or(u64::MAX),
        })
    }

    /// Returns the time that is left if iterations go on to take as long as they did; `None` if
    /// nobody has said how many there are, or there are more.
    fn remaining(&self) -> Option<Duration> {
        let left = self.of?.checked_sub(self.reached)?;
        Some(Duration::from_nanos(self.each_ns.saturating_mul(left)))
    }

    pub(super) fn text(&self) -> String {
        let of = self.of.map_or_else(String::new, |of| format!(" of {of}"));
        let left = self.remaining().map_or_else(String::new, |left| {
            format!(", about {} left", time_cell(left.as_nanos()))
        });
        format!("iteration {}{of} of {}{left}", self.reached, escaped(&self.name))
    }

    pub(super) fn json(&self) -> Value {
        let remaining_ns = self.remaining().and_then(|left| u64::try_from(left.as_nanos()).ok());
        json!({
            "callpath": self.callpath,
            "iteration": self.reached,
            "of": self.of,
            "each_ns": self.each_ns,
            "remaining_ns": remaining_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{
        CallpathId, CallpathValues, EventMap, ExecutionSummary, RankFacts, SiteId,
    };

    use super::*;

    /// Returns a job of two ranks after this number of iterations of `step` of 10 ms, each with two
    /// visits of `halo`, a call of MPI.
    fn picture(iterations: u64) -> Picture {
        let values = |visits: u64, ns: u64| {
            let one = ExecutionSummary::of_one_visit(0, ns);
            let executions = vec![ExecutionSummary { visits, sum_ns: visits * ns, ..one }];
            CallpathValues { executions, ..CallpathValues::default() }
        };
        let region = |site: u64, name: &str| Region::named(SiteId::from_bits(site), name);
        let step = Region { kind: RegionKind::Loop, ..region(1, "step") };
        let id = CallpathId::root(SiteId::from_bits(1));
        let halo = (id.child(SiteId::from_bits(2)), Some(id));
        let records = [
            (id, None, step, values(iterations, 10_000_000)),
            (halo.0, halo.1, region(2, "MPI_Recv at halo (x.c:7)"), values(2 * iterations, 1_000)),
        ];
        let rank = EventMap::from_records(records, RankFacts::default());
        Picture::of_ranks(&[rank.clone(), rank])
    }

    fn of(count: Option<&str>) -> Option<Iterations> {
        let count = count.map(|text| text.parse().expect("a count"));
        Iterations::of(&picture(20), count.as_ref())
    }

    fn text(count: Option<&str>) -> String {
        of(count).expect("iterations").text()
    }

    #[test]
    fn what_is_left_follows_from_the_iterations_so_far() {
        assert_eq!(text(None), "iteration 20 of step");
        assert_eq!(text(Some("100")), "iteration 20 of 100 of step, about 800ms left");
        assert_eq!(text(Some("20")), "iteration 20 of 20 of step, about 0ns left");
        assert_eq!(text(Some("19")), "iteration 20 of 19 of step", "there are more");
        let known = of(Some("100")).expect("iterations").json();
        assert_eq!((&known["iteration"], &known["of"]), (&20.into(), &100.into()));
        assert_eq!((&known["callpath"], &known["each_ns"]), (&"step".into(), &10_000_000.into()));
        assert_eq!(known["remaining_ns"], 800_000_000);
        assert_eq!(of(None).expect("iterations").json()["remaining_ns"], Value::Null);
    }

    #[test]
    fn a_region_takes_the_place_of_a_loop_if_it_is_named() {
        let left = "about 60.0us left";
        assert!(text(Some("MPI_Recv=100")).starts_with("iteration 40 of 100 of MPI_Recv at halo"));
        assert!(text(Some("MPI_Recv=100")).ends_with(left), "{}", text(Some("MPI_Recv=100")));
        assert_eq!(of(Some("MPI_Rec=100")), None);
        assert_eq!(Iterations::of(&Picture::of_ranks(&[EventMap::default()]), None), None);
    }
}
