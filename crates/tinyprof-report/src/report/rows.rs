//! The rows of a report: what is known of each, and their order.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;

use tinyprof_format::model::{CallpathIndex, is_recorders_key};

use crate::facts::counters::{Counters, Scalability};
use crate::facts::numbers::{ratio, whole};
use crate::facts::sort_key::SortKey;
use crate::facts::statistics::mpi_usage::MpiUsage;
use crate::facts::statistics::rank::RankStatistics;
use crate::facts::statistics::spread::Spread;
use crate::facts::threads::ThreadSums;
use crate::facts::totals::metrics::Metric;
use crate::facts::totals::transfers::Transfers;
use crate::report::Report;
use crate::words::names::escaped;

/// The maximum number of keys named; the others are only counted.
const KEYS_NAMED: usize = 8;

/// A key under which no callpath of a report has recorded anything.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownMetric {
    /// The requested key.
    pub key: String,
    /// The existing keys.
    pub known: BTreeSet<String>,
}

impl fmt::Display for UnknownMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there is no metric {}: expected inclusive, exclusive, visits",
            escaped(&self.key)
        )?;
        for key in self.known.iter().take(KEYS_NAMED) {
            write!(f, ", {}", escaped(key))?;
        }
        match self.known.len().saturating_sub(KEYS_NAMED) {
            0 if self.known.is_empty() => f.write_str("; the program records no others"),
            0 => Ok(()),
            more => write!(f, ", or one of {more} others"),
        }
    }
}

impl std::error::Error for UnknownMetric {}

impl Report {
    /// Returns the report sorted by `metric`. Tables also show the metric; with exclusive times,
    /// the columns that compare ranks compare these.
    ///
    /// # Errors
    /// If `metric` is a key that nothing was recorded under.
    ///
    /// ```
    /// use tinyprof_format::model::EventMap;
    /// use tinyprof_report::{SortKey, Report};
    ///
    /// let report = || Report::of_event_map(&EventMap::default(), "program");
    /// assert!(report().by_metric(SortKey::Exclusive).is_ok());
    /// let error = report().by_metric(SortKey::from("bytes")).unwrap_err();
    /// assert!(error.to_string().starts_with("there is no metric bytes: expected inclusive"));
    /// ```
    pub fn by_metric(self, metric: SortKey) -> Result<Self, UnknownMetric> {
        if let SortKey::Key(key) = &metric
            && !self.metrics.rows().iter().any(|row| row.key == *key)
        {
            let known = self.metrics.rows().iter().map(|row| row.key.clone()).collect();
            return Err(UnknownMetric { key: key.clone(), known });
        }
        Ok(Self { metric: Some(metric), ..self })
    }

    /// Returns true if the columns that compare ranks show exclusive times.
    pub(crate) fn compares_exclusive(&self) -> bool {
        self.metric == Some(SortKey::Exclusive)
    }

