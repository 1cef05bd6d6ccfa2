//! Receives without a number: slots that tickets name, and their order of posting.

use super::super::{Stream, Wanted};
use super::Ticket;

/// What is known of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Free,
    /// A wildcard, whose message is not known.
    Open,
    /// The stream is known, the number is not.
    Known(Stream),
    /// No longer in the list.
    Numbered(Stream, u64),
    /// No longer in the list, and will never have a number.
    Unclear,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) wanted: Wanted,
    pub(super) state: State,
    pub(super) key: u64,
    generation: u32,
    /// Nobody asks for its number, but the stream has to be counted.
    pub(super) is_released: bool,
    pub(super) may_be_cancelled: bool,
}

/// At most `N` slots, and a list of those that are open or known. Both have room from the begin,
/// and touch what is used of it.
#[derive(Clone, Debug)]
pub(super) struct Slots<const N: usize> {
    slots: Vec<Slot>,
    /// Slots in the order in which their receives were posted.
    list: Vec<u32>,
}

impl<const N: usize> Slots<N> {
    pub(super) fn new() -> Self {
        Self { slots: Vec::with_capacity(N), list: Vec::with_capacity(N) }
    }

    /// Appends a receive. Returns its slot and generation, or `None` if all slots are taken.
    pub(super) fn push(&mut self, wanted: Wanted, state: State, key: u64) -> Option<(u32, u32)> {
        let free = self.slots.iter().position(|slot| slot.state == State::Free);
        let index = free.unwrap_or(self.slots.len());
        let generation = self.slots.get(index).map_or(0, |slot| slot.generation).wrapping_add(1);
        let (is_released, may_be_cancelled) = (false, false);
        let new = Slot { wanted, state, key, generation, is_released, may_be_cancelled };
        match self.slots.get_mut(index) {
            Some(slot) => *slot = new,
            None if index < N => self.slots.push(new),
            None => return None,
        }
        let slot = u32::try_from(index).ok()?;
        self.list.push(slot);
        Some((slot, generation))
    }

    pub(super) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(ticket.slot as usize)?;
        (slot.generation == ticket.generation && slot.state != State::Free).then_some(slot)
    }

    /// Returns whether one of the first `end` receives of the list gets, or may get, a message of
    /// the stream.
    #[inline]
    pub(super) fn has_before(&self, stream: Stream, end: usize) -> bool {
        self.list.iter().take(end).any(|slot| {
            let slot = &self.slots[*slot as usize];
            match slot.state {
                State::Open => slot.wanted.accepts(stream),
                State::Known(known) => known == stream,
                State::Free | State::Numbered(..) | State::Unclear => false,
            }
        })
    }

    /// Returns the key of the first receive whose message is not known and may be of the stream.
    pub(super) fn blocker(&self, stream: Stream) -> Option<u64> {
        let mut listed = self.list.iter().map(|slot| &self.slots[*slot as usize]);
        let blocker = listed.find(|slot| {
            let is_unknown = slot.state == State::Open || slot.may_be_cancelled;
            is_unknown && slot.wanted.accepts(stream)
        });
        blocker.map(|slot| slot.key)
    }

    /// Returns a receive by its position in the list.
    pub(super) fn listed(&self, at: usize) -> Option<&Slot> {
        let slot = self.list.get(at)?;
        Some(&self.slots[*slot as usize])
    }

    /// Takes a receive out of the list by its position. Returns its slot, which stays taken.
    pub(super) fn unlist(&mut self, at: usize) -> u32 {
        self.list.remove(at)
    }

    pub(super) fn set(&mut self, slot: u32, state: State) {
        self.slots[slot as usize].state = state;
    }

    /// Frees a slot that is not in the list.
    pub(super) fn free(&mut self, slot: u32) {
        self.set(slot, State::Free);
    }

    /// Takes a slot out of the list, if it is there, and frees it.
    pub(super) fn remove(&mut self, slot: u32) {
        if let Some(at) = self.list.iter().position(|listed| *listed == slot) {
            self.unlist(at);
        }
        self.free(slot);
    }

    pub(super) fn remove_communicator(&mut self, communicator: u32) {
        for slot in (0_u32..).take(self.slots.len()) {
            let found = &self.slots[slot as usize];
            if found.state != State::Free && found.wanted.communicator == communicator {
                self.remove(slot);
            }
        }
    }
}
