//! Whose a state is: there is one for all threads, or one for each where they may call MPI at the
//! same time.

use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};
use std::sync::{Mutex, PoisonError};

use tinyprof::__calls::{ClockRate, Recorder, with_discarded_records};
use tinyprof_messages::order::Doing;

use super::State;
use super::costs::{COSTS_PS, ps};
use crate::communicators::Twin;
use crate::companions::carrier::Carrier;
use crate::companions::common::Common;
use crate::companions::common_clock::now_ns;
use crate::companions::order::Order;
use crate::companions::telling;
use crate::companions::threads;
use crate::library::{Mpi, mpi};
use crate::session;
use crate::thread;

/// The first state. The others are those of the threads, in their
/// [`Thread::state`](crate::thread::Thread::state).
static STATE: AtomicPtr<State> = AtomicPtr::new(ptr::null_mut());
/// True while messages are observed.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// True while their order is kept.
static KEEPS_ORDER: AtomicBool = AtomicBool::new(false);

/// The first state while it is the only one, and the order of messages is not kept: what most
/// programs have. Null otherwise.
static PLAIN: AtomicPtr<State> = AtomicPtr::new(ptr::null_mut());

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
/// [`agree_on_messages`](crate::agree_on_messages).
pub(in crate::companions) fn begin(
    mpi: &Mpi,
    rate: &ClockRate,
    (carrier, order): (Carrier, Option<Order>),
    plain_call: fn(&Mpi, Recorder) -> u64,
) {
    let recorder = Recorder::current();
    threads::begin(mpi);
    KEEPS_ORDER.store(order.is_some(), Relaxed);
    COSTS_PS[0].store(ps(rate.visit_ns), Relaxed);
    let common = NonNull::from(Box::leak(Box::new(Common::new(carrier))));
    let state = NonNull::from(Box::leak(Box::new(State::new(common, recorder, order))));
    if let Some(recorder) = recorder.filter(|_| threads::are_multiple()) {
        let address = ptr::from_ref(recorder.word()).addr();
        STATES.lock().unwrap_or_else(PoisonError::into_inner).push((address, Shared(state)));
        thread::current().state.set(state.cast().as_ptr());
    }
    STATE.store(state.as_ptr(), Release);
    if !threads::are_multiple() && !keeps_order() {
        // SAFETY: nobody else has it yet.
        unsafe { (*state.as_ptr()).defers = threads::calls_one_only(mpi) };
        PLAIN.store(state.as_ptr(), Release);
    }
    IS_ON.store(true, Release);
    session::observe_messages();

    // With calls that leave nothing behind.
    let ticks_1024 = with_discarded_records(|recorder| plain_call(mpi, recorder));
    if let (Some(ticks_1024), Some(recorder)) = (ticks_1024, recorder) {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred thousand")]
        let call_ps = ps(ticks_1024 as f64 / 1_024.0 * rate.ns_per_tick);
        with(recorder, |state| state.restart(recorder, call_ps));
    }
    if let Some(recorder) = recorder {
        with(recorder, |state| state.begin_causes(mpi, recorder));
    }
}

/// Returns the state of this thread, where threads may call MPI at the same time.
fn own(recorder: Recorder) -> Option<NonNull<State>> {
    let first = NonNull::new(STATE.load(Acquire))?;
    let place = &thread::current().state;
    if place.get().is_null() {
        place.set(of_another_thread(first, recorder).cast().as_ptr());
    }
    NonNull::new(place.get().cast())
}

/// The states of threads, each with the address of its recorder's word.
static STATES: Mutex<Vec<(usize, Shared)>> = Mutex::new(Vec::new());

/// A state that another thread may take over, with the recorder of the one that has ended.
#[derive(Clone, Copy)]
struct Shared(NonNull<State>);

// SAFETY: only the thread that has its recorder uses it.
unsafe impl Send for Shared {}

/// Returns the state for one more thread: that of an ended one, if it has its recorder. That has
/// its facts, too.
#[cold]
fn of_another_thread(first: NonNull<State>, recorder: Recorder) -> NonNull<State> {
    let address = ptr::from_ref(recorder.word()).addr();
    let mut states = STATES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = states.iter().find(|(known, _)| *known == address) {
        let mut state = known.0;
        // SAFETY: as for all states, and the thread whose it was has ended.
        unsafe { state.as_mut() }.take_over(recorder);
        return state;
    }
    // SAFETY: made by `begin`, and never freed.
    let common = unsafe { &raw const (*first.as_ptr()).common };
    // SAFETY: made by `begin`, and never freed, and the field does not change.
    let common = unsafe { common.read() };
    let state = NonNull::from(Box::leak(Box::new(State::new(common, Some(recorder), None))));
    states.push((address, Shared(state)));
    state
}

