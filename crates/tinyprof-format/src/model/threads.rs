//! The time of the threads of a rank, callpath by callpath: how many there are, and the longest.
//!
//! A profile has the sums over all threads of a rank. What they are sums of is kept as metrics:
//! [`THREAD_SECONDS`] or [`SAMPLED_SECONDS`] at a region, a value for each thread, and
//! [`WORKER_SECONDS`] at the samples of threads that are no recorded ones. Recorders count the
//! latter in callpaths of their own, which no profile contains.

use std::collections::{BTreeMap, HashMap};

use super::{
    CYCLES, CallpathId, CallpathRecord, INSTRUCTIONS, KERNEL_SAMPLES, MetricSummary, MetricValues,
    Region,
};

/// The key of the times of a region that several threads visited, in s, by thread.
pub const THREAD_SECONDS: &str = "[thread seconds]";

/// The key of the samples of several threads in another region, in s, by thread: without those in
/// regions inside.
pub const SAMPLED_SECONDS: &str = "[sampled thread seconds]";

/// The key of the samples of worker threads at a place, in s of their processor time.
pub const WORKER_SECONDS: &str = "[worker seconds]";

/// Returns true for the keys under which recorders keep numbers that reports show in other ways
/// than those of the program.
#[must_use]
pub fn is_recorders_key(key: &str) -> bool {
    let of_threads = [THREAD_SECONDS, SAMPLED_SECONDS, WORKER_SECONDS];
    of_threads.contains(&key) || [CYCLES, INSTRUCTIONS, KERNEL_SAMPLES].contains(&key)
}

/// The module of the regions that count samples of workers.
pub const WORKERS_MODULE: &str = "sampled worker";

impl Region {
    /// Returns true if visits of this region count samples of workers, which are also visits of
    /// places.
    #[must_use]
    pub fn counts_workers(&self) -> bool {
        self.module == WORKERS_MODULE
    }
}

/// Collects the times of threads from the records of all threads of a rank.
#[derive(Debug, Default)]
pub struct ThreadTimes {
    are_several: bool,
    period_ns: u64,
    visited: HashMap<CallpathId, Times>,
    /// The samples below a region, for each thread that recorded it.
    sampled: HashMap<(CallpathId, usize), u64>,
    /// The samples of workers below a callpath: a place, or a region.
    workers: BTreeMap<(CallpathId, usize), Vec<u64>>,
}

/// The statistics of the times of threads, in ns.
#[derive(Clone, Copy, Debug)]
struct Times {
    threads: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
    squares_ns2: f64,
}

impl ThreadTimes {
    /// Returns a collection of nothing, for a rank with this number of recorded threads.
    #[must_use]
    pub fn new(recorded_threads: usize) -> Self {
        Self { are_several: recorded_threads > 1, ..Self::default() }
    }

    /// Adds a record of the recorded thread with this number, and returns it if a profile is to
    /// contain it.
    pub fn pass(&mut self, thread: usize, record: CallpathRecord) -> Option<CallpathRecord> {
        let (id, parent, region, values) = &record;
        let visits = values.visits();
        if region.counts_workers() {
            let of_parent = parent.map(|parent| (parent, thread));
            of_parent.inspect(|&key| self.workers.entry(key).or_default().push(visits));
            return None;
        }
        if let Some(period_ns) = region.sample_period_ns() {
            self.period_ns = period_ns;
            if let Some(parent) = *parent {
                *self.sampled.entry((parent, thread)).or_default() += visits;
            }
        } else if self.are_several && visits > 0 {
            let own = Times::of_one(values.inclusive_ns());
            self.visited.entry(*id).and_modify(|all| all.add(&own)).or_insert(own);
        }
        Some(record)
    }

    /// Returns the metrics: callpath, key and values.
    #[must_use]
    pub fn metrics(self) -> Vec<(CallpathId, String, MetricValues)> {
        let mut visited = self.visited;
        visited.retain(|_, times| times.threads > 1);
        let mut by_region: HashMap<CallpathId, Times> = HashMap::new();
        let mut metrics = Vec::new();
        for (&(callpath, thread), samples) in &self.workers {
            let all: u64 = samples.iter().sum();
            let Some(in_region) = self.sampled.get(&(callpath, thread)) else {
                // A place: its workers are counted together.
                let worked = Times::of_one(all.saturating_mul(self.period_ns));
                let worked = Times { threads: all, ..worked };
                metrics.push((callpath, WORKER_SECONDS.to_owned(), worked.values()));
                continue;
            };
            if visited.contains_key(&callpath) {
                continue;
            }
            let own = Some(in_region.saturating_sub(all)).filter(|&samples| samples > 0);
            for samples in samples.iter().copied().chain(own) {
                let of_thread = Times::of_one(samples.saturating_mul(self.period_ns));
                by_region
                    .entry(callpath)
                    .and_modify(|all| all.add(&of_thread))
                    .or_insert(of_thread);
            }
        }
        let by_region = by_region.into_iter().filter(|(_, times)| times.threads > 1);
        let under =
            |key: &str, (id, times): (CallpathId, Times)| (id, key.to_owned(), times.values());
        metrics.extend(by_region.map(|of| under(SAMPLED_SECONDS, of)));
        metrics.extend(visited.into_iter().map(|of| under(THREAD_SECONDS, of)));
        // Hash tables have no order, and a profile has.
        metrics.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        metrics
    }
}

