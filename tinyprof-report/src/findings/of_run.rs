//! Hints about the run as a whole, from statistics over ranks: communication, distribution of work,
//! input and output, crowded hosts, and runs that are too short.

use super::of_ranks::{Ranks, on_host};
use super::{
    CROWDED_PART, EFFICIENCY_MIN, Hint, HintKind, INPUT_OUTPUT_PART, NAME_COLUMNS, WRITING_PART,
    float,
};
use crate::facts::numbers::{ratio, whole};
use crate::facts::occupancy::Occupancy;
use crate::facts::statistics::efficiency::Efficiency;
use crate::facts::statistics::regions::{Region, costliest};
use crate::facts::statistics::spread::HostId;
use crate::facts::usage::Activity;
use crate::words::names::{cut, shown};
use crate::words::units::{percent_cell, time};

/// The minimum difference between the slowest and the fastest rank in a communicating region, as a
/// part of the slowest rank's time, that is called waiting.
const WAITING_PART: f64 = 0.25;

/// The rank with the most useful time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Busiest {
    pub(super) rank: u32,
    pub(super) host: HostId,
}

impl Ranks<'_> {
    /// Returns the hints about the whole run. `busiest` is none if only statistics are known.
    pub(super) fn of_run(&self, busiest: Option<Busiest>) -> Vec<Hint> {
        let efficiency = Efficiency::of_statistics(self.callpaths, self.statistics);
        let of_efficiency = efficiency.into_iter().flat_map(|found| {
            [
                self.communication(&found),
                self.load_balance(&found, busiest),
                self.input_output(&found),
            ]
        });
        of_efficiency.chain([self.crowded(), self.writing()]).flatten().collect()
    }

    /// Returns the mean of a time over the ranks.
    fn a_rank_ns(&self, sum_ns: u128) -> f64 {
        ratio(sum_ns, self.count().max(1).into())
    }

    fn communication(&self, found: &Efficiency) -> Option<Hint> {
        let (parallel, communication) = found.parallel.zip(found.communication)?;
        let times = self.statistics.times();
        let sum_ns = times.total_ns.saturating_sub(times.useful_ns).saturating_sub(times.io_ns);
        let is_low = communication < EFFICIENCY_MIN
            || (parallel < EFFICIENCY_MIN && communication <= found.load_balance);
        if !is_low || sum_ns < times.io_ns {
            return None;
        }
        let regions = self.regions_of(Activity::Communication);
        let first = regions.first()?;
        let spread = self.row(first.callpath).exclusive;
        let (min, max) = (float(spread.min_ns), float(spread.max_ns));
        let waiting = if max - min >= WAITING_PART * max {
            format!(
                " In {} it takes {} on one rank and {} on rank {}: the difference is waiting.",
                self.name(first.callpath),
                time(whole(min)),
                time(whole(max)),
                spread.max_rank,
            )
        } else {
            String::new()
        };
        let advice = if first.is_mpi {
            "`tinyprof mpi` shows sizes and partners; send fewer and larger messages, or compute while they travel."
        } else {
            "Send fewer and larger messages, or compute while they travel."
        };
        Some(Hint {
            kind: HintKind::Communication,
            callpath: Some(first.callpath),
            rank: None,
            iteration: None,
            lost_ns: (1.0 - communication) * float(times.total_max_ns),
            headline: format!(
                "Communication takes {} of the time, {}",
                percent_cell(ratio(sum_ns, times.total_ns)),
                self.mostly(&regions),
            ),
            evidence: format!(
                "A rank communicates for {} of {} on average.{waiting}",
                time(whole(self.a_rank_ns(sum_ns))),
                time(whole(self.a_rank_ns(times.total_ns))),
            ),
            advice: advice.to_owned(),
        })
    }

    fn load_balance(&self, found: &Efficiency, busiest: Option<Busiest>) -> Option<Hint> {
        let is_low = found.load_balance < EFFICIENCY_MIN
            || found.parallel.zip(found.communication).is_some_and(|(parallel, communication)| {
                parallel < EFFICIENCY_MIN && found.load_balance < communication
            });
        if !is_low {
            return None;
        }
        let times = self.statistics.times();
        let (max_ns, mean_ns) = (float(times.useful_max_ns), self.a_rank_ns(times.useful_ns));
        let who = busiest.map(|busiest| {
            let host = on_host(self.hosts.short_name(busiest.host));
            (busiest.rank, format!("rank {}{host}", busiest.rank))
        });
        let name = who.as_ref().map_or("one rank", |(_, name)| name);
        Some(Hint {
            kind: HintKind::LoadBalance,
            callpath: None,
            rank: who.as_ref().map(|(rank, _)| *rank),
            iteration: None,
            lost_ns: max_ns - mean_ns,
            headline: format!(
                "Work is distributed unevenly: load balance {}, {name} has the most",
                percent_cell(found.load_balance),
            ),
            evidence: format!(
                "It computes for {} there and {} per rank on average; the others may wait {}.",
                time(whole(max_ns)),
                time(whole(mean_ns)),
                time(whole(max_ns - mean_ns)),
            ),
            advice: "Give that rank less work, or use fewer ranks.".to_owned(),
        })
    }

    fn input_output(&self, found: &Efficiency) -> Option<Hint> {
        let times = self.statistics.times();
        let others_ns = times.total_ns.saturating_sub(times.useful_ns).saturating_sub(times.io_ns);
        let explains_loss = found.parallel.is_some_and(|parallel| parallel < EFFICIENCY_MIN)
            && times.io_ns > others_ns;
        if found.io_share < INPUT_OUTPUT_PART && !explains_loss {
            return None;
        }
        let regions = self.regions_of(Activity::InputOutput);
        Some(Hint {
            kind: HintKind::InputOutput,
            callpath: Some(regions.first()?.callpath),
            rank: None,
            iteration: None,
            lost_ns: self.a_rank_ns(times.io_ns),
            headline: format!(
                "Input and output take {} of the time, {}",
                percent_cell(found.io_share),
                self.mostly(&regions),
            ),
            evidence: format!(
                "A rank reads and writes for {} of {} on average.",
                time(whole(self.a_rank_ns(times.io_ns))),
                time(whole(self.a_rank_ns(times.total_ns))),
            ),
            advice: "Write less often, in larger pieces, or from fewer ranks.".to_owned(),
        })
    }

    fn crowded(&self) -> Option<Hint> {
        let Occupancy { ranks, cpus } = self.occupancy?;
        if f64::from(ranks) < CROWDED_PART * f64::from(cpus) {
            return None;
        }
        let waiting = 1.0 - f64::from(cpus) / f64::from(ranks);
        Some(Hint {
            kind: HintKind::Crowded,
            callpath: None,
            rank: None,
            iteration: None,
            lost_ns: waiting * self.a_rank_ns(self.statistics.times().total_ns),
            headline: format!("{ranks} ranks share the {cpus} CPUs of a host"),
            evidence: format!(
                "They take turns, so up to {} of every time is waiting for a CPU.",
                percent_cell(waiting),
            ),
            advice: format!("Start at most {cpus} ranks a host to measure the program itself."),
        })
    }

    fn writing(&self) -> Option<Hint> {
        let writing_ns = float(self.overhead?.writing_ns);
        let total_ns = self.a_rank_ns(self.statistics.times().total_ns);
        if total_ns <= 0.0 || writing_ns < WRITING_PART * total_ns {
            return None;
        }
        Some(Hint {
            kind: HintKind::ShortRun,
            callpath: None,
            rank: None,
            iteration: None,
            lost_ns: writing_ns,
            headline: "The run is too short to judge the overhead".to_owned(),
            evidence: format!(
                "It took {} per rank, and writing its profile {} more.",
                time(whole(total_ns)),
                time(whole(writing_ns)),
            ),
            advice: "Measure a longer run.".to_owned(),
        })
    }

    /// Returns the two costliest regions with this activity.
    fn regions_of(&self, activity: Activity) -> Vec<Region<'_>> {
        costliest(self.callpaths, self.statistics, 2, |index| {
            self.activities[index.row()] == Some(activity)
        })
    }

    /// Returns `most of it in alltoall (64.4%)`, or all of it if there is one region.
    fn mostly(&self, regions: &[Region<'_>]) -> String {
        let Some(first) = regions.first() else { return String::new() };
        let name = cut(&shown(first.name), NAME_COLUMNS);
        match regions.len() {
            1 => format!("all of it in {name}"),
            _ => format!(
                "most of it in {name} ({})",
                percent_cell(ratio(first.exclusive_ns, self.statistics.times().total_ns)),
            ),
        }
    }
}
