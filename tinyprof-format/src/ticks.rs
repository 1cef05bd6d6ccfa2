//! What a recorder holds, in ticks of its clock, and how it becomes nanoseconds: the same for a
//! program that writes its profile and for one that was killed.

use crate::model::{CallpathValues, ExecutionSummary, SeriesBucket};

/// The summary of one past execution, or of several neighbouring ones; times in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PastExecution {
    /// The first execution, 0-based.
    pub execution: u32,
    /// How many executions it covers.
    pub executions: u32,
    /// The number of visits.
    pub visits: u64,
    /// The sum over the visits.
    pub sum: u64,
    /// The shortest visit; the greatest number while there is none that has ended.
    pub min: u64,
    /// The longest visit.
    pub max: u64,
    /// The sum of the squares of the visits' times.
    pub squares: u128,
    /// The variance of `sum` where it is an estimate; 0 where every visit was timed.
    pub variance: f64,
}

/// Sums over the visits that were timed where not all were; times in ticks. A visit of weight w
/// stands for w visits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Samples {
    /// The sum of the weights.
    pub weight: u64,
    /// How many of the visits stand for more than themselves.
    pub sampled: u64,
    /// The sums of w (w - 1), w (w - 1) x and w (w - 1) x^2 for weight w and time x.
    pub spread: [f64; 3],
    /// How many visits the timed ones stand for besides themselves.
    pub stood_for: u64,
    /// The same of all executions before this.
    pub stood_for_before: u64,
    /// The time that a timed visit takes itself, which those that it stands for did not take.
    pub cost: f64,
    /// How far that may be off.
    pub cost_error: f64,
}

impl PastExecution {
    /// Returns the estimate of an execution of which `self` has the weighted sums of the visits
    /// that were timed, and the number of all visits.
    ///
    /// Sums are scaled by the ratio of all visits to those that the samples stand for. The variance
    /// is that of a random sample of the visits, which is too large rather than too small where
    /// times change slowly, as there is one visit timed in each block of neighbours. One sample
    /// says nothing of its variance: then it is the square of the sum.
    ///
    /// A timed visit takes time itself, most of which it measures, and it stands for visits that
    /// took none: that is subtracted. By how much it is wrong is wrong for all of them in the same
    /// way, so that the errors of executions add up, not their squares: the variance of each has
    /// what it adds to those before it.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "estimates have no 53 exact bits; none is negative, and what is too large becomes the largest"
    )]
    pub fn estimated(self, samples: &Samples) -> Self {
        if samples.weight == 0 || (samples.sampled == 0 && samples.weight == self.visits) {
            return self;
        }
        let ratio = self.visits as f64 / samples.weight as f64;
        let mean = self.sum as f64 / samples.weight as f64;
        let [ones, sums, squares] = samples.spread;
        let variance = if samples.sampled < 2 {
            (self.sum as f64).powi(2)
        } else {
            let n = samples.sampled as f64;
            (squares - 2.0 * mean * sums + mean * mean * ones).max(0.0) * n / (n - 1.0)
        };
        let timed = samples.weight.saturating_sub(samples.stood_for) as f64;
        let not_timed = (self.visits as f64 - timed).max(0.0);
        let not_timed_before = samples.stood_for_before as f64;
        let of_cost = samples.cost_error.powi(2) * not_timed * (not_timed + 2.0 * not_timed_before);
        let sum = (self.sum as f64 * ratio - not_timed * samples.cost).max(0.0);
        Self {
            sum: sum.round() as u64,
            squares: (self.squares as f64 * ratio) as u128,
            variance: variance * ratio * ratio + of_cost,
            ..self
        }
    }
}

/// One visit of a series, or several neighbouring ones; times in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesElement {
    /// The execution of the first visit, 0-based.
    pub execution: u32,
    /// The number of visits.
    pub visits: u32,
    /// The sum over the visits.
    pub sum: u64,
    /// The shortest visit.
    pub min: u64,
    /// The longest visit.
    pub max: u64,
}

/// A visit that has not ended; times in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenVisit {
    /// When it began.
    pub since: u64,
    /// The execution that it belongs to, 0-based.
    pub execution: u32,
}

/// Turns ticks into nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    ns_per_tick: f64,
}

impl Scale {
    /// Of a clock whose ticks are nanoseconds.
    pub const NANOSECONDS: Self = Self { ns_per_tick: 1.0 };

    /// The rate of a clock that went on by `ticks` in `ns` nanoseconds. The longer that is, the
    /// more exact.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
    pub fn of_interval(ticks: u64, ns: u64) -> Self {
        if ticks == 0 || ns == 0 {
            return Self::NANOSECONDS;
        }
        Self { ns_per_tick: ns as f64 / ticks as f64 }
    }

    /// `ticks` in nanoseconds, to the nearest.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "53 bits of ticks are a month at 3 GHz, to the tick; the product is never negative, and what is \
                  too large becomes the largest"
    )]
    pub fn ns(self, ticks: u64) -> u64 {
        (ticks as f64 * self.ns_per_tick).round() as u64
    }

    /// Square ticks in square nanoseconds, to the nearest whole one, as times are whole: the digits
    /// behind would be of the rate alone, and take a fifth of a profile whose lists are long.
    ///
    /// ```
    /// # use tinyprof_format::ticks::Scale;
    /// let half = Scale::of_interval(2, 1);
    /// assert_eq!((half.ns2(100), half.ns2(101), half.ns2(103)), (25.0, 25.0, 26.0));
    /// ```
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
    pub fn ns2(self, square_ticks: u128) -> f64 {
        (square_ticks as f64 * self.ns_per_tick * self.ns_per_tick).round()
    }

    /// The values of a callpath. A visit that is open counts with the time that it has lasted until
    /// `now`.
    #[must_use]
    pub fn values(
        self,
        executions: &[PastExecution],
        series: &[SeriesElement],
        open: Option<OpenVisit>,
        now: u64,
    ) -> CallpathValues {
        let mut executions: Vec<_> = executions.iter().map(|past| self.summary(past)).collect();
        if let Some(visit) = open {
            let so_far = self.ns(now.saturating_sub(visit.since));
            let open = ExecutionSummary::of_one_visit(visit.execution, so_far);
            match executions.last_mut().filter(|last| last.execution == open.execution) {
                Some(last) => last.absorb(&open),
                // There is none after the greatest number: only a damaged segment says so.
                None if open.execution == u32::MAX => {}
                None => executions.push(open),
            }
        }
        let series = series.iter().map(|element| SeriesBucket {
            execution: element.execution,
            visits: element.visits,
            sum_ns: self.ns(element.sum),
            min_ns: self.ns(element.min),
            max_ns: self.ns(element.max),
        });
        CallpathValues { executions, series: series.collect(), ..CallpathValues::default() }
    }

    fn summary(self, past: &PastExecution) -> ExecutionSummary {
        let sum_ns = self.ns(past.sum);
        if past.visits == 1 && past.executions == 1 && past.variance == 0.0 {
            return ExecutionSummary::of_one_visit(past.execution, sum_ns);
        }
        ExecutionSummary {
            execution: past.execution,
            executions: past.executions,
            visits: past.visits,
            sum_ns,
            // Visits inside of their own region have no time of their own; before the outermost
            // ends there is no shortest.
            min_ns: self.ns(past.min.min(past.max)),
            max_ns: self.ns(past.max),
            sum_squares_ns2: self.ns2(past.squares),
            sum_variance_ns2: past.variance * self.ns_per_tick * self.ns_per_tick,
        }
    }
}
