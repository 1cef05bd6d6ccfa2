//! The metrics that are pushed: their names, units and labels, which stay as they are, since sites
//! keep them. docs/live.md lists them.

/// A metric.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Metric {
    /// The name for OTLP. That for Prometheus and OpenMetrics follows from it.
    pub(super) name: &'static str,
    /// The unit, as UCUM writes it.
    pub(super) unit: &'static str,
    /// True for a sum that only grows, false for a number of the moment.
    pub(super) is_sum: bool,
    /// The labels of its own, beside those of the job.
    pub(super) labels: &'static [&'static str],
    pub(super) help: &'static str,
}

const fn gauge(
    name: &'static str,
    unit: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { name, unit, is_sum: false, labels, help }
}

const fn sum(
    name: &'static str,
    unit: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { name, unit, is_sum: true, labels, help }
}

/// The labels of every point: the job.
pub(super) const JOB_LABELS: [&str; 2] = ["job_id", "job_name"];

/// Defines the metrics, and the list of all.
macro_rules! metrics {
    ($($id:ident = $metric:expr;)*) => {
        $(pub(super) const $id: &Metric = &$metric;)*
        /// All metrics, in the order in which they are pushed.
        pub(super) const ALL: [&Metric; [$(stringify!($id)),*].len()] = [$($id),*];
    };
}

metrics! {
    RANKS = gauge("tinyprof.job.ranks", "{rank}", &["state"], "Ranks: running, still (not moving for 3 s), lost (not seen any more), unseen (not yet seen), or ended");
    LONGEST_STILL = gauge("tinyprof.job.longest_still", "s", &[], "Longest time for which a rank has not moved; 0 if all move");
    HOSTS = gauge("tinyprof.job.hosts", "{host}", &["state"], "Hosts: seen, or missing");
    MISSING_HOST = gauge("tinyprof.job.missing_host", "{host}", &["host"], "A host of which nothing is known, at most eight");
    ELAPSED = gauge("tinyprof.job.elapsed", "s", &[], "Time since the job began");
    START = gauge("tinyprof.job.start_timestamp", "s", &[], "When the job began, since 1970");
    AGE = gauge("tinyprof.job.age", "s", &[], "Age of the oldest part of these numbers");
    EFFICIENCY = gauge("tinyprof.job.efficiency", "1", &["factor"], "Efficiency since the start, 0 to 1: parallel = load_balance * communication");
    TIME = sum("tinyprof.job.time", "s", &["activity"], "Time of all ranks together: computing, mpi, io or setup");
    WAITING = sum("tinyprof.job.waiting", "s", &["cause"], "Time that all ranks together waited for others in MPI, by cause");
    CALLPATHS = gauge("tinyprof.job.callpaths", "{callpath}", &["state"], "Callpaths: pushed, or left out");
    EXCLUSIVE = sum("tinyprof.job.callpath.exclusive", "s", &["callpath"], "Time in a callpath without its callees, all ranks together");
    INCLUSIVE = sum("tinyprof.job.callpath.inclusive", "s", &["callpath"], "Time in a callpath with its callees, all ranks together");
    VISITS = sum("tinyprof.job.callpath.visits", "{visit}", &["callpath"], "Visits of a callpath, all ranks together");
    ITERATIONS = sum("tinyprof.job.iterations", "{iteration}", &["callpath"], "Iterations of a loop, mean of the ranks in it");
    FINDING = gauge("tinyprof.job.finding", "s", &["cause", "callpath"], "A finding of tinyprof why: time of one rank that would be gained at most");
    LOSSES = gauge("tinyprof.job.losses", "{loss}", &["kind"], "What could not be recorded, by kind; kinds without any are left out");
    DROPPED = sum("tinyprof.push.dropped", "{document}", &["target"], "Documents of tinyprof push that did not reach their target");
    PROCESSOR = sum("tinyprof.push.processor_time", "s", &[], "Processor time of tinyprof push itself");
}

impl Metric {
    /// Returns the name of its family for Prometheus and OpenMetrics, as translations from OTLP
    /// make it: `tinyprof_job_time_seconds`.
    pub(super) fn family(&self) -> String {
        let unit = match self.unit {
            "s" => "_seconds",
            "1" => "_ratio",
            _ => "",
        };
        self.name.replace('.', "_") + unit
    }

    /// Returns the name of its samples: that of its family, of sums with `_total`.
    pub(super) fn sample(&self) -> String {
        self.family() + if self.is_sum { "_total" } else { "" }
    }
}

/// A number with its labels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    /// The values of the metric's own labels, in their order.
    pub(super) labels: Vec<String>,
    pub(super) number: Number,
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Whole(u64),
    /// Seconds, in ns.
    Time(u128),
    Real(f64),
}

/// The numbers of a job at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Numbers {
    /// The values of [`JOB_LABELS`].
    pub(super) job: [String; 2],
    /// The start of the run, and the moment, in ns since 1970.
    pub(super) start_ns: u64,
    pub(super) moment_ns: u64,
    /// The points of each metric of [`ALL`].
    pub(super) points: Vec<Vec<Point>>,
}

impl Numbers {
    /// Returns the metrics that have points, with these.
    pub(super) fn metrics(&self) -> impl Iterator<Item = (&'static Metric, &[Point])> {
        let all = ALL.into_iter().zip(&self.points);
        all.filter(|(_, points)| !points.is_empty()).map(|(metric, points)| (metric, &points[..]))
    }

    /// Returns all labels of a point with their values.
    pub(super) fn labels<'a>(
        &'a self,
        metric: &Metric,
        point: &'a Point,
    ) -> impl Iterator<Item = (&'static str, &'a str)> {
        let own = metric.labels.iter().copied().zip(&point.labels);
        JOB_LABELS
            .into_iter()
            .zip(&self.job)
            .chain(own)
            .map(|(label, value)| (label, value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_a_translation_makes() {
        assert_eq!(TIME.sample(), "tinyprof_job_time_seconds_total");
        assert_eq!(EFFICIENCY.sample(), "tinyprof_job_efficiency_ratio");
        assert_eq!(
            (RANKS.sample(), VISITS.family()),
            ("tinyprof_job_ranks".into(), "tinyprof_job_callpath_visits".into())
        );
    }

    #[test]
    fn no_metric_has_a_rank_as_label_and_docs_list_all() {
        let docs = include_str!("../../../../../docs/live.md");
        for metric in ALL {
            assert!(!metric.labels.contains(&"rank"), "{}", metric.name);
            let row = format!("| `{}` | ", metric.name);
            let row = docs.lines().find(|line| line.starts_with(&row)).expect(metric.name);
            assert!(row.contains(&format!("`{}`", metric.sample())), "{row}");
            metric
                .labels
                .iter()
                .for_each(|label| assert!(row.contains(&format!("`{label}`")), "{row}"));
        }
    }

    #[test]
    fn the_dashboard_asks_for_what_is_pushed() {
        let dashboard = include_str!("../../../../../packaging/grafana/tinyprof.json");
        let known: Vec<String> = ALL.into_iter().map(Metric::sample).collect();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let named: Vec<&str> =
            dashboard.split(|c| !is_part(c)).filter(|word| word.starts_with("tinyprof_")).collect();
        let unknown = named.iter().find(|name| !known.iter().any(|known| known == *name));
        assert_eq!(unknown, None, "{known:?}");
        assert!(
            known.iter().filter(|name| named.contains(&name.as_str())).count() > 12,
            "{named:?}"
        );
    }
}
