//! What one thread of the rank knows of messages: clock, numbers, and companions.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};

use tinyprof::__calls::{
    CallpathId, ClockFacts, ClockRate, EdgeInstance, EdgeKey, EdgeKind, Recorder, VISIT_UNITS,
    Visited, with_discarded_records,
};
use tinyprof_messages::clock::Clock;
use tinyprof_messages::companion::Companion;
use tinyprof_messages::matching::{Receives, Streams};
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::order::Doing;
use tinyprof_messages::time::Post;
use tinyprof_messages::waiting::WrongOrder;

use super::blocked::Blocked;
use super::carrier::Carrier;
use super::common_clock::{self, Span, now_ns};
use super::delivered::Delivered;
use super::distance;
use super::held::Held;
use super::meet::Meet;
use super::order::Order;
use super::own_cost::{Class, OwnCost};
use super::owner;
use super::partner::STREAMS;
use crate::communicators::Twin;
use crate::library::Mpi;
use crate::session;

/// Receives that may be open behind a wildcard.
pub(super) const OPEN: usize = 1 << 11;
/// The receives that a call can complete without a new allocation.
const COMPLETED: usize = 4096;
/// The longest time that our work for a call takes: a companion that is waited for.
const WORK_NS_MAX: u64 = 30_000;
/// The calls after which the facts of the clock are stored, for readers of a running program.
const STORED_EACH: u64 = 64;

/// How often the clock of a rank that goes by `CLOCK_MONOTONIC` is set.
const SET_EACH_NS: u64 = 1_000_000;

