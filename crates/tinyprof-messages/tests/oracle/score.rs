//! How far rules are from the truth.

use crate::replay::Verdict;
use crate::trace::Run;
use crate::waiting;

/// Errors of rules, over the ranks of many programs. What it returns is in percent of the run time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Score {
    ranks: u64,
    time: f64,
    worst: f64,
    waiting: f64,
    compensated: f64,
    covered: u64,
    width: f64,
}

impl Score {
    /// Adds what rules say of a run whose truth is known.
    pub(crate) fn add(&mut self, run: &Run, truth: &Run, verdicts: &[Verdict]) {
        let waited = waiting::of_ranks(run);
        let waited_truly = waiting::of_ranks(truth);
        for (rank, verdict) in verdicts.iter().enumerate() {
            let ended = truth.ended_ns[rank] as f64;
            let virtually = run.ended_ns[rank] as f64 - verdict.intrusion_ns as f64;
            let error = (virtually - ended).abs();
            let uncertain = verdict.uncertainty_ns as f64;
            self.ranks += 1;
            self.time += error / ended;
            self.worst = self.worst.max(error / ended);
            let waiting = waited[rank] as f64 - verdict.waits.waiting_ns as f64;
            self.waiting += waiting.abs() / run.ended_ns[rank] as f64;
            let compensated = waited_truly[rank] as f64 - verdict.waits.compensated_ns as f64;
            self.compensated += compensated.abs() / ended;
            self.covered += u64::from(error <= uncertain + 1.0);
            self.width += uncertain / ended;
        }
    }

    fn mean(&self, sum: f64) -> f64 {
        100.0 * sum / self.ranks as f64
    }

    /// Returns the mean error of the run time.
    pub(crate) fn time(&self) -> f64 {
        self.mean(self.time)
    }

    /// Returns the largest error of the run time.
    pub(crate) fn worst(&self) -> f64 {
        100.0 * self.worst
    }

    /// Returns the mean error of the waiting in the run.
    pub(crate) fn waiting(&self) -> f64 {
        self.mean(self.waiting)
    }

    /// Returns the mean error of the waiting without measurement.
    pub(crate) fn compensated(&self) -> f64 {
        self.mean(self.compensated)
    }

    /// Returns how many ranks there are, in percent, whose truth is within the uncertainty.
    pub(crate) fn covered(&self) -> f64 {
        self.mean(self.covered as f64)
    }

    /// Returns the mean uncertainty.
    pub(crate) fn width(&self) -> f64 {
        self.mean(self.width)
    }
}
