//! What a thread of the rank knows of messages: its clock, and what its calls wait for.

mod of_thread;

use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof::__calls::{
    CallpathId, ClockFacts, EdgeInstance, EdgeKey, EdgeKind, Recorder, VISIT_UNITS, Visited,
};
use tinyprof_messages::clock::{Clock, Member};
use tinyprof_messages::companion::Companion;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::order::Doing;
use tinyprof_messages::time::{Offset, Post};
use tinyprof_messages::waiting::WrongOrder;
use tinyprof_messages::ways::Ways;

use super::blocked::{BLOCKED_NS_MIN, Blocked};
use super::causes::Causes;
use super::common::Common;
use super::common_clock::{self, Span, now_ns};
use super::delivered::Delivered;
use super::distance;
use super::held::Held;
use super::operation::Meet;
use super::order::Order;
use super::overhead::Overhead;
use super::tests::Tests;
use super::threads::{self, Caller};
use crate::communicators::{ELSEWHERE, Twin};
use crate::function::Cost;

pub(crate) use of_thread::{Plain, end, is_in_call, is_on, keeps_order, plain, store_facts, with};
pub(super) use of_thread::{begin, forget_communicator};

/// The receives that a call can complete without a new allocation.
const COMPLETED: usize = 4096;
/// The longest time that our work for a call takes: a companion that is waited for.
const WORK_NS_MAX: u64 = 30_000;
/// The calls after which the facts of the clock are stored, for readers of a running program.
const STORED_EACH: u64 = 64;

/// How often the clock of a rank that goes by `CLOCK_MONOTONIC` is set.
const SET_EACH_NS: u64 = 1_000_000;

/// The state: one for all threads, which use it one at a time, or one for each where they may call
/// MPI at the same time.
pub(crate) struct State {
    pub(super) clock: Clock,
    /// What all states have in common: used by one thread at a time, see [`with`].
    common: NonNull<Common>,
    caller: &'static Caller,
    /// The calls that may have waited for their receivers.
    pub(super) blocked: Blocked,
    /// The time in calls of all threads whose answers had not come when the program ended, in ns.
    unheard_ns: u64,
    /// The senders that the call under way has waited for.
    pub(super) senders: Option<Meeting>,
    /// The clock when MPI was entered for it.
    pub(super) entered: Clock,
    /// The ways along which collective operations pass data on.
    pub(super) ways: Ways,
    /// What the members of the operation have told that the call under way has completed.
    pub(super) members: Vec<Member>,
    pub(super) tests: Tests,
    pub(super) wrong_order: WrongOrder,
    /// Recent deliveries: from which callpath to which.
    pub(super) delivered: Delivered,
    pub(super) facts: ClockFacts,
    /// The companions of the receives that the call under way has completed.
    pub(super) found: Vec<Option<Companion>>,
    /// The receives that the call under way has completed.
    pub(crate) completed: Vec<Completed>,
    /// The collective operations that the call under way has completed.
    pub(crate) operations: Vec<(Meet, CallpathId)>,
    /// The receive of a matched message that the call under way gets.
    pub(crate) matched: Option<Held>,
    /// What it takes to keep the order of messages, where it is kept.
    pub(super) order: Option<Order>,
    /// For the receive under way, the moment that its sender is told if it was blocked, as the
    /// message was held back.
    pub(super) posted_late: Option<Post>,
    /// The shortest exchange after a collective operation, in ns.
    pub(super) exchange_ns: u64,
    /// When the clock is to be set again.
    set_again_ns: u64,
    /// What has made the rank wait, where this state is the one that knows it.
    pub(super) causes: Option<Box<Causes>>,
    overhead: Overhead,
    visit_ps: u64,
    /// What a call costs on its way to the wrappers and back.
    passing_ps: u64,
    /// Our overhead: of regions, and of calls of MPI on their way to the wrappers.
    own_ps: u64,
    /// The rest of it.
    own_ns: u64,
    visit_units: u64,
    last: CallpathId,
    last_left_ns: u64,
    /// When the call under way has returned.
    pub(crate) returned_ns: u64,
    /// True if somebody is known for whom the call under way may have waited.
    pub(crate) has_waited: bool,
    /// True if the call under way takes what is complete first, so that it has no order.
    pub(crate) takes_any: bool,
    /// True if nobody knows for whom the call under way has waited.
    pub(crate) is_unknown: bool,
    pub(super) calls: u64,
}

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

