//! How many threads work for a callpath, and how evenly: from the metrics that recorders keep for
//! it.

use tinyprof_format::model::{
    CallpathValues, MetricSummary, SAMPLED_SECONDS, THREAD_SECONDS, WORKER_SECONDS,
};

use crate::facts::numbers::{float, ratio};

/// Nanoseconds of a second.
const SECOND_NS: f64 = 1e9;

/// The time of the threads of a callpath, over all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThreadSums {
    /// The ranks on which several threads worked there.
    pub ranks: u32,
    /// The threads of these ranks; 0 at a place that was sampled.
    pub threads: u64,
    /// Their time, in ns.
    pub sum_ns: f64,
    /// The time of the longest thread of each rank, added up, in ns.
    pub longest_sum_ns: f64,
    /// The time of the longest thread of all, in ns, and its rank.
    pub longest_ns: f64,
    /// The rank of that thread.
    pub longest_rank: u32,
    /// The longest visit of any thread, in ns; 0 at a place that was sampled.
    pub largest_visit_ns: u64,
    /// True if the time of the callpath itself is that of several threads, added up: their visits
    /// or samples, and not the visits of one thread for which others worked.
    pub is_added_up: bool,
    /// At a place that was sampled, the part of the time that is that of worker threads, in ns.
    pub workers_ns: f64,
}

impl ThreadSums {
    /// Returns the sums of a callpath, given its values rank by rank; none if one thread did all.
    #[must_use]
    pub fn of_ranks(ranks: &[CallpathValues]) -> Option<Self> {
        let mut sums = Self::default();
        for (values, rank) in ranks.iter().zip(0..) {
            let largest = values.executions.iter().map(|execution| execution.max_ns).max();
            sums.largest_visit_ns = sums.largest_visit_ns.max(largest.unwrap_or(0));
            if values.metrics.is_empty() {
                continue;
            }
            let summaries = |key| values.metrics.get(key).into_iter().flat_map(|of| &of.executions);
            for one in summaries(THREAD_SECONDS) {
                sums.add_threads(one, rank);
                sums.is_added_up = true;
            }
            for one in summaries(SAMPLED_SECONDS) {
                sums.add_threads(one, rank);
            }
            for one in summaries(WORKER_SECONDS) {
                sums.ranks = sums.ranks.saturating_add(1);
                sums.workers_ns += one.sum * SECOND_NS;
                sums.is_added_up = true;
            }
        }
        if sums.threads == 0 {
            sums.largest_visit_ns = 0;
        }
        (sums.ranks > 0).then_some(sums)
    }

    fn add_threads(&mut self, one: &MetricSummary, rank: u32) {
        self.ranks = self.ranks.saturating_add(1);
        self.threads = self.threads.saturating_add(one.values);
        self.sum_ns += one.sum * SECOND_NS;
        self.longest_sum_ns += one.max * SECOND_NS;
        let longest_ns = one.max * SECOND_NS;
        if longest_ns > self.longest_ns {
            (self.longest_ns, self.longest_rank) = (longest_ns, rank);
        }
    }

    /// Adds another place of the same function or line.
    pub fn add_place(&mut self, other: &Self) {
        self.ranks = self.ranks.max(other.ranks);
        self.workers_ns += other.workers_ns;
        self.is_added_up = true;
    }

    /// Returns the mean number of threads of a rank; none at a place that was sampled.
    #[must_use]
    pub fn count(&self) -> Option<f64> {
        (self.threads > 0).then(|| float(self.threads) / f64::from(self.ranks.max(1)))
    }

    /// Returns the mean number of threads that were busy there at a time, for a callpath that took
    /// this time on all threads of all ranks: the time of all in relation to that of the longest
    /// thread, or, at a place that was sampled, of the thread that worked there with its workers.
    /// None if that one was never there.
    #[must_use]
    pub fn busy(&self, inclusive_ns: u128) -> Option<f64> {
        let (all_ns, longest_ns) = match self.threads {
            0 => (ratio(inclusive_ns, 1), ratio(inclusive_ns, 1) - self.workers_ns),
            _ => (self.sum_ns, self.longest_sum_ns),
        };
        // Samples are some at a time: less than a tenth of one is none.
        (longest_ns > 0.0 && longest_ns * 1e6 > all_ns).then(|| all_ns / longest_ns)
    }

    /// Returns the time of the longest thread in relation to the mean; none at a place that was
    /// sampled.
    #[must_use]
    pub fn imbalance(&self) -> Option<f64> {
        let mean_ns = self.sum_ns / float(self.threads);
        let longest_ns = self.longest_sum_ns / f64::from(self.ranks.max(1));
        (self.threads > 0 && mean_ns > 0.0).then(|| longest_ns / mean_ns - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{ExecutionSummary, MetricValues};

    use super::*;

    fn rank(key: &str, threads: &[f64]) -> CallpathValues {
        let of = |seconds: &f64| MetricSummary::of_one_value(0, *seconds);
        let all = threads.iter().map(of).reduce(|mut all, one| {
            all.absorb(&one);
            all
        });
        let values = MetricValues { executions: all.into_iter().collect(), series: Vec::new() };
        CallpathValues { metrics: [(key.to_owned(), values)].into(), ..Default::default() }
    }

    #[test]
    fn the_longest_thread_says_how_many_were_busy() {
        let mut ranks =
            [rank(THREAD_SECONDS, &[4.0, 1.0, 1.0, 2.0]), rank(THREAD_SECONDS, &[3.0, 3.0])];
        ranks[1].executions = vec![ExecutionSummary::of_one_visit(0, 2_000)];
        let sums = ThreadSums::of_ranks(&ranks).expect("there are several");
        assert_eq!((sums.ranks, sums.threads, sums.longest_rank), (2, 6, 0));
        assert_eq!((sums.count(), sums.largest_visit_ns), (Some(3.0), 2_000));
        assert_eq!(sums.busy(0), Some(2.0), "14 s in 7 s");
        assert_eq!(sums.imbalance(), Some(3.5 / (14.0 / 6.0) - 1.0));
    }

    #[test]
    fn at_a_place_the_own_samples_say_it() {
        let check = |worker_s: f64, inclusive_ns, expected| {
            let sums = ThreadSums::of_ranks(&[rank(WORKER_SECONDS, &[worker_s])]).unwrap();
            assert_eq!((sums.busy(inclusive_ns), sums.count()), (expected, None));
        };
        check(3.0, 4_000_000_000, Some(4.0));
        check(3.0, 3_000_000_000, None);
        assert_eq!(ThreadSums::of_ranks(&[CallpathValues::default()]), None);
    }
}
