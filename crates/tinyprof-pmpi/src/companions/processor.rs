//! How long the thread had no processor before a call, although it could have run.
//!
//! Whoever waits for the rank waits for that, and not for what it does. The system counts it for
//! each thread; to ask takes 5 us, so it is done after long calls and long gaps alone.

use tinyprof::__calls::no_processor_ns;

/// The shortest call or gap after which the system is asked, in ns.
const LONG_NS: u64 = 2_000_000;

/// What the system has said last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Processor {
    /// When it was asked, and what it said, in ns.
    asked: Option<(u64, u64)>,
}

impl Processor {
    /// The cost of asking, about, in ns.
    pub(super) const ASK_NS: u64 = 5_000;

    /// Asks for the first time: what was lost before does not count.
    #[cold]
    pub(super) fn begin(now_ns: u64) -> Self {
        let mut begun = Self::default();
        begun.after(now_ns, now_ns);
        begun
    }

    /// Returns whether the system is to be asked after a call or gap of this length.
    #[inline]
    pub(super) const fn is_long(ns: u64) -> bool {
        ns >= LONG_NS
    }

    /// Asks after a call or gap, and returns how long the thread had no processor in it, at least,
    /// in ns. Both times are on one clock.
    #[cold]
    #[inline(never)]
    pub(super) fn after(&mut self, begun_ns: u64, now_ns: u64) -> u64 {
        let before = self.asked;
        self.asked = no_processor_ns().map(|lost_ns| (now_ns, lost_ns));
        lost_in(before, self.asked, begun_ns)
    }
}

/// Returns how long the thread had no processor from `begun_ns` on, at least: all that was lost
/// since the system was asked before, but for the time until then.
fn lost_in(before: Option<(u64, u64)>, now: Option<(u64, u64)>, begun_ns: u64) -> u64 {
    let (Some((asked_ns, lost_then_ns)), Some((now_ns, lost_ns))) = (before, now) else { return 0 };
    let earlier_ns = begun_ns.saturating_sub(asked_ns);
    let lost_ns = lost_ns.saturating_sub(lost_then_ns).saturating_sub(earlier_ns);
    lost_ns.min(now_ns.saturating_sub(begun_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_lost_before_the_gap_does_not_count() {
        let at = |now_ns, lost_ns| Some((now_ns, lost_ns));
        assert_eq!(lost_in(at(100, 7), at(200, 57), 100), 50);
        assert_eq!(lost_in(at(100, 7), at(200, 57), 130), 20, "30 may have been lost before");
        assert_eq!(lost_in(at(100, 7), at(200, 57), 190), 0);
        assert_eq!(lost_in(at(100, 7), at(200, 507), 150), 50, "no more than the gap");
        assert_eq!(lost_in(None, at(200, 57), 100), 0, "nothing is known");
        assert_eq!(lost_in(at(100, 7), None, 100), 0);
    }
}
