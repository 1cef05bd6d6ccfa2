//! What a thread of the rank knows of messages: its clock, and what its calls wait for.

mod costs;
mod flow;
mod of_thread;

use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof::__calls::{CallpathId, ClockFacts, EdgeKey, MessageEnd, Recorder, Visited};
use tinyprof_messages::clock::{Clock, Member};
use tinyprof_messages::companion::Companion;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::{Offset, Post};
use tinyprof_messages::waiting::WrongOrder;
use tinyprof_messages::ways::Ways;

use super::blocked::{BLOCKED_NS_MIN, Blocked};
use super::carrier::Carrier;
use super::causes::Causes;
use super::common::Common;
use super::common_clock::{self, Span, now_ns};
use super::delivered::Delivered;
use super::distance;
use super::held::Held;
use super::operation::Meet;
use super::order::Order;
use super::overhead::Overhead;
use super::processor::Processor;
use super::received::Deferred;
use super::tests::Tests;
use super::threads::Caller;
use crate::communicators::{ELSEWHERE, Twin};
use crate::function::Cost;

use costs::{COSTS_PS, VISIT_EACH_NS};
pub(crate) use flow::Flow;
pub(crate) use of_thread::{
    Plain, conclude_before, end, is_in_call, is_on, keeps_order, plain, store_facts, with,
};
pub(super) use of_thread::{begin, forget_communicator};

/// The receives that a call can complete without a new allocation.
const COMPLETED: usize = 4096;

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
    /// The ends of messages that the call under way sends, where events are kept.
    pub(super) sent_ends: Vec<(Visited, MessageEnd)>,
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
    pub(super) processor: Processor,
    /// How long the thread had no processor in the last call, at least, in ns.
    pub(super) lost_in_call_ns: u64,
    /// What has made the rank wait, where this state is the one that knows it.
    pub(super) causes: Option<Box<Causes>>,
    pub(super) overhead: Overhead,
    /// The receive that is yet to be concluded, see [`Deferred`].
    pub(super) deferred: Option<Deferred>,
    /// True if receives may be deferred: one thread alone calls MPI.
    pub(super) defers: bool,
    visit_ps: u64,
    /// When the cost of a visit is to be measured again.
    visit_again_ns: u64,
    /// What a call costs on its way to the wrappers and back.
    passing_ps: u64,
    /// Our overhead: of regions, and of calls of MPI on their way to the wrappers.
    own_ps: u64,
    /// The rest of it.
    own_ns: u64,
    pub(super) visit_units: u64,
    last: CallpathId,
    pub(super) last_left_ns: u64,
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
            sent_ends: Vec::new(),
            completed: Vec::with_capacity(COMPLETED),
            operations: Vec::with_capacity(COMPLETED),
            matched: None,
            order,
            posted_late: None,
            exchange_ns: u64::MAX,
            processor: Processor::default(),
            lost_in_call_ns: 0,
            causes: None,
            overhead: Overhead::default(),
            deferred: None,
            defers: false,
            visit_ps,
            visit_again_ns: recorder.map_or(0, now_ns).saturating_add(VISIT_EACH_NS),
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
            // SAFETY: as in `common`, which holds none of the other fields.
            let carrier = unsafe { &mut self.common.as_mut().carrier };
            self.blocked.hear(recorder, carrier, &mut self.clock);
            self.look_for_receivers(recorder);
        }
        self.blocked.is_empty()
    }

    /// Looks for the causes of waiting for receivers that was heard of.
    fn look_for_receivers(&mut self, recorder: Recorder) {
        for number in 0..self.blocked.waited.len() {
            let waited = self.blocked.waited[number];
            self.has_waited_for(recorder, &waited);
        }
        self.blocked.waited.clear();
    }

    /// Counts a received message whose companion nobody can tell.
    pub(crate) fn count_unclear(&mut self) {
        self.facts.companions_unclear += 1;
    }

    /// Returns the calls that may have waited for their receivers, and the way to other ranks.
    pub(super) fn blocked_and_carrier(&self) -> (&Blocked, &Carrier) {
        // SAFETY: as in `common`.
        (&self.blocked, unsafe { &self.common.as_ref().carrier })
    }

    /// Returns the order of messages, if it is kept, and what all threads have in common.
    pub(super) fn order_and_common(&mut self) -> (Option<&Order>, &mut Common) {
        // SAFETY: as in `common`, which holds none of the other fields.
        (self.order.as_ref(), unsafe { self.common.as_mut() })
    }

    /// Returns what has made the rank wait, if this state knows it, and what all threads have in
    /// common.
    #[inline]
    pub(super) fn causes_and_common(&mut self) -> (Option<&mut Causes>, &mut Common) {
        // SAFETY: as in `common`, which holds none of the other fields.
        (self.causes.as_deref_mut(), unsafe { self.common.as_mut() })
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
        self.processor = Processor::begin(self.last_left_ns);
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

    /// Returns the last call, and when it was left.
    #[inline]
    pub(super) fn last_call(&self) -> (CallpathId, u64) {
        (self.last, self.last_left_ns)
    }

    /// Notes the end of a call that may have waited for receivers, as `waits` says.
    #[inline]
    pub(crate) fn ended(&mut self, recorder: Recorder, visited: Visited, span: Span, waits: bool) {
        let has_asked = self.blocked.has_asked();
        self.has_waited |= has_asked || self.senders.is_some();
        if self.blocked.has_untold() && waits {
            self.waited_untold(span);
        }
        if !has_asked || !waits || span.duration_ns() < BLOCKED_NS_MIN {
            self.senders = None;
            return self.blocked.forget();
        }
        self.may_have_waited(recorder, visited, span);
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
    fn may_have_waited(&mut self, recorder: Recorder, visited: Visited, span: Span) {
        let senders = self.senders.take();
        let clocks = [self.entered, self.clock];
        let explained_ns = self.has_waited_for_receivers(recorder, visited, span, senders);
        self.blocked.ended(span, visited.callpath(), clocks, senders, explained_ns);
    }
}