/// The state, which one thread uses at a time.
pub(crate) struct State {
    pub(super) clock: Clock,
    pub(super) sent: Streams<STREAMS>,
    pub(super) receives: Receives<STREAMS, OPEN>,
    pub(super) carrier: Carrier,
    /// The calls that may have waited for their receivers.
    pub(super) blocked: Blocked,
    /// The senders that the call under way has waited for.
    pub(super) senders: Option<Meeting>,
    /// The clock when MPI was entered for it.
    entered: Clock,
    pub(super) wrong_order: WrongOrder,
    /// What was delivered of late: from which callpath to which.
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
    own_cost: OwnCost,
    visit_ps: u64,
    /// What a call costs on its way to the wrappers and back.
    passing_ps: u64,
    /// Our own cost: of regions, and of calls of MPI on their way to the wrappers.
    own_ps: u64,
    /// The rest of it.
    own_ns: u64,
    visit_units: u64,
    last: CallpathId,
    last_left_ns: u64,
    /// When the call under way has returned.
    pub(crate) returned_ns: u64,
    calls: u64,
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

static STATE: AtomicPtr<State> = AtomicPtr::new(ptr::null_mut());
/// True while messages are observed.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// True while their order is kept.
static KEEPS_ORDER: AtomicBool = AtomicBool::new(false);

/// Returns whether messages are observed.
#[inline]
pub(crate) fn is_on() -> bool {
    IS_ON.load(Relaxed)
}

/// Returns whether the order of messages is kept.
#[inline]
pub(crate) fn keeps_order() -> bool {
    KEEPS_ORDER.load(Relaxed)
}

/// Begins to observe messages. `plain_call` is as in
/// [`agree_on_messages`](super::agree_on_messages).
pub(super) fn begin(
    mpi: &Mpi,
    rate: &ClockRate,
    (carrier, order): (Carrier, Option<Order>),
    plain_call: fn(&Mpi, Recorder) -> u64,
) {
    let recorder = Recorder::current();
    owner::begin(mpi);
    KEEPS_ORDER.store(order.is_some(), Relaxed);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some 20,000")]
    let ps = |ns: f64| (ns * 1_000.0) as u64;
    let state = Box::new(State {
        clock: Clock::default(),
        sent: Streams::new(),
        receives: Receives::new(),
        carrier,
        blocked: Blocked::default(),
        senders: None,
        entered: Clock::default(),
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
        own_cost: OwnCost::default(),
        visit_ps: ps(rate.visit_ns),
        passing_ps: 0,
        own_ps: 0,
        own_ns: 0,
        visit_units: recorder.map_or(0, Recorder::visit_units),
        last: EdgeKey::UNKNOWN,
        last_left_ns: recorder.map_or(0, now_ns),
        returned_ns: 0,
        calls: 0,
    });
    STATE.store(Box::into_raw(state), Release);
    IS_ON.store(true, Release);
    session::observe_messages();

    // With calls that leave nothing behind.
    let ticks_1024 = with_discarded_records(|recorder| plain_call(mpi, recorder));
    owner::forget();
    if let (Some(ticks_1024), Some(recorder)) = (ticks_1024, recorder) {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred thousand")]
        let call_ps = ps(ticks_1024 as f64 / 1_024.0 * rate.ns_per_tick);
        with(recorder, |state| state.restart(recorder, call_ps));
        owner::forget();
    }
}

/// Calls `work` with the state, if it is this thread's.
#[inline]
pub(crate) fn with<T>(recorder: Recorder, work: impl FnOnce(&mut State) -> T) -> Option<T> {
    if !owner::may_use(recorder) {
        return None;
    }
    // SAFETY: made by `begin`, and never freed. Only one thread at a time has it: the owner, or in
    // a program whose threads do not call MPI at the same time whoever is in a call. `work` does
    // not call this function.
    unsafe { STATE.load(Acquire).as_mut() }.map(work)
}

/// Calls `work` with the state for a call that sends or receives, if the order of messages is
/// known.
#[inline]
pub(crate) fn with_messages<T>(
    recorder: Recorder,
    work: impl FnOnce(&mut State) -> T,
) -> Option<T> {
    if owner::has_several() { None } else { with(recorder, work) }
}

impl State {
    /// Begins anew, after calls that were made to measure them: each has cost `call_ps`.
    fn restart(&mut self, recorder: Recorder, call_ps: u64) {
        let seen_ps = self.own_cost.eighths_ns(Class::Plain) * 1_000 / 8;
        self.passing_ps = call_ps.saturating_sub(seen_ps);
        self.clock = Clock::default();
        self.facts = ClockFacts::default();
        self.own_cost = OwnCost::default();
        (self.own_ps, self.own_ns, self.calls) = (0, 0, 0);
        self.last = EdgeKey::UNKNOWN;
        self.last_left_ns = now_ns(recorder);
        self.visit_units = recorder.visit_units();
    }

    /// Takes note of a call that begins: of the computation before it, and of its cost.
    #[inline]
    pub(crate) fn enter(&mut self, recorder: Recorder, visited: Visited, entered_ns: u64) {
        if entered_ns > self.set_again_ns {
            self.set_again_ns = entered_ns + SET_EACH_NS;
            common_clock::set_again(recorder);
        }
        let since_ns = self.compute(recorder, entered_ns);
        let key = EdgeKey { kind: EdgeKind::Flow, partner: 0, from: self.last };
        visited.add_edge(&key, &EdgeInstance { ns: since_ns, ..EdgeInstance::default() });
    }

