//! Sends of the calls in `short`: what is done before the message, or behind it.
//!
//! It is done behind a message that answers one that has just come.

use tinyprof::__calls::{Recorder, Visited};

use crate::companions::{Early, Flow, Message, Receiver, State, now_ns};
use crate::function::Cost;
use crate::library::Mpi;

/// A call that sends a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) mpi: &'static Mpi,
    pub(super) recorder: Recorder,
    pub(super) visited: Visited,
    pub(super) since_ns: Option<u64>,
    pub(super) begun_ns: u64,
    pub(super) cost: Cost,
    /// True if it waits until the message is on its way.
    pub(super) waits: bool,
}

/// The beginning of a call that sends a message, which its end needs.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) flow: Flow,
    pub(super) receiver: Receiver,
    pub(super) entered_ns: u64,
}

/// Whether all was done before a message.
#[derive(Debug)]
pub(super) enum Announced {
    Before(Begun),
    /// The rest is to be done when the message is on its way; with the cost up to now, if it is
    /// measured.
    Early(Early, Option<u64>),
}

impl Sent {
    #[inline(always)]
    pub(super) fn announce(&self, state: &mut State, message: &Message) -> Announced {
        let Self { visited, begun_ns, .. } = *self;
        match state.announce_early(visited, begun_ns, message) {
            Some(early) => Announced::Early(early, self.measured_ns()),
            None => self.begin(state, |state| state.announce(self.mpi, visited, begun_ns, message)),
        }
    }

    /// Begins a call that sends nothing, or on a communicator that is not known.
    #[inline(always)]
    pub(super) fn announce_nothing(&self, state: &mut State, to_nobody: bool) -> Announced {
        let receiver = if to_nobody { Receiver::Free } else { Receiver::Untold };
        self.begin(state, |_| receiver)
    }

    #[inline(always)]
    fn begin(&self, state: &mut State, announce: impl FnOnce(&mut State) -> Receiver) -> Announced {
        let Self { mpi, recorder, visited, since_ns, begun_ns, cost, waits } = *self;
        if state.has_deferred() {
            state.conclude_deferred(mpi, recorder);
        }
        let flow = state.enter_from(recorder, visited, begun_ns);
        let receiver = announce(state);
        if waits {
            state.may_wait_for(receiver);
        }
        let entered_ns = entered(state, recorder, cost, (since_ns, begun_ns));
        Announced::Before(Begun { flow, receiver, entered_ns })
    }

    /// Does what [`begin`](Self::begin) does, for a message that is on its way.
    #[inline(always)]
    pub(super) fn close(&self, state: &mut State, early: Early, measured_ns: Option<u64>) -> Begun {
        let Self { mpi, recorder, visited, since_ns, begun_ns, cost, .. } = *self;
        state.conclude_deferred(mpi, recorder);
        let flow = state.enter_from(recorder, visited, begun_ns);
        state.close(early, visited);
        let entered_ns = since_ns.unwrap_or(begun_ns) + state.worked(cost, measured_ns);
        Begun { flow, receiver: Receiver::Free, entered_ns }
    }

    #[inline(always)]
    fn measured_ns(&self) -> Option<u64> {
        self.since_ns.map(|since_ns| now_ns(self.recorder).saturating_sub(since_ns))
    }
}

/// Notes the work before a call that has begun at `begun_ns`. Returns when MPI is entered.
#[inline(always)]
pub(super) fn entered(
    state: &mut State,
    recorder: Recorder,
    cost: Cost,
    (since_ns, begun_ns): (Option<u64>, u64),
) -> u64 {
    let measured_ns = since_ns.map(|since_ns| now_ns(recorder).saturating_sub(since_ns));
    let worked_ns = state.worked(cost, measured_ns);
    since_ns.unwrap_or(begun_ns) + worked_ns
}
