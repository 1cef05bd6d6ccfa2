//! How the program was sampled, in words.

use std::collections::BTreeMap;

use tinyprof_format::model::{KERNEL_SAMPLES, Region, SAMPLES_IN_KERNEL, SAMPLES_UNKNOWN};

use crate::facts::numbers::ratio;
use crate::report::Report;
use crate::words::names::{cut, shown};
use crate::words::units::{percent_cell, time};

/// The part of the samples in the kernel from which on that is told.
const KERNEL_PART: f64 = 0.01;
/// The most functions whose time in the kernel is told.
const NAMED_MAX: usize = 3;
/// The maximum width of a name in a sentence, in columns.
const NAME_COLUMNS: usize = 40;

/// The visits that are no visits of regions.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    samples: u64,
    /// The samples whose place is not known.
    unknown: u64,
    /// The samples in the kernel, whose place the system does not show.
    unseen: u64,
    /// Those whose function is known, by function.
    in_kernel: BTreeMap<String, f64>,
    threads_not_sampled: u64,
    period_ns: u64,
}

impl Counts {
    fn add(&mut self, region: &Region, visits: u64, in_kernel: f64) {
        if region.counts_threads_not_sampled() {
            self.threads_not_sampled = self.threads_not_sampled.saturating_add(visits);
        }
        let Some(period_ns) = region.sample_period_ns() else { return };
        self.period_ns = self.period_ns.max(period_ns);
        self.samples = self.samples.saturating_add(visits);
        if region.name == SAMPLES_UNKNOWN {
            self.unknown = self.unknown.saturating_add(visits);
        }
        if region.name == SAMPLES_IN_KERNEL {
            self.unseen = self.unseen.saturating_add(visits);
        } else if let Some(function) = region.sampled_function().filter(|_| in_kernel > 0.0) {
            *self.in_kernel.entry(function.to_owned()).or_default() += in_kernel;
        }
    }

    /// Returns the sentence; none if nothing was to be sampled.
    fn line(&self) -> Option<String> {
        let Self { samples, unknown, threads_not_sampled: threads, period_ns, .. } = *self;
        let all = (samples > 0).then(|| {
            format!("{samples}, each for {} of a thread's processor time", time(period_ns.into()))
        });
        let unknown = (unknown > 0).then(|| format!("{unknown} of them at an unknown place"));
        let threads = match threads {
            0 => None,
            1 => Some("1 thread was not sampled".to_owned()),
            many => Some(format!("{many} threads were not sampled")),
        };
        let parts: Vec<String> =
            [all, self.kernel(), unknown, threads].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("samples: {}", parts.join("; ")))
    }

    /// Returns `11.8% in the kernel, below write 8.1%, setup 3.7%`.
    fn kernel(&self) -> Option<String> {
        let part = |number: f64| number / ratio(self.samples.max(1).into(), 1);
        let (seen, unseen) = (self.in_kernel.values().sum::<f64>(), ratio(self.unseen.into(), 1));
        let all = part(seen + unseen);
        if all < KERNEL_PART {
            return None;
        }
        if seen < unseen {
            let why = "below which function the system does not show (perf_event_paranoid above 1)";
            return Some(format!("{} in the kernel, {why}", percent_cell(all)));
        }
        let mut functions: Vec<_> = self.in_kernel.iter().collect();
        functions.sort_by(|a, b| b.1.total_cmp(a.1));
        let named = functions.iter().take(NAMED_MAX).map(|(name, number)| {
            format!("{} {}", cut(&shown(name), NAME_COLUMNS), percent_cell(part(**number)))
        });
        let named = named.collect::<Vec<_>>().join(", ");
        Some(format!("{} in the kernel, below {named}", percent_cell(all)))
    }
}

/// Returns `samples: 812, each for 10.0 ms of a thread's processor time; 11.8% in the kernel, below
/// write 8.1%, setup 3.7%; 3 of them at an unknown place; 1 thread was not sampled`. None if
/// nothing was to be sampled.
pub(crate) fn samples_line(report: &Report) -> Option<String> {
    let mut counts = Counts::default();
    for (index, callpath) in report.callpaths.iter() {
        let in_kernel = report.recorded(index, KERNEL_SAMPLES).map_or(0.0, |row| row.sum);
        counts.add(&callpath.region, report.statistics.row(index.row()).visits, in_kernel);
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
                counts.add(&region(name, SAMPLES_MODULE, *period), *visits, 0.0);
            }
            counts.add(&region("main", "m", Some("1000000")), 7, 0.0);
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
    #[test]
    fn time_in_the_kernel_is_told_by_function_or_why_not() {
        let check = |rows: &[(&str, u64, f64)], expected: &str| {
            let mut counts = Counts::default();
            for (name, visits, in_kernel) in rows {
                counts.add(&region(name, SAMPLES_MODULE, Some("1000000")), *visits, *in_kernel);
            }
            assert_eq!(counts.kernel().unwrap_or_default(), expected);
        };
        check(&[("f (a.c:1)", 1000, 9.0)], "");
        let rows = [("f (a.c:1)", 50, 5.0), ("f (a.c:2)", 10, 5.0), ("write (w.c:3)", 40, 40.0)];
        check(&rows, "50.0% in the kernel, below write 40.0%, f 10.0%");
        check(
            &[("f (a.c:1)", 90, 0.0), (SAMPLES_IN_KERNEL, 10, 10.0)],
            "10.0% in the kernel, below which function the system does not show \
             (perf_event_paranoid above 1)",
        );
    }
}