impl Times {
    fn of_one(ns: u64) -> Self {
        let squares_ns2 = float(ns) * float(ns);
        Self { threads: 1, sum_ns: ns, min_ns: ns, max_ns: ns, squares_ns2 }
    }

    fn add(&mut self, other: &Self) {
        self.threads += other.threads;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.squares_ns2 += other.squares_ns2;
    }

    /// Returns the times as those of one execution, in s: the run.
    fn values(&self) -> MetricValues {
        let seconds = |ns: u64| float(ns) / 1e9;
        let one = MetricSummary {
            execution: 0,
            executions: 1,
            values: self.threads,
            sum: seconds(self.sum_ns),
            min: seconds(self.min_ns),
            max: seconds(self.max_ns),
            sum_squares: self.squares_ns2 / 1e18,
        };
        MetricValues { executions: vec![one], series: Vec::new() }
    }
}

#[expect(clippy::cast_precision_loss, reason = "2^53 ns are a hundred days")]
const fn float(ns: u64) -> f64 {
    ns as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{CallpathValues, ExecutionSummary, SAMPLES_MODULE, SAMPLES_PERIOD, SiteId};

    fn record(site: u64, parent: Option<CallpathId>, module: &str, visits: u64) -> CallpathRecord {
        let site = SiteId::from_bits(site);
        let period = (module == SAMPLES_MODULE).then(|| (SAMPLES_PERIOD.into(), "1000".into()));
        let region = Region {
            module: module.into(),
            constants: period.into_iter().collect(),
            ..Region::named(site, "r")
        };
        let one = ExecutionSummary::of_one_visit(0, 1_000_000_000);
        let executions = vec![ExecutionSummary { visits, ..one }];
        let id = parent.map_or_else(|| CallpathId::root(site), |parent| parent.child(site));
        let values = CallpathValues { executions, ..CallpathValues::default() };
        (id, parent, Arc::new(region), values)
    }

    fn found(times: ThreadTimes) -> Vec<(CallpathId, String, u64, f64, f64)> {
        let one = |(id, key, values): (_, _, MetricValues)| {
            (id, key, values.executions[0].values, values.sum(), values.executions[0].max)
        };
        times.metrics().into_iter().map(one).collect()
    }

    #[test]
    fn workers_are_threads_of_the_region_beside_the_one_that_recorded_it() {
        let mut times = ThreadTimes::new(1);
        let region = record(1, None, "m", 1);
        let (around, place) = (Some(region.0), record(2, Some(region.0), SAMPLES_MODULE, 100));
        let workers = record(4, Some(place.0), WORKERS_MODULE, 60);
        let (first, second) =
            (record(5, around, WORKERS_MODULE, 45), record(6, around, WORKERS_MODULE, 15));
        let (at, id) = (place.0, region.0);
        for (record, is_kept) in
            [(first, false), (workers, false), (place, true), (second, false), (region, true)]
        {
            assert_eq!(times.pass(0, record).is_some(), is_kept);
        }
        let mut expected = vec![
            (id, SAMPLED_SECONDS.to_owned(), 3, 100e-6, 45e-6),
            (at, WORKER_SECONDS.to_owned(), 60, 60e-6, 60e-6),
        ];
        expected.sort_by_key(|row| row.0);
        assert_eq!(found(times), expected, "the one that recorded it has 40 samples");
    }

    #[test]
    fn a_region_that_several_threads_visit_has_the_times_of_its_visits() {
        let mut times = ThreadTimes::new(2);
        for thread in 0..2 {
            assert!(times.pass(thread, record(1, None, "m", 1)).is_some());
        }
        assert!(times.pass(0, record(2, None, "m", 1)).is_some(), "on one thread");
        let id = CallpathId::root(SiteId::from_bits(1));
        assert_eq!(found(times), [(id, THREAD_SECONDS.to_owned(), 2, 2.0, 1.0)]);
        let mut alone = ThreadTimes::new(1);
        assert!(alone.pass(0, record(1, None, "m", 1)).is_some());
        assert!(found(alone).is_empty());
    }
}
