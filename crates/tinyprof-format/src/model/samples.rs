//! Callpaths that are samples of a program's code: how many there are is measured, and the time
//! that they stand for is estimated.

use super::{CallpathValues, Region};

/// The module of their regions.
pub const SAMPLES_MODULE: &str = "sample";

/// The constant that has the processor time between two samples of a thread, in ns.
pub const SAMPLES_PERIOD: &str = "period_ns";

/// The key of the cycles that the processor has counted for the samples of a place, each since the
/// sample before, outside of the kernel.
pub const CYCLES: &str = "[cycles]";

/// The key of the instructions that it has counted, in the same way.
pub const INSTRUCTIONS: &str = "[instructions]";

/// The name of the region of samples whose place in the code is not known.
pub const SAMPLES_UNKNOWN: &str = "[unknown place]";

/// The name of the region of samples that the system did not take, as the thread was in the kernel,
/// and the system lets nobody look there.
pub const SAMPLES_IN_KERNEL: &str = "[in the kernel]";

/// The name of the region of samples that threads, which have ended, would have had next: what they
/// worked after their last ones, together.
pub const SAMPLES_AT_END: &str = "[ended between samples]";

/// The name of the region of samples in code that was made at run time, where nothing names it.
pub const SAMPLES_WITHOUT_FILE: &str = "[code without a file]";

/// The beginning and the end of the path of the file in which a program may name such code. Between
/// them is the number of the process.
pub const MADE_CODE_FILE: (&str, &str) = ("/tmp/perf-", ".map");

/// The key of the samples of a place for which the thread was in the kernel: 1 for each.
pub const KERNEL_SAMPLES: &str = "[kernel samples]";

/// The name of the region, without a period, whose visits are threads that were not sampled.
pub const THREADS_NOT_SAMPLED: &str = "[threads not sampled]";

impl Region {
    /// Returns true if visits of this region are threads that the system did not sample.
    #[must_use]
    pub fn counts_threads_not_sampled(&self) -> bool {
        self.module == SAMPLES_MODULE && self.name == THREADS_NOT_SAMPLED
    }

    /// Returns true if visits of this region are samples.
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        self.module == SAMPLES_MODULE && self.constants.contains_key(SAMPLES_PERIOD)
    }

    /// Returns the address of a sample in code that was made at run time, as the recorder names it,
    /// `perf-4711.map+0x7f0012345678`. Its file is the one that may name the code.
    #[must_use]
    pub fn made_code(&self) -> Option<u64> {
        let (begin, end) = MADE_CODE_FILE;
        let is_made = self.is_sampled() && self.line == 0;
        let digits = self.file.strip_prefix(begin).filter(|_| is_made)?.strip_suffix(end)?;
        let address = self.name.strip_prefix("perf-")?.strip_prefix(digits)?;
        u64::from_str_radix(address.strip_prefix(".map+0x")?, 16).ok()
    }

    /// Returns the processor time between two samples, in ns, if visits of this region are samples.
    #[must_use]
    pub fn sample_period_ns(&self) -> Option<u64> {
        let period = self.constants.get(SAMPLES_PERIOD).filter(|_| self.is_sampled())?;
        period.parse().ok().filter(|&ns| ns > 0)
    }

    /// Returns the name of the function that was sampled: `solve` of `solve (lu.c:12)`. That of
    /// the executable or library, if the function is not known: `libm.so.6` of `libm.so.6+0x1234`.
    #[must_use]
    pub fn sampled_function(&self) -> Option<&str> {
        let name = self.name.rsplit_once(" (").map_or(self.name.as_str(), |(function, _)| function);
        let name = name.rsplit_once("+0x").map_or(name, |(object, _)| object);
        self.is_sampled().then_some(name)
    }

    /// Returns the function and line that were sampled, `solve (lu.c:12)`; without an address if
    /// the line is not known.
    #[must_use]
    pub fn sampled_line(&self) -> Option<&str> {
        let name = if self.line > 0 { Some(self.name.as_str()) } else { self.sampled_function() };
        name.filter(|_| self.is_sampled())
    }
}

impl CallpathValues {
    /// Gives visits that are samples their times: each stands for the period, give or take what
    /// chance does.
    pub fn estimate_samples(&mut self, period_ns: u64) {
        let square = float(period_ns) * float(period_ns);
        for execution in &mut self.executions {
            let samples = execution.visits;
            execution.sum_ns = samples.saturating_mul(period_ns);
            (execution.min_ns, execution.max_ns) = (period_ns, period_ns);
            execution.sum_squares_ns2 = float(samples) * square;
            // As of a Poisson process.
            execution.sum_variance_ns2 = float(samples) * square;
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate has no 53 exact bits")]
const fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ExecutionSummary, SiteId};

    #[test]
    fn a_place_in_code_that_was_made_has_an_address_and_a_file() {
        let constants = [(SAMPLES_PERIOD.to_owned(), "10".to_owned())].into();
        let (module, file) = (SAMPLES_MODULE.to_owned(), "/tmp/perf-47.map".to_owned());
        let named = Region::named(SiteId::from_bits(1), "perf-47.map+0x7f0a");
        let region = Region { module, file, constants, ..named };
        assert_eq!(region.made_code(), Some(0x7f0a));
        for name in ["perf-48.map+0x7f0a", "solve (made at run time)", "perf-47.map+0x"] {
            assert_eq!(Region { name: name.to_owned(), ..region.clone() }.made_code(), None);
        }
        let of_library = Region { file: "/usr/lib/perf-47.map".to_owned(), ..region };
        assert_eq!(of_library.made_code(), None);
    }

    #[test]
    fn each_sample_stands_for_a_period_and_their_number_has_an_error() {
        let mut one = ExecutionSummary::of_one_visit(0, 0);
        one.visits = 25;
        let mut values = CallpathValues { executions: vec![one], ..CallpathValues::default() };
        values.estimate_samples(1_000);
        let found = &values.executions[0];
        assert_eq!((found.sum_ns, found.min_ns, found.max_ns), (25_000, 1_000, 1_000));
        // The standard error is a fifth.
        assert!((found.sum_variance_ns2.sqrt() - 5_000.0).abs() < 1e-6);
    }
}