    /// Returns the times by which the table compares ranks.
    pub(crate) fn compared<'a>(&self, row: &'a RankStatistics) -> &'a Spread {
        if self.compares_exclusive() { &row.exclusive } else { &row.inclusive }
    }

    /// Returns true if the values under `key` are shown: all keys of the program, unless one was
    /// requested.
    pub(crate) fn shows_key(&self, key: &str) -> bool {
        match &self.metric {
            Some(SortKey::Key(only)) => only == key,
            _ => !is_recorders_key(key),
        }
    }

    /// Returns the time of the threads of a callpath; none if one thread did all, or it is not
    /// known.
    #[must_use]
    pub fn threads_of(&self, index: CallpathIndex) -> Option<&ThreadSums> {
        self.thread_sums.get(&index)
    }

    /// Returns the mean number of threads that were busy at a time in a callpath in which several
    /// worked: at most as many as there are. See [`ThreadSums::busy`].
    #[must_use]
    pub fn busy_threads(&self, index: CallpathIndex) -> Option<f64> {
        let busy =
            self.threads_of(index)?.busy(self.statistics.row(index.row()).inclusive.sum_ns)?;
        let most = self.threads_of_a_rank();
        Some(if most > 0.0 { busy.min(most) } else { busy })
    }

    /// Returns the most threads of a rank, on average, that are known to have worked in a callpath.
    pub(crate) fn threads_of_a_rank(&self) -> f64 {
        let counts = self.thread_sums.values().filter_map(ThreadSums::count);
        counts.fold(0.0, f64::max)
    }

    /// Returns a time of a callpath as a share refers to it: that of one thread, on average, where
    /// the time is that of several threads, added up. The share is then one of the time of all
    /// threads.
    #[must_use]
    pub fn time_of_one_thread(&self, index: CallpathIndex, ns: u128) -> u128 {
        let is_added_up =
            |at: &CallpathIndex| self.threads_of(*at).is_some_and(|sums| sums.is_added_up);
        let parent = |at: &CallpathIndex| self.callpaths.get(*at).parent;
        if self.thread_sums.is_empty()
            || !std::iter::successors(Some(index), parent).any(|at| is_added_up(&at))
        {
            return ns;
        }
        let at_work = self.statistics.times().threads_at_work_of_a_rank().unwrap_or(1.0);
        whole(ratio(ns, 1) / at_work.max(self.threads_of_a_rank()).max(1.0))
    }

    /// Compares two callpaths by the report's metric, or by inclusive time if none was requested;
    /// the greater value first.
    #[must_use]
    pub fn in_order(&self, left: CallpathIndex, right: CallpathIndex) -> Ordering {
        self.in_order_of(self.metric.as_ref().unwrap_or(&SortKey::Inclusive), left, right)
    }

    /// Compares two callpaths by `metric`; the greater value first.
    #[must_use]
    pub fn in_order_of(
        &self,
        metric: &SortKey,
        left: CallpathIndex,
        right: CallpathIndex,
    ) -> Ordering {
        let [a, b] = [left, right].map(|index| self.statistics.row(index.row()));
        match metric {
            SortKey::Inclusive => b.inclusive.sum_ns.cmp(&a.inclusive.sum_ns),
            SortKey::Exclusive => b.exclusive.sum_ns.cmp(&a.exclusive.sum_ns),
            SortKey::Visits => b.visits.cmp(&a.visits),
            SortKey::Key(key) => {
                let sum =
                    |index| self.recorded(index, key).map_or(f64::NEG_INFINITY, |row| row.sum);
                sum(right).total_cmp(&sum(left))
            }
        }
    }

    /// Returns the values recorded under `key` at a callpath.
    #[must_use]
    pub fn recorded(&self, index: CallpathIndex, key: &str) -> Option<&Metric> {
        let rows = self.metrics.rows();
        let found =
            rows.binary_search_by(|row| (row.callpath, row.key.as_str()).cmp(&(index, key)));
        found.ok().map(|at| &rows[at])
    }

    /// Returns what the processors have counted while the program was sampled; none if they have
    /// not.
    #[must_use]
    pub fn counters(&self) -> Option<Counters> {
        Counters::of_metrics(&self.callpaths, &self.metrics)
    }

    /// Compares the computation of this run with that of a base; none if one of them has no useful
    /// time.
    #[must_use]
    pub fn scalability(&self, base: &Self) -> Option<Scalability> {
        let of = |report: &Self| (report.statistics.times().useful_ns, report.counters());
        Scalability::of(of(base), of(self))
    }

    /// Returns the transfers at a callpath.
    #[must_use]
    pub fn transfers_of(&self, callpath: CallpathIndex) -> Transfers {
        self.transfers.get(&callpath).copied().unwrap_or_default()
    }

    /// Returns the mean number of threads that worked for a callpath at once; none if its work did
    /// not go to other threads.
    #[must_use]
    pub fn threads_at_once(&self, index: CallpathIndex) -> Option<f64> {
        self.threads_at_once.get(&index).copied()
    }

    /// Returns the MPI calls of the run; none without any.
    #[must_use]
    pub fn mpi_usage(&self) -> Option<MpiUsage<'_>> {
        MpiUsage::of_run(&self.callpaths, &self.statistics, &self.transfers)
    }

    /// Returns `region` or `callpath`, whichever a row of the table is.
    #[must_use]
    pub const fn row_word(&self) -> &'static str {
        if self.callpaths_of_regions.is_some() { "region" } else { "callpath" }
    }
}
