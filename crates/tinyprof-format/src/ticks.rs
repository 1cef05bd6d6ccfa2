//! A recorder's data in clock ticks, and its conversion to nanoseconds. Programs that write their
//! profile and the recovery of killed programs share this code.

use tinyprof_segment::clock::Moment;

use crate::model::{CallpathValues, ExecutionSummary, SeriesBucket, ThreadEvents};

/// A summary of one past execution, or of several adjacent ones; times in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PastExecution {
    /// The first execution, 0-based.
    pub execution: u32,
    /// The number of executions covered.
    pub executions: u32,
    /// The number of visits.
    pub visits: u64,
    /// The sum over the visits.
    pub sum: u64,
    /// The shortest visit; `u64::MAX` while no visit has ended.
    pub min: u64,
    /// The longest visit.
    pub max: u64,
    /// The sum of the squares of the visits' times.
    pub squares: u128,
    /// The variance of `sum` if it is an estimate; 0 if every visit was timed.
    pub variance: f64,
}

/// Sums over the timed visits of an execution in which not all visits were timed; times in ticks. A
/// visit of weight w represents w visits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Samples {
    /// The sum of the weights.
    pub weight: u64,
    /// The number of timed visits that represent more than themselves.
    pub sampled: u64,
    /// The sums of w (w - 1), w (w - 1) x and w (w - 1) x^2 for weight w and time x.
    pub spread: [f64; 3],
    /// The number of visits that the timed ones represent in addition to themselves.
    pub stood_for: u64,
    /// The value of `stood_for`, summed over all earlier executions.
    pub stood_for_before: u64,
    /// The time that timing adds to a timed visit and that the visits it represents did not spend.
    pub cost: f64,
    /// The uncertainty of `cost`.
    pub cost_error: f64,
}

impl PastExecution {
    /// Returns the estimate of an execution. `self` has the weighted sums of the timed visits, and
    /// the number of all visits.
    ///
    /// Sums are scaled by the ratio of all visits to those that the samples represent. The variance
    /// is that of a random sample of the visits. It is too large rather than too small if times
    /// change slowly, since one visit is timed in each block of neighbours. The variance cannot be
    /// estimated from a single sample: then it is the square of the sum.
    ///
    /// Timing a visit takes time, most of which is measured with the visit. The visits that it
    /// represents did not spend this time, so it is subtracted. The error of this correction is the
    /// same for all executions. So the errors of executions add up, not their squares: the variance
    /// of each execution includes what it adds to the variance of those before it.
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
    /// The time of its entry.
    pub since: u64,
    /// The execution that the visit belongs to, 0-based.
    pub execution: u32,
}

/// A conversion of ticks to nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    ns_per_tick: f64,
}

impl Scale {
    /// The scale of a clock whose ticks are nanoseconds.
    pub const NANOSECONDS: Self = Self { ns_per_tick: 1.0 };

    /// Returns the scale of a clock that advanced by `ticks` in `ns` nanoseconds. A longer interval
    /// gives a more exact scale.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
    pub fn of_interval(ticks: u64, ns: u64) -> Self {
        if ticks == 0 || ns == 0 {
            return Self::NANOSECONDS;
        }
        Self { ns_per_tick: ns as f64 / ticks as f64 }
    }

    /// Returns the scale of a clock between two moments.
    #[must_use]
    pub fn between(first: Moment, last: Moment) -> Self {
        Self::of_interval(
            last.ticks.saturating_sub(first.ticks),
            last.monotonic_ns.saturating_sub(first.monotonic_ns),
        )
    }

    /// Returns the nanoseconds of a tick.
    #[must_use]
    pub const fn ns_per_tick(self) -> f64 {
        self.ns_per_tick
    }

    /// Returns `ticks` in nanoseconds, rounded to the nearest.
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

    /// Returns square ticks in square nanoseconds, rounded to the nearest integer, as times are
    /// integers. Further digits would only come from the clock's rate, and would take a fifth
    /// of a profile whose lists are long.
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

    /// Returns the events of a thread, whose times are ticks so far, in ns. Visits stay nested, and
    /// messages within them.
    #[must_use]
    pub fn events(self, mut thread: ThreadEvents) -> ThreadEvents {
        for visit in &mut thread.visits {
            let end_ns = self.ns(visit.end_ns());
            visit.begin_ns = self.ns(visit.begin_ns);
            visit.duration_ns = end_ns - visit.begin_ns;
        }
        for message in &mut thread.messages {
            message.at_ns = self.ns(message.at_ns);
        }
        for cell in &mut thread.cells {
            cell.lost_first_ns = self.ns(cell.lost_first_ns);
            cell.lost_last_ns = self.ns(cell.lost_last_ns);
        }
        thread.stopped_ns = thread.stopped_ns.map(|ticks| self.ns(ticks));
        thread
    }

    /// Returns the values of a callpath. An open visit counts with its time until `now`.
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
                // No execution can follow number `u32::MAX`; only a damaged segment claims one.
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
            // A visit nested in a visit of its own region adds no time of its own. Until the
            // outermost visit ends there is no minimum.
            min_ns: self.ns(past.min.min(past.max)),
            max_ns: self.ns(past.max),
            sum_squares_ns2: self.ns2(past.squares),
            sum_variance_ns2: past.variance * self.ns_per_tick * self.ns_per_tick,
        }
    }
}
