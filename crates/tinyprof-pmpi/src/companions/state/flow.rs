//! The flow from one call to the next, and the computation between them.

use tinyprof::__calls::{
    CallpathId, EdgeInstance, EdgeKey, EdgeKind, Recorder, VISIT_UNITS, Visited,
};

use super::State;
use crate::companions::absences::{Absence, Absences};
use crate::companions::{common_clock, threads};

/// How often the clock of a rank that goes by `CLOCK_MONOTONIC` is set.
const SET_EACH_NS: u64 = 1_000_000;

/// The flow from one call to the next.
#[derive(Clone, Copy, Debug)]
#[must_use = "it is to be counted"]
pub(crate) struct Flow {
    from: CallpathId,
    since_ns: u64,
}

impl Flow {
    /// Counts it for the callpath of the later call.
    #[inline]
    pub(crate) fn add_to(self, visited: Visited) {
        let key = EdgeKey { kind: EdgeKind::Flow, partner: 0, from: self.from };
        visited.add_edge(&key, &EdgeInstance { ns: self.since_ns, ..EdgeInstance::default() });
    }
}

impl State {
    /// Notes a call that begins, the computation before it, and its cost.
    #[inline]
    pub(crate) fn enter(&mut self, recorder: Recorder, visited: Visited, entered_ns: u64) {
        self.enter_from(recorder, visited, entered_ns).add_to(visited);
    }

    /// Notes the last call of the program, which begins now.
    pub(in crate::companions) fn enter_last(
        &mut self,
        recorder: Recorder,
        visited: Visited,
        entered_ns: u64,
    ) {
        self.enter(recorder, visited, entered_ns);
        (self.last, self.last_left_ns) = (visited.id(), entered_ns);
        self.visit_units = recorder.visit_units();
    }

    /// As [`enter`](Self::enter), and returns the flow from the call before, which is to be added
    /// to the callpath of the call.
    #[inline]
    pub(crate) fn enter_from(
        &mut self,
        recorder: Recorder,
        visited: Visited,
        entered_ns: u64,
    ) -> Flow {
        if entered_ns > self.set_again_ns {
            self.set_again_ns = entered_ns + SET_EACH_NS;
            common_clock::set_again(recorder);
        }
        let since_ns = self.compute(recorder, entered_ns);
        self.add_activities(visited.id(), entered_ns);
        if since_ns >= Absences::NS_MIN && !threads::are_multiple() {
            self.keep_absence(entered_ns);
        }
        Flow { from: self.last, since_ns }
    }

    /// Notes that the rank was not in MPI up to now.
    #[inline(never)]
    fn keep_absence(&mut self, entered_ns: u64) {
        let absence = Absence {
            left_ns: self.last_left_ns,
            entered_ns,
            intrusion_ns: self.clock.intrusion_ns(),
            ideal_ns: self.clock.ideal_ns(),
        };
        self.common().absences.keep(absence);
    }

    /// Notes the computation since the last call, and its cost. Returns how long it was,
    /// in ns.
    #[inline]
    pub(super) fn compute(&mut self, recorder: Recorder, now_ns: u64) -> u64 {
        self.hears_all(recorder);
        let units = recorder.visit_units().wrapping_sub(self.visit_units);
        let visits_ps = units.saturating_mul(self.visit_ps) / VISIT_UNITS;
        let cost_ps = visits_ps.saturating_add(self.passing_ps);
        self.clock.events(1, cost_ps);
        self.own_ps = self.own_ps.saturating_add(cost_ps);
        let since_ns = match self.last_left_ns {
            0 => 0,
            left_ns => now_ns.saturating_sub(left_ns),
        };
        self.clock.useful(since_ns.saturating_sub(cost_ps / 1_000));
        since_ns
    }
}
