//! Receives that are posted, and given up.

use tinyprof_messages::matching::{Posted, Stream, Wanted};
use tinyprof_messages::time::Post;

use super::held::{Envelope, Held};
use super::shared::Expected;
use super::state::State;
use super::threads;
use crate::abi::Handle;
use crate::communicators::Twin;
use crate::library::Mpi;

impl State {
    /// Notes a receive that the program posts; `key` is its request.
    #[inline(always)]
    pub(crate) fn post(
        &mut self,
        mpi: &Mpi,
        twin: &Twin,
        envelope: Envelope,
        key: Handle,
    ) -> Posted {
        let wanted = wanted(mpi, twin, envelope);
        if self.is_shared(&wanted) {
            return Posted::Unclear;
        }
        self.common().receives.post(wanted, key.0 as u64)
    }

    /// Notes that the thread is about to receive, where another one may do so at the same time.
    pub(crate) fn about_to_receive(&mut self, mpi: &Mpi, twin: &Twin, envelope: Envelope) {
        self.is_shared(&wanted(mpi, twin, envelope));
    }

    /// Returns whether several threads have received messages of a stream at the same time.
    pub(super) fn is_stream_shared(&mut self, stream: Stream) -> bool {
        threads::are_multiple() && self.common().sharing.is_shared(stream)
    }

    /// Returns whether several threads receive messages that a receive accepts.
    #[inline]
    fn is_shared(&mut self, wanted: &Wanted) -> bool {
        let (common, caller) = self.common_and_caller();
        threads::are_multiple() && common.sharing.receives(wanted, caller)
    }

    /// Returns where the companion of the next message of a rank will be, if that is known.
    #[inline]
    pub(crate) fn expected(&mut self, from: i32) -> Option<Expected> {
        self.common().carrier.expected(from)
    }

    /// Returns the moment of a receive that is posted at `at_ns`, and the ideal time then, in ns.
    pub(crate) fn post_at(&self, at_ns: u64) -> (Post, u64) {
        let intrusion_ns = self.clock.intrusion_ns();
        (Post { posted_ns: at_ns, intrusion_ns }, self.clock.ideal_ns())
    }

    /// Returns that of one that the call under way has posted, which has returned.
    pub(crate) fn posted_now(&self) -> (Post, u64) {
        self.post_at(self.returned_ns)
    }

    /// Forgets a receive that the program gives up.
    pub(crate) fn release(&mut self, held: &Held) {
        if let Some(Posted::Ticket(ticket)) = held.posted {
            self.common().receives.release(ticket);
        }
    }

    /// Notes that the program asks MPI to cancel a receive.
    /// The receive was posted on the communicator of `twin`.
    pub(crate) fn cancel(&mut self, mpi: &Mpi, held: &Held, twin: Option<&Twin>) {
        match held.posted {
            Some(Posted::Ticket(ticket)) => self.common().receives.cancel_ticket(ticket),
            Some(Posted::Number(number)) => {
                let of_twin = |twin: &Twin| wanted(mpi, twin, held.envelope()).stream();
                if let Some(stream) = twin.and_then(of_twin) {
                    self.common().receives.cancel(stream, number);
                }
            }
            Some(Posted::Unclear) | None => {}
        }
    }
}

/// Returns the messages that a receive accepts.
#[inline]
pub(super) fn wanted(mpi: &Mpi, twin: &Twin, Envelope { source, tag }: Envelope) -> Wanted {
    let is_any = source == mpi.abi.any_source;
    let source = (!is_any).then_some(source.cast_unsigned());
    let tag = (tag != mpi.abi.any_tag).then_some(tag);
    Wanted { communicator: twin.number, source, tag }
}
