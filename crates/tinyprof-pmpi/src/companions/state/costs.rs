//! What our work for calls costs, and the facts of the clock.

use std::sync::atomic::AtomicU64;

use tinyprof::__calls::{ClockFacts, Recorder, Visited, undisturbed, visit_ns_now};
use tinyprof_messages::order::Doing;

use super::State;
use crate::companions::common_clock::now_ns;
use crate::companions::processor::Processor;
use crate::companions::{distance, threads};
use crate::function::Cost;

/// The longest time that our work for a call takes: a companion that is waited for.
const WORK_NS_MAX: u64 = 30_000;
/// The calls after which the facts of the clock are stored, for readers of a running program.
const STORED_EACH: u64 = 64;

/// The shortest time between two measurements of what a visit costs, which take about 13 us each.
pub(super) const VISIT_EACH_NS: u64 = 50_000_000;

/// Returns a time in ps.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some 20,000")]
pub(super) fn ps(ns: f64) -> u64 {
    (ns * 1_000.0) as u64
}

/// What a visit and a call cost, see [`State`].
pub(super) static COSTS_PS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

impl State {
    /// Returns whether the cost of our work for a call is to be measured.
    #[inline]
    pub(crate) fn measures(&mut self, recorder: Recorder, cost: Cost) -> bool {
        let is_measured = self.overhead.measures(cost);
        // The end of the last call, which spares reading the clock.
        if is_measured && self.last_left_ns > self.visit_again_ns {
            self.measure_visit(recorder);
        }
        is_measured
    }

    /// Measures again what a visit costs, between two calls.
    #[cold]
    #[inline(never)]
    fn measure_visit(&mut self, recorder: Recorder) {
        let begun_ns = now_ns(recorder);
        if let Some(visit_ps) = undisturbed(|| visit_ns_now().map(ps)) {
            self.visit_ps = visit_ps;
        }
        let ended_ns = now_ns(recorder);
        let took_ns = ended_ns.saturating_sub(begun_ns).min(WORK_NS_MAX);
        self.visit_again_ns = ended_ns + VISIT_EACH_NS;
        // No part of the computation since then.
        self.last_left_ns = self.last_left_ns.saturating_add(took_ns);
        self.delay(took_ns);
    }

    /// Notes the work before a call. Returns its cost in ns.
    #[inline]
    pub(crate) fn worked(&mut self, cost: Cost, measured_ns: Option<u64>) -> u64 {
        let ns = self.overhead.before(cost, measured_ns);
        self.cost(ns);
        if !matches!(cost, Cost::Plain | Cost::Receive | Cost::StartReceive) {
            self.entered = self.clock;
        }
        ns
    }

    /// Notes a call that has ended, and the work since `since_ns`. The call took `in_ns`
    /// in MPI.
    #[inline(always)]
    pub(crate) fn leave(
        &mut self,
        recorder: Recorder,
        visited: Visited,
        (since_ns, in_ns): (u64, u64),
        (cost, is_measured): (Cost, bool),
    ) {
        self.keep_sent();
        let measured_ns = is_measured.then(|| now_ns(recorder).saturating_sub(since_ns));
        let ns = self.overhead.after(cost, measured_ns);
        self.has_left(recorder, visited, (since_ns, in_ns), ns);
    }

    /// Notes a call that has ended, as [`leave`](Self::leave), and whose work since then takes
    /// `ns`.
    #[inline(always)]
    pub(in crate::companions) fn has_left(
        &mut self,
        recorder: Recorder,
        visited: Visited,
        (since_ns, in_ns): (u64, u64),
        ns: u64,
    ) {
        self.has_waited = false;
        if std::mem::take(&mut self.is_unknown) {
            self.not_followed(in_ns);
        }
        self.cost(ns);
        self.last_left_ns = since_ns.saturating_add(ns);
        if Processor::is_long(in_ns) && self.causes.is_some() {
            let entered_ns = since_ns.saturating_sub(in_ns);
            self.lost_in_call_ns = self.processor.after(entered_ns, self.last_left_ns);
            self.cost(Processor::ASK_NS);
        }
        // The visit of the call itself is part of what was measured.
        self.visit_units = recorder.visit_units();
        self.last = visited.id();
        self.calls = self.calls.wrapping_add(1);
        // Only the thread that ends MPI is there at the end.
        if threads::are_multiple() || self.calls.is_multiple_of(STORED_EACH) {
            self.store(recorder);
        }
        if self.order.is_some() {
            self.posted_late = None;
            self.say(self.last_left_ns, Doing::Running);
        }
    }

    /// Stores the facts of the clock, for readers of a running program.
    #[inline(never)]
    fn store(&self, recorder: Recorder) {
        recorder.store_clock(&self.facts());
    }

    /// Adds time that the profiler took. Longer values mean that the rank was descheduled.
    #[inline]
    pub(crate) fn cost(&mut self, ns: u64) {
        self.delay(ns.min(WORK_NS_MAX));
    }

    /// Adds time by which we have surely delayed the rank ourselves.
    #[inline]
    pub(crate) fn delay(&mut self, ns: u64) {
        self.clock.delay(ns);
        self.own_ns = self.own_ns.saturating_add(ns);
    }

    /// Returns by how much we have delayed the rank ourselves up to now.
    pub(in crate::companions) fn own_intrusion_ns(&self) -> u64 {
        self.own_ns.saturating_add(self.own_ps / 1_000)
    }

    pub(super) fn facts(&self) -> ClockFacts {
        let own_intrusion_ns = self.own_intrusion_ns();
        // The clocks of hosts decide which of two came later.
        let offset_uncertainty_ns = distance::uncertainty_ns();
        let uncertainty_ns = self.clock.uncertainty_ns().saturating_add(offset_uncertainty_ns);
        ClockFacts {
            own_intrusion_ns,
            intrusion_ns: self.clock.intrusion_ns(),
            uncertainty_ns,
            // The cost of a visit depends on the code around it.
            propagated_uncertainty_ns: uncertainty_ns.saturating_sub(own_intrusion_ns / 3),
            ideal_ns: self.clock.ideal_ns(),
            contradictions: self.clock.contradictions(),
            // So that readers know that it was kept.
            unfollowed_ns: self.facts.unfollowed_ns + self.blocked.lost_ns + self.unheard_ns + 1,
            offset_uncertainty_ns,
            ..self.facts
        }
    }
}
