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
/// The same for what a command asks for.
const AHEAD_OF_COMMAND_NS: u64 = 20_000_000;

/// The clock of one rank.
#[derive(Debug)]
pub struct Pace {
    interval_ns: u64,
    /// The flush point and the time at which the last interim profile ended, or the run began.
    flush_point: u64,
    since_ns: u64,
    pending_since_ns: Option<u64>,
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
    /// time: where that is too short, the next attempt is longer.
    #[must_use]
    pub fn ahead_of_command(&self, flush_point: u64) -> u64 {
        self.likely_in(AHEAD_OF_COMMAND_NS, flush_point)
    }

    fn likely_in(&self, wanted_ns: u64, flush_point: u64) -> u64 {
        let elapsed_ns = monotonic_ns().saturating_sub(self.since_ns).max(1);
        let flush_points = u128::from(flush_point.saturating_sub(self.flush_point));
        let ahead = flush_points * u128::from(wanted_ns) / u128::from(elapsed_ns);
        u64::try_from(ahead).unwrap_or(u64::MAX).max(1)
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
