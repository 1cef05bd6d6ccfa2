//! How long each rank is busy, and how long it may wait, where nobody says who waits for whom.

use tinyprof_messages::delay::Visits;

use super::polling::NAPS_MIN;
use crate::facts::activities::Doing;
use crate::facts::calls::Call;
use crate::facts::run::Run;

/// The part of a rank's time outside of MPI that it sleeps, from which on that may be between
/// tests.
const ASLEEP_PART: f64 = 0.5;

/// How each rank spends its time.
pub(super) struct OfRanks {
    /// The time in neither calls in which it may wait nor tests, in ns.
    pub(super) busy_ns: Vec<f64>,
    /// The time in calls in which it may wait, or looks whether something has come, in ns.
    pub(super) may_wait_ns: Vec<f64>,
    /// How often it tests.
    tests: Vec<u64>,
}

impl OfRanks {
    pub(super) fn of(run: &Run) -> Self {
        let zeros = || vec![0.0; run.ranks];
        let mut of_ranks =
            Self { busy_ns: zeros(), may_wait_ns: zeros(), tests: vec![0; run.ranks] };
        let calls = if run.has_messages() { &run.in_calls } else { &run.may_wait };
        calls.iter().for_each(|(_, visits)| add_ns(&mut of_ranks.may_wait_ns, visits));
        for (doing, visits) in run.activities.iter() {
            if is_test(run, doing) {
                add_ns(&mut of_ranks.may_wait_ns, visits);
                for (count, visits) in of_ranks.tests.iter_mut().zip(visits) {
                    *count = count.saturating_add(visits.count);
                }
            } else {
                add_ns(&mut of_ranks.busy_ns, visits);
            }
        }
        of_ranks
    }

    /// Returns for how long a rank is certainly busy, in ns: without what it may sleep between
    /// tests, which is no work, if it tests often, and sleeps for most of its own time. Level
    /// `calls` does not know what is between.
    pub(super) fn certainly_busy_ns(&self, run: &Run, rank: usize) -> f64 {
        let busy_ns = self.busy_ns[rank];
        let asleep_ns = crate::ns(run.asleep_ns.get(rank).copied().unwrap_or(0).into());
        let may_nap = !run.has_messages() && self.tests[rank] >= NAPS_MIN;
        let naps = may_nap && asleep_ns >= ASLEEP_PART * busy_ns;
        if naps { (busy_ns - asleep_ns).max(0.0) } else { busy_ns }
    }
}

/// Returns the time of each rank in all that it does besides waiting, in ns.
pub(super) fn active_ns(run: &Run) -> Vec<f64> {
    let mut active_ns = vec![0.0; run.ranks];
    run.activities.iter().for_each(|(_, visits)| add_ns(&mut active_ns, visits));
    active_ns
}

/// Adds the time of visits to a sum for each rank, in ns.
fn add_ns(sums_ns: &mut [f64], visits: &[Visits]) {
    for (sum_ns, visits) in sums_ns.iter_mut().zip(visits) {
        *sum_ns += crate::ns(visits.ns.into());
    }
}

/// Returns whether an activity is a test: who asks for what has not come may do so for long.
pub(super) fn is_test(run: &Run, doing: Doing) -> bool {
    matches!(doing, Doing::In(at) if run.calls.get(&at).is_some_and(Call::is_test))
}