/// Calls `work` with the state of this thread, while no other one uses what they have in common.
#[inline]
pub(crate) fn with<T>(recorder: Recorder, work: impl FnOnce(&mut State) -> T) -> Option<T> {
    if threads::are_multiple() {
        return with_locked(recorder, work);
    }
    // SAFETY: made by `begin`, and never freed. Threads do not call MPI at the same time, so that
    // only whoever is in a call has it. `work` does not call this function.
    let state = unsafe { STATE.load(Acquire).as_mut() }?;
    if state.has_deferred() {
        state.conclude_before(mpi(), recorder);
    }
    Some(work(state))
}

/// The only state, where threads do not call MPI at the same time, and the order of messages is not
/// kept.
#[derive(Clone, Copy)]
pub(crate) struct Plain(NonNull<State>);

/// Returns the only state, if it is.
#[inline(always)]
pub(crate) fn plain() -> Option<Plain> {
    NonNull::new(PLAIN.load(Acquire)).map(Plain)
}

impl Plain {
    /// Concludes a receive that is yet to be, see [`Deferred`](super::received::Deferred).
    #[inline(always)]
    pub(crate) fn conclude_before(self, mpi: &Mpi, recorder: Recorder) {
        self.with(|state| {
            if state.has_deferred() {
                state.conclude_before(mpi, recorder);
            }
        });
    }

    /// As [`with`], but for a receive that is yet to be concluded.
    #[inline(always)]
    pub(crate) fn with<T>(mut self, work: impl FnOnce(&mut State) -> T) -> T {
        // SAFETY: as in `with`: threads do not call MPI at the same time.
        work(unsafe { self.0.as_mut() })
    }
}

/// Concludes a receive that is yet to be, before anybody reads what is recorded.
pub(crate) fn conclude_before(recorder: Recorder) {
    if is_on() {
        with(recorder, |_| ());
    }
}

/// As [`with`], where threads may call MPI at the same time.
#[cold]
#[inline(never)]
fn with_locked<T>(recorder: Recorder, work: impl FnOnce(&mut State) -> T) -> Option<T> {
    let mut state = own(recorder)?;
    let locked = threads::lock();
    // SAFETY: made by `begin` or `of_another_thread`, and never freed. It is this thread's, and
    // nobody else uses now what it has in common with others. `work` does not call `with`.
    let result = work(unsafe { state.as_mut() });
    drop(locked);
    Some(result)
}

/// Notes that this thread begins, or has ended, a call that sends or receives.
pub(crate) fn is_in_call(recorder: Recorder, is: bool) {
    if let Some(state) = own(recorder) {
        // SAFETY: it is this thread's, and never freed.
        let caller = unsafe { &raw const (*state.as_ptr()).caller };
        // SAFETY: it is this thread's, and never freed, and the field does not change.
        let caller = unsafe { caller.read() };
        caller.is_in_call(is);
    }
}

/// Stores the facts of the clock when the program ends, for the profile.
pub(crate) fn store_facts() {
    if let Some(recorder) = Recorder::current().filter(|_| is_on()) {
        with(recorder, |state| {
            let now_ns = now_ns(recorder);
            state.compute(recorder, now_ns);
            state.end_activities(now_ns);
            (state.last_left_ns, state.visit_units) = (now_ns, recorder.visit_units());
            state.facts.companions_left = state.common().carrier.left();
            state.unheard_ns = state.blocked.unheard_ns() + unheard_of_others_ns(state);
            recorder.store_clock(&state.facts());
            state.say(now_ns, Doing::Ended);
        });
    }
}

/// Returns the time in calls of other threads whose answers have not come, in ns. They may have
/// ended. Under the lock.
fn unheard_of_others_ns(own: &State) -> u64 {
    let states = STATES.lock().unwrap_or_else(PoisonError::into_inner);
    let others = states.iter().filter(|(_, other)| !ptr::eq(other.0.as_ptr(), own));
    // SAFETY: never freed, and nobody else uses a state without the lock.
    others.map(|(_, other)| unsafe { &*other.0.as_ptr() }.blocked.unheard_ns()).sum()
}

/// Ends the observation before MPI does.
pub(crate) fn end(mpi: &Mpi) {
    PLAIN.store(ptr::null_mut(), Relaxed);
    if IS_ON.swap(false, Relaxed)
        && let Some(recorder) = Recorder::current()
    {
        with(recorder, |state| state.common().carrier.end(mpi));
    }
}

/// Forgets the streams of a communicator that is freed, and takes its companions. Returns false if
/// this thread cannot.
pub(in crate::companions) fn forget_communicator(mpi: &Mpi, twin: &Twin) -> bool {
    telling::forget(twin);
    let forget = |state: &mut State| state.common().forget(mpi, twin);
    Recorder::current().and_then(|recorder| with(recorder, forget)).is_some()
}