    /// Takes note of the computation since the last call, and of its cost. Returns how long it was,
    /// in ns.
    #[inline]
    fn compute(&mut self, recorder: Recorder, now_ns: u64) -> u64 {
        self.blocked.hear(recorder, &mut self.carrier, &mut self.clock);
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

    /// Takes note of the end of a call that may have waited for receivers, as `waits` says.
    #[inline]
    pub(crate) fn ended(&mut self, visited: Visited, span: Span, waits: bool) {
        let senders = self.senders.take();
        if waits {
            let clocks = [self.entered, self.clock];
            self.blocked.ended(span, visited.callpath(), clocks, senders);
        } else {
            self.blocked.forget();
        }
    }

    /// Returns whether the cost of our work for a call is to be measured.
    #[inline]
    pub(crate) fn measures(&mut self, class: Class) -> bool {
        self.own_cost.measures(class)
    }

    /// Takes note of the work before a call. Returns its cost in ns.
    #[inline]
    pub(crate) fn worked(&mut self, class: Class, measured_ns: Option<u64>) -> u64 {
        let ns = self.own_cost.before(class, measured_ns);
        self.cost(ns);
        self.entered = self.clock;
        ns
    }

    /// Takes note of a call that has ended, and of the work since `since_ns`.
    #[inline]
    pub(crate) fn leave(
        &mut self,
        recorder: Recorder,
        visited: Visited,
        since_ns: u64,
        (class, is_measured): (Class, bool),
    ) {
        let measured_ns = is_measured.then(|| now_ns(recorder).saturating_sub(since_ns));
        let ns = self.own_cost.after(class, measured_ns);
        self.cost(ns);
        self.last_left_ns = since_ns.saturating_add(ns);
        // The visit of the call itself is part of what was measured.
        self.visit_units = recorder.visit_units();
        self.last = visited.id();
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(STORED_EACH) {
            recorder.store_clock(&self.facts());
        }
        if self.order.is_some() {
            self.posted_late = None;
            self.say(self.last_left_ns, Doing::Running);
        }
    }

    /// Adds time that we have taken ourselves. What is longer than any work of ours is time in
    /// which the rank had no processor.
    #[inline]
    pub(crate) fn cost(&mut self, ns: u64) {
        self.delay(ns.min(WORK_NS_MAX));
    }

    /// Adds time by which we have surely delayed the rank ourselves.
    #[inline]
    pub(super) fn delay(&mut self, ns: u64) {
        self.clock.delay(ns);
        self.own_ns = self.own_ns.saturating_add(ns);
    }

    /// Returns by how much we have delayed the rank ourselves up to now.
    pub(super) fn own_intrusion_ns(&self) -> u64 {
        self.own_ns.saturating_add(self.own_ps / 1_000)
    }

    fn facts(&self) -> ClockFacts {
        let own_intrusion_ns = self.own_intrusion_ns();
        ClockFacts {
            own_intrusion_ns,
            intrusion_ns: self.clock.intrusion_ns(),
            // The cost of a visit depends on the code around it.
            uncertainty_ns: own_intrusion_ns / 3,
            ideal_ns: self.clock.ideal_ns(),
            contradictions: self.clock.contradictions(),
            companions_missing: self.facts.companions_missing + self.blocked.lost,
            companions_unclear: self.facts.companions_unclear + owner::unclear(),
            offset_uncertainty_ns: distance::uncertainty_ns(),
            ..self.facts
        }
    }
}

/// Stores the facts of the clock when the program ends, for the profile.
pub(crate) fn store_facts() {
    if let Some(recorder) = Recorder::current().filter(|_| is_on()) {
        with(recorder, |state| {
            let now_ns = now_ns(recorder);
            state.compute(recorder, now_ns);
            (state.last_left_ns, state.visit_units) = (now_ns, recorder.visit_units());
            recorder.store_clock(&state.facts());
            state.say(now_ns, Doing::Ended);
        });
    }
}

/// Ends the observation before MPI does.
pub(crate) fn end(mpi: &Mpi) {
    if IS_ON.swap(false, Relaxed)
        && let Some(recorder) = Recorder::current()
    {
        with(recorder, |state| state.carrier.end(mpi));
    }
}

/// Forgets the streams of a communicator that is freed, and takes its companions. Returns false if
/// that is not for this thread to do.
pub(super) fn forget_communicator(mpi: &Mpi, twin: &Twin) -> bool {
    let forget = |state: &mut State| {
        state.carrier.forget(mpi, twin);
        state.sent.remove(twin.number);
        state.receives.remove(twin.number);
    };
    Recorder::current().and_then(|recorder| with(recorder, forget)).is_some()
}
