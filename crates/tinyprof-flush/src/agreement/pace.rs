//! The timing of a rank's proposals: when it proposes an interim profile, how far ahead, and when
//! it looks at all.

use tinyprof::collect::monotonic_ns;

use super::{Agreement, Maxima};

/// The longest time that a rank waits at an agreed flush point for others to come.
pub const PATIENCE_NS: u64 = 30_000_000_000;

/// The shortest time between two looks while something is pending. MPI only makes progress when it
/// is called. The time grows the longer the wait lasts, because another rank may be far from its
/// next flush point, and calling MPI may cost processor time.
const LOOK_NS: u64 = 20_000;
const LOOK_MAX_NS: u64 = 50_000_000;
const LOOK_PART: u64 = 16;

/// The divisor of the interval that gives the time by which a proposal is ahead, at most
/// `AHEAD_MAX_NS`.
const AHEAD_PART: u64 = 16;
const AHEAD_MAX_NS: u64 = 500_000_000;
/// The same for a command. Short, as a failed attempt costs less than one too far ahead: ranks that
/// share processors are fast for a moment, and then wait for long.
const AHEAD_OF_COMMAND_NS: u64 = 1_000_000;
/// The time for which flush points are counted before that, at least.
const COUNTED_NS: u64 = 1_000_000;

/// The clock of one rank.
#[derive(Debug)]
pub struct Pace {
    interval_ns: u64,
    /// The flush point and the time at which the last interim profile ended, or the run began.
    flush_point: u64,
    since_ns: u64,
    pending_since_ns: Option<u64>,
    /// The flush point and the time since which flush points are counted for a command.
    counted_since: Option<(u64, u64)>,
    is_patient: bool,
}

impl Pace {
    /// Creates the clock of a rank that has just passed `flush_point`.
    #[must_use]
    pub fn new(interval_ns: u64, flush_point: u64) -> Self {
        Self {
            interval_ns,
            flush_point,
            since_ns: monotonic_ns(),
            pending_since_ns: None,
            counted_since: None,
            is_patient: true,
        }
    }

    /// Begins the next interval.
    pub fn begin(&mut self, flush_point: u64) {
        (self.flush_point, self.since_ns) = (flush_point, monotonic_ns());
    }

    /// Returns whether an interim profile is due.
    #[must_use]
    pub fn is_due(&self, flush_point: u64) -> bool {
        self.is_patient && flush_point > self.flush_point && monotonic_ns() >= self.due_ns()
    }

    /// Returns whether an interim profile has been due for an interval: its time has passed twice
    /// since the last one, or since the run began.
    #[must_use]
    pub fn is_long_due(&self) -> bool {
        monotonic_ns() >= self.due_ns().saturating_add(self.interval_ns)
    }

    fn due_ns(&self) -> u64 {
        self.since_ns.saturating_add(self.interval_ns)
    }

    /// Returns the number of flush points that are likely in a part of the interval: enough time
    /// for all ranks to see that one of them has made a proposal.
    #[must_use]
    pub fn ahead(&self, flush_point: u64) -> u64 {
        self.likely_in((self.interval_ns / AHEAD_PART).min(AHEAD_MAX_NS), flush_point)
    }

    /// Returns the same for what is asked for by a command, which all ranks get at about the same
    /// time: where that is too short, the next attempt is longer. `None` if flush points have to be
    /// counted first, from this one on.
    ///
    /// As fast as ranks have been, they may have become slow: one that now shares its processor
    /// takes a thousand times as long to a flush point, and all would wait for minutes.
    #[must_use]
    pub fn ahead_of_command(&mut self, flush_point: u64) -> Option<u64> {
        let likely = self.likely_in(AHEAD_OF_COMMAND_NS, flush_point);
        if likely == 1 {
            return Some(1);
        }
        let now_ns = monotonic_ns();
        let &mut (from, since_ns) = self.counted_since.get_or_insert((flush_point, now_ns));
        let elapsed_ns = now_ns.saturating_sub(since_ns);
        let counted = flush_point.saturating_sub(from);
        (counted > 0 && elapsed_ns >= COUNTED_NS).then(|| {
            self.counted_since = None;
            likely_in(AHEAD_OF_COMMAND_NS, counted, elapsed_ns)
        })
    }

    fn likely_in(&self, wanted_ns: u64, flush_point: u64) -> u64 {
        let elapsed_ns = monotonic_ns().saturating_sub(self.since_ns);
        likely_in(wanted_ns, flush_point.saturating_sub(self.flush_point), elapsed_ns)
    }

    /// Returns whether the rank still waits for others at a flush point.
    #[must_use]
    pub fn is_patient(&self) -> bool {
        self.is_patient
    }

    /// Ends the rank's patience after a wait in vain: it does not wait again, and makes no
    /// proposals.
    pub fn lose_patience(&mut self) {
        self.is_patient = false;
    }

    /// Returns the time and the flush point from which on an action may be due.
    pub fn look_again<M: Maxima>(&mut self, agreement: &Agreement<M>) -> (u64, u64) {
        let at = agreement.stops_at().unwrap_or(u64::MAX);
        let now_ns = monotonic_ns();
        if !agreement.is_pending() {
            self.pending_since_ns = None;
        }
        let moment_ns = if agreement.is_pending() {
            let pending_ns = now_ns.saturating_sub(*self.pending_since_ns.get_or_insert(now_ns));
            now_ns.saturating_add((pending_ns / LOOK_PART).clamp(LOOK_NS, LOOK_MAX_NS))
        } else if agreement.is_idle() && self.is_patient {
            self.due_ns()
        } else {
            u64::MAX
        };
        (moment_ns, at)
    }
}

/// Returns the number of flush points that are likely in some time, at least one, if there were
/// `counted` of them in another.
fn likely_in(wanted_ns: u64, counted: u64, elapsed_ns: u64) -> u64 {
    let ahead = u128::from(counted) * u128::from(wanted_ns) / u128::from(elapsed_ns.max(1));
    u64::try_from(ahead).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_have_become_slow_agree_on_a_flush_point_that_is_near() {
        let mut pace = Pace::new(3_600_000_000_000, 0);
        let fast = 1_000_000;
        assert!(pace.ahead(fast) > 1_000, "as fast as ranks have been");
        assert_eq!(pace.ahead_of_command(fast), None, "it is counted from here on");
        assert_eq!(pace.ahead_of_command(fast), None, "none has passed");
        let ahead =
            std::iter::repeat_with(|| pace.ahead_of_command(fast + 1)).find_map(|ahead| ahead);
        // One in a millisecond, or longer.
        assert_eq!(ahead, Some(1));
    }
}
