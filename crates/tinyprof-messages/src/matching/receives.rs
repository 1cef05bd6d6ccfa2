//! The number of each receive in its stream, by the order in which receives are posted.

use super::{Stream, Streams, Wanted};

mod doubts;
mod slots;

use doubts::Doubts;
use slots::{Slot, Slots, State};

/// The order of the receives of a rank: counters for `STREAMS` streams (a power of two), and room
/// for `OPEN` receives that are open and whose number is not known.
///
/// Receives of all threads that share a communicator go through one value, under one lock.
///
/// ```
/// use tinyprof_messages::matching::{Posted, Receives, Turn, Wanted};
///
/// let mut receives = Receives::<64, 16>::new();
/// let exact = Wanted { communicator: 0, source: Some(3), tag: Some(7) };
/// assert_eq!(receives.post(exact, 100), Posted::Number(0));
/// assert_eq!(receives.next(exact.stream().unwrap()), Some(1));
///
/// // Behind a wildcard a receive has to wait for its turn.
/// let any = Wanted { source: None, ..exact };
/// let Posted::Ticket(any) = receives.post(any, 101) else { panic!() };
/// let Posted::Ticket(behind) = receives.post(exact, 102) else { panic!() };
/// assert_eq!(receives.turn(behind), Turn::Behind(101));
/// assert_eq!(receives.next(exact.stream().unwrap()), None);
/// receives.matched(any, 3, 7);
/// assert_eq!(receives.turn(behind), Turn::Number(2));
/// assert_eq!(receives.turn(any), Turn::Number(1));
/// ```
///
/// A blocking receive, and an `MPI_Mprobe`, may be posted when it has returned, with the source and
/// tag that it got, if no other thread posts receives to the communicator. It needs no ticket then,
/// unless wildcards are open.
///
/// # Cost
///
/// That of [`Streams`] for an exact receive while no wildcard is open.
#[derive(Clone, Debug)]
pub struct Receives<const STREAMS: usize, const OPEN: usize> {
    streams: Streams<STREAMS>,
    slots: Slots<OPEN>,
    doubts: Doubts,
    unclear: u64,
}

/// A receive that waits for its number. Spent by [`Receives::turn`] with a number or "unclear",
/// by [`Receives::release`] and by [`Receives::withdraw`]; a spent ticket is unclear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    slot: u32,
    generation: u32,
}

impl Ticket {
    /// Returns the ticket as a number.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.slot as u64 | (self.generation as u64) << 32
    }

    /// Returns the ticket with that number.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self { slot: (bits & 0xffff_ffff) as u32, generation: (bits >> 32) as u32 }
    }
}

/// The answer to a posted receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// The number of its message in the stream, 0-based. [Confirm](Receives::confirm) it when the
    /// receive completes.
    Number(u64),
    /// The number is not known yet.
    Ticket(Ticket),
    /// The number will never be known.
    Unclear,
}

/// The answer to a receive that has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The number of its message in the stream, 0-based.
    Number(u64),
    /// Not yet: the receive with this key was posted before, and may have got a message of the
    /// stream. Its source and tag are needed (`PMPI_Request_get_status`), see
    /// [`Receives::matched`].
    Behind(u64),
    /// The number will never be known.
    Unclear,
}

