//! Calls of several threads at the same time: what is said before they are made, and heard soon
//! after.

use std::ffi::c_int;

use super::Call;
use crate::arguments::Kind;
use crate::communicators::{self, Communicator};
use crate::companions::{self, State, held, now_ns};
use crate::function::{Counts, Function};
use crate::requests::{self, Pending};

/// The longest time that answers of receivers are waited for, where no later call may hear them.
const HEARD_NS_MAX: u64 = 20_000;

impl Call {
    /// Prepares for other threads that send or receive at the same time.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_to_communicate(&self) {
        companions::with(self.recorder, State::begin_call);
        companions::is_in_call(self.recorder, true);
        let &Function { counts, ref at, received_tag, .. } = self.function;
        match counts {
            Counts::Received
            | Counts::ReceiveStarted
            | Counts::Matched
            | Counts::Exchanged
            | Counts::ExchangeStarted => {
                let envelope = (self.arguments.int(at.source), self.arguments.int(received_tag));
                self.about_to_receive(communicators::find(self.communicator()), envelope);
            }
            Counts::Started => self.about_to_start(),
            Counts::Nothing
            | Counts::Sent
            | Counts::MatchedReceived
            | Counts::MatchedReceiveStarted
            | Counts::Prepared(_)
            | Counts::Completed(_)
            | Counts::Cancelled
            | Counts::KeyvalCreated
            | Counts::Collective(..)
            | Counts::Accessed(_)
            | Counts::FileRead
            | Counts::FileReadStarted
            | Counts::FileWritten => {}
        }
    }

    /// Waits for the answers of receivers, but not for long: the thread may never call MPI again.
    #[cold]
    #[inline(never)]
    pub(super) fn hear_soon(&self) {
        let begun_ns = now_ns(self.recorder);
        let hears_all = || companions::with(self.recorder, |state| state.hears_all(self.recorder));
        let mut waited_ns = 0;
        while hears_all() == Some(false) && waited_ns < HEARD_NS_MAX {
            std::hint::spin_loop();
            waited_ns = now_ns(self.recorder).saturating_sub(begun_ns);
        }
        if waited_ns > 0 {
            companions::with(self.recorder, |state| state.delay(waited_ns));
        }
    }

    #[cold]
    #[inline(never)]
    fn about_to_start(&self) {
        let (count, array) = self.requests_to_start();
        for index in 0..count {
            let handle = self.arguments.handle_at(array, index, Kind::Request);
            if let Some((place, request)) = requests::find(handle)
                && request.pending == Pending::ReceiveAtStart
            {
                let held = held::at(place);
                self.about_to_receive(request.communicator, (held.peer, held.tag));
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn about_to_receive(&self, known: Option<&Communicator>, envelope: (c_int, c_int)) {
        if let Some(twin) = known.and_then(Communicator::twin) {
            companions::with(self.recorder, |state| {
                state.about_to_receive(self.mpi(), &twin, envelope);
            });
        }
    }
}