/// A receive that a call has completed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completed {
    pub(crate) held: Held,
    /// The twin of its communicator.
    pub(crate) twin: Option<Twin>,
    /// The rank in the world that the message came from, relative to this one.
    pub(crate) partner: i32,
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    pub(crate) bytes: u64,
    pub(crate) is_cancelled: bool,
    /// The callpath of the call that has made the request, if it was another one.
    pub(crate) posted_by: CallpathId,
}

impl Completed {
    /// A receive that nobody follows.
    pub(crate) const NOTHING: Self = Self {
        held: Held::NOT_FOLLOWED,
        twin: None,
        partner: ELSEWHERE,
        source: 0,
        tag: 0,
        bytes: 0,
        is_cancelled: false,
        posted_by: EdgeKey::UNKNOWN,
    };
}

/// What a visit and a call cost, see [`State`].
static COSTS_PS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

impl State {
    fn new(common: NonNull<Common>, recorder: Option<Recorder>, order: Option<Order>) -> Self {
        let [visit_ps, passing_ps] = COSTS_PS.each_ref().map(|cost| cost.load(Relaxed));
        Self {
            clock: Clock::default(),
            common,
            caller: Caller::new(),
            blocked: Blocked::default(),
            unheard_ns: 0,
            senders: None,
            entered: Clock::default(),
            ways: Ways::default(),
            members: Vec::new(),
            tests: Tests::default(),
            wrong_order: WrongOrder::default(),
            delivered: Delivered::default(),
            facts: ClockFacts::default(),
            set_again_ns: if common_clock::is_monotonic() { 0 } else { u64::MAX },
            found: Vec::with_capacity(COMPLETED),
            completed: Vec::with_capacity(COMPLETED),
            operations: Vec::with_capacity(COMPLETED),
            matched: None,
            order,
            posted_late: None,
            exchange_ns: u64::MAX,
            causes: None,
            overhead: Overhead::default(),
            visit_ps,
            passing_ps,
            own_ps: 0,
            own_ns: 0,
            visit_units: recorder.map_or(0, Recorder::visit_units),
            last: EdgeKey::UNKNOWN,
            last_left_ns: recorder.map_or(0, now_ns),
            returned_ns: 0,
            has_waited: false,
            takes_any: false,
            is_unknown: false,
            calls: 0,
        }
    }

    /// Returns what all threads have in common.
    #[inline]
    pub(super) fn common(&mut self) -> &mut Common {
        // SAFETY: made by `begin`, and never freed. The caller has the state by `with`, so no other
        // thread uses it.
        unsafe { self.common.as_mut() }
    }

    /// Returns what all threads have in common, and which of them this is.
    pub(super) fn common_and_caller(&mut self) -> (&mut Common, &'static Caller) {
        let caller = self.caller;
        (self.common(), caller)
    }

    /// Notes that the thread begins a call, where others may be in one.
    pub(crate) fn begin_call(&mut self) {
        let (common, caller) = self.common_and_caller();
        common.sharing.begin_call(caller);
    }

    /// Returns whether the thread has heard of all that its calls have waited for.
    pub(crate) fn hears_all(&mut self, recorder: Recorder) -> bool {
        if !self.blocked.is_empty() {
            // SAFETY: as in `common`, of which the other fields are no part.
            let carrier = unsafe { &mut self.common.as_mut().carrier };
            self.blocked.hear(recorder, carrier, &mut self.clock);
            self.look_for_receivers();
        }
        self.blocked.is_empty()
    }

    /// Looks for the causes of waiting for receivers that was heard of.
    fn look_for_receivers(&mut self) {
        for number in 0..self.blocked.waited.len() {
            let waited = self.blocked.waited[number];
            self.has_waited_for(&waited);
        }
        self.blocked.waited.clear();
    }

    /// Counts a received message whose companion nobody can tell.
    pub(crate) fn count_unclear(&mut self) {
        self.facts.companions_unclear += 1;
    }

    /// Returns the order of messages, if it is kept, and what all threads have in common.
    pub(super) fn order_and_common(&mut self) -> (Option<&Order>, &mut Common) {
        // SAFETY: as in `common`, of which the other fields are no part.
        (self.order.as_ref(), unsafe { self.common.as_mut() })
    }

    /// Begins anew, after calls that were made to measure them: each has cost `call_ps`.
    fn restart(&mut self, recorder: Recorder, call_ps: u64) {
        let seen_ps = self.overhead.eighths_ns(Cost::Plain) * 1_000 / 8;
        self.passing_ps = call_ps.saturating_sub(seen_ps);
        COSTS_PS[1].store(self.passing_ps, Relaxed);
        self.clock = Clock::default();
        self.facts = ClockFacts::default();
        self.overhead = Overhead::default();
        (self.own_ps, self.own_ns, self.calls) = (0, 0, 0);
        self.begin_flow(recorder);
    }