impl<const STREAMS: usize, const OPEN: usize> Receives<STREAMS, OPEN> {
    /// Returns the state of a rank that has posted nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { streams: Streams::new(), slots: Slots::new(), doubts: Doubts::new(), unclear: 0 }
    }

    /// Notes a receive. `key` is what [`Turn::Behind`] says to name it: its request.
    #[inline]
    pub fn post(&mut self, wanted: Wanted, key: u64) -> Posted {
        if let Some(stream) = wanted.stream()
            && !self.slots.has_before(stream, usize::MAX)
        {
            return match self.number(stream) {
                Some(number) => Posted::Number(number),
                None => self.count(Posted::Unclear),
            };
        }
        self.post_behind(wanted, key)
    }

    #[cold]
    fn post_behind(&mut self, wanted: Wanted, key: u64) -> Posted {
        let state = wanted.stream().map_or(State::Open, State::Known);
        match self.slots.push(wanted, state, key) {
            Some((slot, generation)) => Posted::Ticket(Ticket { slot, generation }),
            None => {
                // Nobody will know which stream it takes a message from.
                self.doubts.add(wanted);
                self.count(Posted::Unclear)
            }
        }
    }

    /// Notes source and tag of a receive with a ticket: it has completed, or is known to
    /// be complete. Says nothing new the second time.
    pub fn matched(&mut self, ticket: Ticket, source: u32, tag: i32) {
        let Some(slot) = self.slots.get_mut(ticket) else { return };
        let communicator = slot.wanted.communicator;
        let was_cancelled_in_vain = std::mem::take(&mut slot.may_be_cancelled);
        match slot.state {
            State::Open => slot.state = State::Known(Stream { communicator, peer: source, tag }),
            State::Numbered(stream, number) if was_cancelled_in_vain => {
                self.cancelled(stream, number, false);
            }
            _ => {}
        }
        self.number_those_whose_turn_it_is();
    }

    /// Returns the number of a receive that has completed, and for which [`matched`](Self::matched)
    /// has been called.
    pub fn turn(&mut self, ticket: Ticket) -> Turn {
        let Some(slot) = self.slots.get_mut(ticket) else { return self.count(Turn::Unclear) };
        match slot.state {
            State::Numbered(stream, number) => {
                self.slots.free(ticket.slot);
                self.confirm(stream, number)
            }
            State::Unclear | State::Free => {
                self.slots.free(ticket.slot);
                self.count(Turn::Unclear)
            }
            State::Open => Turn::Behind(slot.key),
            State::Known(stream) => {
                let own_key = slot.key;
                Turn::Behind(self.slots.blocker(stream).unwrap_or(own_key))
            }
        }
    }

    /// Returns the number of the message that a receive of the stream would get if it were posted
    /// now. `None` if that is not known.
    #[must_use]
    pub fn next(&self, stream: Stream) -> Option<u64> {
        let is_known = self.doubts.is_none() && !self.slots.has_before(stream, usize::MAX);
        is_known.then(|| self.streams.number(stream).unwrap_or(0))
    }

    /// Returns whether a number from [`Posted::Number`] holds, now that the receive has completed:
    /// it does not if an earlier receive of the stream may have been cancelled.
    #[inline]
    pub fn confirm(&mut self, stream: Stream, number: u64) -> Turn {
        if self.doubts.is_none() || !self.doubts.concern_number(stream, number) {
            Turn::Number(number)
        } else {
            self.count(Turn::Unclear)
        }
    }

    /// Gives up a receive with a ticket, whose companion is not wanted any more. Receives behind
    /// it keep their numbers if its source and tag are known, and are unclear otherwise (a
    /// wildcard whose request was freed).
    pub fn release(&mut self, ticket: Ticket) {
        let Some(slot) = self.slots.get_mut(ticket) else { return };
        match slot.state {
            State::Known(_) => slot.is_released = true,
            State::Open => {
                let wanted = slot.wanted;
                self.doubts.add(wanted);
                self.slots.remove(ticket.slot);
                self.number_those_whose_turn_it_is();
            }
            State::Numbered(..) | State::Unclear | State::Free => self.slots.free(ticket.slot),
        }
        self.unclear += 1;
    }

    /// Notes that the program asks MPI to cancel a receive with a number. Until
    /// [`cancelled`](Self::cancelled) the numbers of later receives of the stream are unclear.
    pub fn cancel(&mut self, stream: Stream, number: u64) {
        self.doubts.ask(stream, number);
    }

    /// Notes the result of [`cancel`](Self::cancel), which the status of the completed
    /// request tells. Where receives were posted to the stream behind it, its numbers remain
    /// unclear for good.
    pub fn cancelled(&mut self, stream: Stream, number: u64, is_cancelled: bool) {
        let is_last = self.streams.number(stream) == Some(number + 1);
        if self.doubts.settle(stream, number, is_cancelled && !is_last)
            && is_cancelled
            && is_last
            && let Some(next) = self.streams.number_mut(stream)
        {
            *next = number;
        }
    }

    /// Notes that the program asks MPI to cancel a receive with a ticket.
    pub fn cancel_ticket(&mut self, ticket: Ticket) {
        if let Some(slot) = self.slots.get_mut(ticket) {
            slot.may_be_cancelled = true;
            if let State::Numbered(stream, number) = slot.state {
                self.doubts.ask(stream, number);
            }
        }
    }

    /// Removes a receive with a ticket that has been cancelled. One that has not been is
    /// [`matched`](Self::matched), as any other.
    pub fn withdraw(&mut self, ticket: Ticket) {
        let Some(slot) = self.slots.get_mut(ticket) else { return };
        if let State::Numbered(stream, number) = slot.state {
            self.slots.free(ticket.slot);
            self.cancelled(stream, number, true);
        } else {
            self.slots.remove(ticket.slot);
            self.number_those_whose_turn_it_is();
        }
    }

    /// Forgets a communicator that is freed, with its receives.
    pub fn remove(&mut self, communicator: u32) {
        self.streams.remove(communicator);
        self.slots.remove_communicator(communicator);
        self.doubts.remove(communicator);
    }

    /// Returns how many receives were unclear, or given up.
    #[must_use]
    pub const fn unclear(&self) -> u64 {
        self.unclear
    }

    /// Returns the next number of a stream, or `None` if nobody can know it.
    #[inline]
    fn number(&mut self, stream: Stream) -> Option<u64> {
        let number = self.streams.next(stream)?;
        if !self.doubts.is_none() && self.doubts.concern(stream) {
            // Should this receive be cancelled, too, nobody could say by how many numbers.
            self.doubts.make_final(stream);
            return None;
        }
        Some(number)
    }

    /// Gives numbers to receives that no unknown one precedes any more, in the order of posting.
    fn number_those_whose_turn_it_is(&mut self) {
        let mut at = 0;
        while let Some(slot) = self.slots.listed(at) {
            let Slot { state, may_be_cancelled, is_released, .. } = *slot;
            let State::Known(stream) = state else {
                at += 1;
                continue;
            };
            if may_be_cancelled || self.slots.has_before(stream, at) {
                at += 1;
                continue;
            }
            let state = self.number(stream).map_or(State::Unclear, |k| State::Numbered(stream, k));
            let slot = self.slots.unlist(at);
            self.slots.set(slot, state);
            if is_released {
                self.slots.free(slot);
            }
        }
    }

    #[inline]
    fn count<T>(&mut self, unclear: T) -> T {
        self.unclear += 1;
        unclear
    }
}

impl<const STREAMS: usize, const OPEN: usize> Default for Receives<STREAMS, OPEN> {
    fn default() -> Self {
        Self::new()
    }
}
