//! Cycles and instructions while the program was sampled, and how they change from run to run.

use tinyprof_format::model::{CYCLES, CallpathTable, INSTRUCTIONS};

use crate::facts::numbers::ratio;
use crate::facts::totals::metrics::Metrics;

/// The sums over the samples of which cycles and instructions are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// The cycles that the processors worked for the program, outside of the kernel.
    pub cycles: f64,
    /// The instructions that they completed meanwhile.
    pub instructions: f64,
    /// The processor time of these samples, in ns.
    pub sampled_ns: f64,
}

impl Counters {
    /// Returns the sums of a run; none if no processor has counted.
    pub(crate) fn of_metrics(callpaths: &CallpathTable, metrics: &Metrics) -> Option<Self> {
        let mut sums = Self::default();
        for (index, callpath) in callpaths.iter() {
            let Some(period_ns) = callpath.region.sample_period_ns() else { continue };
            let of = |key| metrics.of_callpath(index).iter().find(|metric| metric.key == key);
            let Some(cycles) = of(CYCLES) else { continue };
            sums.cycles += cycles.sum;
            sums.instructions += of(INSTRUCTIONS).map_or(0.0, |row| row.sum);
            sums.sampled_ns += ratio(u128::from(cycles.values) * u128::from(period_ns), 1);
        }
        (sums.cycles > 0.0).then_some(sums)
    }

    /// Returns the instructions per cycle.
    #[must_use]
    pub fn instructions_per_cycle(&self) -> f64 {
        self.instructions / self.cycles
    }

    /// Returns the cycles per nanosecond: the frequency in GHz.
    #[must_use]
    pub fn gigahertz(&self) -> f64 {
        if self.sampled_ns > 0.0 { self.cycles / self.sampled_ns } else { 0.0 }
    }
}

/// The computation of a run in relation to that of another one: POP's computation scalability.
///
/// Both do the same work, with other numbers of ranks or threads. A number is 1 if nothing changed,
/// and less if it takes more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// The useful time of all ranks of the base, in relation to that of this run.
    pub computation: f64,
    /// Its factors; none if the processors have not counted in both runs.
    pub factors: Option<ScalabilityFactors>,
}

/// The factors of computation scalability, as far as samples go: their product is the sampled time
/// of the base in relation to that of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalabilityFactors {
    /// The instructions of the base in relation to those of the run.
    pub instructions: f64,
    /// The instructions per cycle of the run in relation to those of the base.
    pub instructions_per_cycle: f64,
    /// The frequency of the run in relation to that of the base.
    pub frequency: f64,
}

impl Scalability {
    /// Compares the useful time of all ranks of a base, in ns, and what was counted of it, with
    /// those of a run; none if one of them has no useful time.
    #[must_use]
    pub fn of(base: (u128, Option<Counters>), run: (u128, Option<Counters>)) -> Option<Self> {
        let counters = base.1.zip(run.1);
        (base.0 > 0 && run.0 > 0).then(|| Self {
            computation: ratio(base.0, run.0),
            factors: counters.map(|(base, run)| ScalabilityFactors::of(&base, &run)),
        })
    }
}

impl ScalabilityFactors {
    fn of(base: &Counters, run: &Counters) -> Self {
        Self {
            instructions: base.instructions / run.instructions,
            instructions_per_cycle: run.instructions_per_cycle() / base.instructions_per_cycle(),
            frequency: run.gigahertz() / base.gigahertz(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factors_are_those_of_the_sampled_time() {
        let base = Counters { cycles: 3e9, instructions: 6e9, sampled_ns: 1e9 };
        let run = Counters { cycles: 5e9, instructions: 7.5e9, sampled_ns: 2e9 };
        assert_eq!((base.instructions_per_cycle(), run.gigahertz()), (2.0, 2.5));
        let found = ScalabilityFactors::of(&base, &run);
        assert_eq!((found.instructions, found.instructions_per_cycle), (0.8, 0.75));
        let product = found.instructions * found.instructions_per_cycle * found.frequency;
        assert!((product - base.sampled_ns / run.sampled_ns).abs() < 1e-12, "{found:?}");
    }
}