    /// Goes on for another thread.
    fn take_over(&mut self, recorder: Recorder) {
        self.begin_flow(recorder);
        self.completed.clear();
        self.matched = None;
    }

    /// Begins the flow from call to call, as if the recording had begun now.
    fn begin_flow(&mut self, recorder: Recorder) {
        self.last = EdgeKey::UNKNOWN;
        self.last_left_ns = now_ns(recorder);
        self.visit_units = recorder.visit_units();
    }

    /// Returns how far a rank of the world is, relative to this one. All ranks have one clock.
    #[inline]
    pub(super) fn offset(&mut self, relative: i32) -> Offset {
        let latency_ns = distance::latency_ns();
        // Those of this host have lanes.
        if latency_ns == 0 || self.common().carrier.answers(relative) {
            return Offset::default();
        }
        Offset { latency_ns, ..Offset::default() }
    }

    /// Notes a call that begins, the computation before it, and its cost.
    #[inline]
    pub(crate) fn enter(&mut self, recorder: Recorder, visited: Visited, entered_ns: u64) {
        self.enter_from(recorder, visited, entered_ns).add_to(visited);
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
        Flow { from: self.last, since_ns }
    }

    /// Notes the computation since the last call, and its cost. Returns how long it was,
    /// in ns.
    #[inline]
    fn compute(&mut self, recorder: Recorder, now_ns: u64) -> u64 {
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

    /// Returns the last call, and when it was left.
    #[inline]
    pub(super) fn last_call(&self) -> (CallpathId, u64) {
        (self.last, self.last_left_ns)
    }

    /// Notes the end of a call that may have waited for receivers, as `waits` says.
    #[inline]
    pub(crate) fn ended(&mut self, visited: Visited, span: Span, waits: bool) {
        let has_asked = self.blocked.has_asked();
        self.has_waited |= has_asked || self.senders.is_some();
        if self.blocked.has_untold() && waits {
            self.waited_untold(span);
        }
        if !has_asked || !waits || span.duration_ns() < BLOCKED_NS_MIN {
            self.senders = None;
            return self.blocked.forget();
        }
        self.may_have_waited(visited, span);
    }

    /// Notes the end of a call with a message whose receiver does not tell. For how long it
    /// has waited for senders is known.
    #[cold]
    #[inline(never)]
    fn waited_untold(&mut self, span: Span) {
        let begun_ns = self.senders.map_or(0, |senders| senders.last_ns.max(0).cast_unsigned());
        let ns = span.left_ns.saturating_sub(begun_ns.max(span.entered_ns));
        if ns >= BLOCKED_NS_MIN {
            self.not_followed(ns);
        }
        self.has_waited = true;
    }

    /// Notes time in a call that nobody follows.
    #[cold]
    #[inline(never)]
    pub(super) fn not_followed(&mut self, ns: u64) {
        self.facts.unfollowed_ns += ns;
        self.clock.doubt(ns);
    }

    #[inline(never)]
    fn may_have_waited(&mut self, visited: Visited, span: Span) {
        let senders = self.senders.take();
        let clocks = [self.entered, self.clock];
        self.blocked.ended(span, visited.callpath(), clocks, senders);
    }

    /// Returns whether the cost of our work for a call is to be measured.
    #[inline]
    pub(crate) fn measures(&mut self, cost: Cost) -> bool {
        self.overhead.measures(cost)
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
        self.has_waited = false;
        if std::mem::take(&mut self.is_unknown) {
            self.not_followed(in_ns);
        }
        let measured_ns = is_measured.then(|| now_ns(recorder).saturating_sub(since_ns));
        let ns = self.overhead.after(cost, measured_ns);
        self.cost(ns);
        self.last_left_ns = since_ns.saturating_add(ns);
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
    pub(super) fn own_intrusion_ns(&self) -> u64 {
        self.own_ns.saturating_add(self.own_ps / 1_000)
    }

    fn facts(&self) -> ClockFacts {
        let own_intrusion_ns = self.own_intrusion_ns();
        let uncertainty_ns = self.clock.uncertainty_ns();
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
            offset_uncertainty_ns: distance::uncertainty_ns(),
            ..self.facts
        }
    }
}
