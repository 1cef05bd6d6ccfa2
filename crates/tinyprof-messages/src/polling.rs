//! Loops of tests: those that do nothing but wait for a message are one call.

use crate::clock::Clock;
use crate::time::Call;

/// The tests of a rank.
///
/// A loop of `MPI_Test` that ends when the message is there has waited for it, like `MPI_Wait`. A
/// program that looks for messages while it works has not: it is known by waiting for one in the
/// end, after tests that have failed. From then on its tests are taken for [looks](Clock::find).
///
/// ```
/// use tinyprof_messages::clock::Clock;
/// use tinyprof_messages::polling::Polling;
/// use tinyprof_messages::time::Call;
///
/// let (mut clock, mut polling) = (Clock::default(), Polling::default());
/// polling.failed(1_000, &clock);
/// clock.delay(300);
/// let call = polling.found(Call { entered_ns: 1_800, left_ns: 2_000 }, &mut clock);
/// assert_eq!(call, Some(Call { entered_ns: 1_000, left_ns: 2_000 }), "all of the loop");
/// assert_eq!(clock.intrusion_ns(), 0, "its cost is part of the waiting");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Polling {
    /// When the first test that has failed was entered, and the clock at that time.
    began: Option<(u64, Clock)>,
    has_waited: bool,
}

impl Polling {
    /// Notes a test that has found nothing.
    #[inline]
    pub fn failed(&mut self, entered_ns: u64, clock: &Clock) {
        if self.began.is_none() && !self.has_waited {
            self.began = Some((entered_ns, *clock));
        }
    }

    /// Notes that a call waited for messages.
    #[inline]
    pub fn waited(&mut self) {
        self.has_waited |= self.began.is_some();
        self.began = None;
    }

    /// Notes a call that neither tests nor waits.
    #[inline]
    pub const fn other(&mut self) {
        self.began = None;
    }

    /// Returns the call that a test was part of, which has found a message: it has waited for it.
    /// The clock is that of its begin, then. `None` if nobody knows whether the rank has waited.
    #[inline]
    pub fn found(&mut self, test: Call, clock: &mut Clock) -> Option<Call> {
        if self.has_waited {
            return None;
        }
        let Some((entered_ns, before)) = self.began.take() else { return Some(test) };
        clock.rewind(&before);
        Some(Call { entered_ns, ..test })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: Call = Call { entered_ns: 900, left_ns: 1_000 };

    #[test]
    fn a_program_that_waits_in_the_end_looks_while_it_works() {
        let (mut clock, mut polling) = (Clock::default(), Polling::default());
        polling.failed(100, &clock);
        polling.waited();
        polling.failed(500, &clock);
        clock.delay(70);
        assert_eq!(polling.found(TEST, &mut clock), None);
        assert_eq!(clock.intrusion_ns(), 70);
    }

    #[test]
    fn another_call_ends_a_loop() {
        let (mut clock, mut polling) = (Clock::default(), Polling::default());
        polling.failed(100, &clock);
        polling.other();
        polling.waited();
        clock.delay(30);
        polling.failed(500, &clock);
        clock.delay(70);
        let call = Call { entered_ns: 500, ..TEST };
        assert_eq!(polling.found(TEST, &mut clock), Some(call));
        assert_eq!((clock.intrusion_ns(), clock.uncertainty_ns()), (30, 80));
        assert_eq!(polling.found(TEST, &mut clock), Some(TEST), "the first of its loop");
    }
}
