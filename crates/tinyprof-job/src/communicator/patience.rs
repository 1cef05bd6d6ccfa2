//! The wait of a rank for others.

use std::time::Duration;

use tinyprof::collect::monotonic_ns;

/// The number of pauses in which a waiting rank only yields its processor; after them it sleeps a
/// little each time.
const YIELDS: u32 = 2000;

/// The longest of these sleeps.
const SLEEP_MAX: Duration = Duration::from_millis(1);

/// The longest time between two looks that counts as waiting. A process that was stopped itself, or
/// a machine that was asleep, has not waited for anybody.
const GAP_MAX_NS: u64 = 100_000_000;

/// The time that a rank has waited, and its way of waiting.
pub(super) struct Patience {
    last_ns: u64,
    waited_ns: u64,
    looks: u32,
    sleep: Duration,
}

impl Patience {
    pub(super) fn begin() -> Self {
        Self { last_ns: monotonic_ns(), waited_ns: 0, looks: 0, sleep: Duration::from_micros(10) }
    }

    pub(super) fn so_far(&mut self) -> Duration {
        let now = monotonic_ns();
        let gap = now.saturating_sub(std::mem::replace(&mut self.last_ns, now));
        self.waited_ns += gap.min(GAP_MAX_NS);
        Duration::from_nanos(self.waited_ns)
    }

    /// Yields the processor to others: there may be more ranks than processors.
    pub(super) fn pause(&mut self) {
        self.looks = self.looks.saturating_add(1);
        if self.looks <= YIELDS {
            std::thread::yield_now();
        } else {
            std::thread::sleep(self.sleep);
            self.sleep = (self.sleep * 2).min(SLEEP_MAX);
        }
    }
}
