//! How the program was sampled, in words.

use tinyprof_format::model::{Region, SAMPLES_UNKNOWN};

use crate::report::Report;
use crate::words::units::time;

/// The visits that are no visits of regions.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    samples: u64,
    /// The samples whose place is not known.
    unknown: u64,
    threads_not_sampled: u64,
    period_ns: u64,
}

impl Counts {
    fn add(&mut self, region: &Region, visits: u64) {
        if region.counts_threads_not_sampled() {
            self.threads_not_sampled = self.threads_not_sampled.saturating_add(visits);
        }
        let Some(period_ns) = region.sample_period_ns() else { return };
        self.period_ns = self.period_ns.max(period_ns);
        self.samples = self.samples.saturating_add(visits);
        if region.name == SAMPLES_UNKNOWN {
            self.unknown = self.unknown.saturating_add(visits);
        }
    }

    /// Returns the sentence; none if nothing was to be sampled.
    fn line(&self) -> Option<String> {
        let Self { samples, unknown, threads_not_sampled: threads, period_ns } = *self;
        let all = (samples > 0).then(|| {
            format!("{samples}, each for {} of a thread's processor time", time(period_ns.into()))
        });
        let unknown = (unknown > 0).then(|| format!("{unknown} of them at an unknown place"));
        let threads = match threads {
            0 => None,
            1 => Some("1 thread was not sampled".to_owned()),
            many => Some(format!("{many} threads were not sampled")),
        };
        let parts: Vec<String> = [all, unknown, threads].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("samples: {}", parts.join("; ")))
    }
}

/// Returns `samples: 812, each for 10.0 ms of a thread's processor time; 3 of them at an unknown
/// place; 1 thread was not sampled`. None if nothing was to be sampled.
pub(crate) fn samples_line(report: &Report) -> Option<String> {
    let mut counts = Counts::default();
    for (index, callpath) in report.callpaths.iter() {
        counts.add(&callpath.region, report.statistics.row(index.row()).visits);
    }
    counts.line()
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{SAMPLES_MODULE, SAMPLES_PERIOD, SiteId, THREADS_NOT_SAMPLED};

    use super::*;

    fn region(name: &str, module: &str, period: Option<&str>) -> Region {
        let constants = period.map(|period| (SAMPLES_PERIOD.to_owned(), period.to_owned()));
        Region {
            module: module.to_owned(),
            constants: constants.into_iter().collect(),
            ..Region::named(SiteId::from_bits(1), name)
        }
    }

    #[test]
    fn samples_and_what_was_not_sampled_are_told() {
        let check = |rows: &[(&str, Option<&str>, u64)], expected: Option<&str>| {
            let mut counts = Counts::default();
            for (name, period, visits) in rows {
                counts.add(&region(name, SAMPLES_MODULE, *period), *visits);
            }
            counts.add(&region("main", "m", Some("1000000")), 7);
            assert_eq!(counts.line().as_deref(), expected);
        };
        check(&[], None);
        let (ms, one) =
            (Some("1000000"), "samples: 5, each for 1.00 ms of a thread's processor time");
        check(&[("f (a.c:1)", ms, 2), ("g (a.c:9)", ms, 3)], Some(one));
        check(
            &[("f (a.c:1)", ms, 2), (SAMPLES_UNKNOWN, ms, 3), (THREADS_NOT_SAMPLED, None, 1)],
            Some(&format!("{one}; 3 of them at an unknown place; 1 thread was not sampled")),
        );
        check(&[(THREADS_NOT_SAMPLED, None, 4)], Some("samples: 4 threads were not sampled"));
    }
}
