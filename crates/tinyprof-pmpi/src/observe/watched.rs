//! Calls at level `messages`: what is done for companions before and after them.

use std::ffi::c_int;

use super::{Before, Call, inside, open};
use crate::communicators;
use crate::companions::{self, BLOCKED_NS_MIN, Meet, Receiver, Span, now_ns, ns_of};
use crate::forward::forward;
use crate::function::{Completes, Counts, Data, Positions};
use crate::words::Words;

/// The longest time that storing a small message takes, in ns.
pub(super) const SENDING_NS_MAX: u64 = 20_000;

impl Call {
    /// Makes the call inside of its region, counts what it did, and exchanges companions.
    ///
    /// # Safety
    /// As for [`make_and_count`](Self::make_and_count).
    #[inline(never)]
    pub(super) unsafe fn make_watched(&self, index: usize, from: Words, original: usize) -> c_int {
        let function = self.function;
        let cost = function.cost;
        let measures = companions::with(self.recorder, |state| state.measures(self.recorder, cost));
        let is_measured = measures.unwrap_or(false);
        let since_ns = if is_measured { now_ns(self.recorder) } else { 0 };
        if function.hears && companions::are_multiple() {
            self.begin_to_communicate();
        }
        self.give_up();
        let before = if function.probes { self.before_status() } else { self.before() };
        let inside = inside::enter(self.recorder);
        // SAFETY: as the caller says.
        let open = unsafe { open(self.recorder, index, from) };
        let visited = open.visited();
        let mut begun_ns = ns_of(open.begun_ticks());
        if self.called_ticks != 0 {
            // Who waits for this rank has waited for our look-up, too, which is our overhead.
            let called_ns = ns_of(self.called_ticks).min(begun_ns);
            companions::with(self.recorder, |state| state.delay(begun_ns - called_ns));
            begun_ns = called_ns;
        }
        companions::with(self.recorder, |state| state.enter(self.recorder, visited, begun_ns));
        let (receiver, not_sized) = self.announce(visited, begun_ns);
        let (mut meet, mut removed) = (None, None);
        if function.begins {
            meet = self.meet(begun_ns);
            self.restart_operations(begun_ns);
            self.begin_access(visited, begun_ns);
            removed = self.arguments.remove_object(function);
        }
        let measured_ns = is_measured.then(|| now_ns(self.recorder).saturating_sub(since_ns));
        let worked = companions::with(self.recorder, |state| state.worked(cost, measured_ns));
        let entered_ns = match measured_ns {
            Some(ns) => since_ns + ns,
            None => begun_ns + worked.unwrap_or(0),
        };
        let (code, held_ns) = if companions::keeps_order() {
            // SAFETY: as the caller says.
            unsafe { self.forward_in_turn(original, entered_ns) }
        } else {
            // SAFETY: as the caller says, and the words are those of its call.
            (unsafe { forward(original, self.arguments.words, self.count()) }, 0)
        };
        if function.hears && companions::are_multiple() {
            companions::is_in_call(self.recorder, false);
        }
        self.expect();
        let left_ticks = self.recorder.ticks();
        let visited = open.end_at(left_ticks);
        let left_ns = ns_of(left_ticks);
        if function.posts {
            companions::with(self.recorder, |state| state.returned_ns = left_ns);
        }
        let mut since_ns = left_ns;
        // As if the message had not been held back.
        let span = Span { entered_ns, left_ns: left_ns.saturating_sub(held_ns) };
        if self.is_successful(code) {
            self.after(&before, visited);
            if let Some(Data { count, datatype }) = not_sized {
                // MPI knows the datatype: for the next message, so does this thread.
                self.bytes(count, datatype);
            }
            self.conclude(&before, visited, span);
            if self.function.at.request != Positions::NO && !matches!(receiver, Receiver::Free) {
                self.hold_sent(receiver, visited);
            }
            if let Some(meet) = meet
                && !self.keep_operation(&meet, visited)
            {
                let ended_ns = meet.end(self.mpi(), self.recorder, visited, span);
                since_ns = ended_ns.unwrap_or(left_ns);
            }
        } else if self.has_taken(code) {
            // Their companions are taken as well: otherwise those of later messages would be.
            self.after(&before.with_errors(), visited);
            self.conclude(&before, visited, span);
        } else {
            self.arguments.take_note_of_new(self.function, false);
            self.take_back_sent(code);
        }
        if !self.is_successful(code)
            && let Some(meet) = meet
        {
            if self.mpi().has_communicated(self.code(code)) {
                meet.take_part(self.mpi());
            } else {
                meet.withdraw();
            }
        }
        if held_ns > 0 {
            companions::with(self.recorder, |state| state.held_back(held_ns));
        }
        if function.hears {
            let waits = !function.is_test;
            companions::with(self.recorder, |state| {
                state.ended(self.recorder, visited, span, waits);
            });
            if companions::are_multiple() {
                self.hear_soon();
            }
        }
        if before.request.is_some() || before.kept > 0 {
            self.give_back(&before);
        }
        // What is shorter hides nothing, and most calls are.
        let is_unknown = span.duration_ns() >= BLOCKED_NS_MIN
            && (!function.is_followed
                || meet.is_none() && self.arguments.meets_unknown(function)
                || self.completes_unknown(&before)
                || matches!(function.counts, Counts::Sent | Counts::Exchanged)
                    && self.has_sent_slowly(span));
        companions::with(self.recorder, |state| {
            state.is_unknown |= is_unknown;
            let times = (since_ns, span.duration_ns());
            state.leave(self.recorder, visited, times, (cost, is_measured));
        });
        drop(removed);
        drop(inside);
        code
    }

    /// Returns whether the call has waited for a request of which nothing is known, such as that of
    /// a small message that was sent.
    #[cold]
    #[inline(never)]
    fn completes_unknown(&self, before: &Before) -> bool {
        let Counts::Completed(completes) = self.function.counts else { return false };
        !self.function.is_test
            && match completes {
                Completes::One => before.request.is_none(),
                Completes::Any | Completes::Some | Completes::All => {
                    !companions::with(self.recorder, |state| state.has_waited).unwrap_or(false)
                }
            }
    }

    /// Returns whether a call has sent a message of which no receiver says when it was there, and
    /// took longer than sending does: MPI may have had no room to store it.
    #[cold]
    #[inline(never)]
    fn has_sent_slowly(&self, span: Span) -> bool {
        let has_asked = companions::with(self.recorder, |state| state.has_waited).unwrap_or(true);
        !has_asked && span.duration_ns() > SENDING_NS_MAX
    }

    pub(super) fn mpi(&self) -> &'static crate::library::Mpi {
        self.arguments.mpi
    }

    /// Prepares for the companion of the message that the call has received.
    #[inline]
    fn expect(&self) {
        if self.function.counts == Counts::Received
            && let Some(known) = communicators::find(self.communicator())
        {
            let from = known.relative(self.arguments.int(self.function.at.source));
            let expected = companions::with(self.recorder, |state| state.expected(from));
            if let Some(expected) = expected.flatten() {
                expected.fetch();
            }
        }
    }

    /// Begins a collective operation.
    #[inline]
    fn meet(&self, entered_ns: u64) -> Option<Meet> {
        let met = self.arguments.met(self.function)?;
        Meet::begin(met, Some((self.recorder, entered_ns)))
    }
}
