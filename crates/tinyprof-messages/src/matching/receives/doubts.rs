//! Streams whose numbers nobody can know: a receive of unknown effect was posted to them.

use super::super::{Stream, Wanted};

/// The doubts that are kept apart. Beyond them every stream is in doubt.
const CAPACITY: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Doubt {
    wanted: Wanted,
    /// Receives with this number or a lower one are not concerned.
    above: Option<u64>,
    /// It ends when MPI tells whether that receive has been cancelled.
    is_open: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Doubts {
    doubts: [Doubt; CAPACITY],
    used: usize,
    about_all: bool,
}

impl Doubts {
    pub(super) const fn new() -> Self {
        let wanted = Wanted { communicator: 0, source: None, tag: None };
        let doubt = Doubt { wanted, above: None, is_open: false };
        Self { doubts: [doubt; CAPACITY], used: 0, about_all: false }
    }

    #[inline]
    pub(super) const fn is_none(&self) -> bool {
        self.used == 0 && !self.about_all
    }

    /// Doubts the numbers of all receives that are posted from now on to what `wanted` accepts.
    pub(super) fn add(&mut self, wanted: Wanted) {
        let mut known = self.doubts[..self.used].iter();
        if !known.any(|doubt| doubt.wanted == wanted && doubt.above.is_none()) {
            self.push(Doubt { wanted, above: None, is_open: false });
        }
    }

    /// Doubts the numbers above that of a receive that MPI is asked to cancel.
    pub(super) fn ask(&mut self, stream: Stream, number: u64) {
        self.push(Doubt { wanted: stream.into(), above: Some(number), is_open: true });
    }

    /// Makes the doubts about a stream final: a receive was posted behind.
    pub(super) fn make_final(&mut self, stream: Stream) {
        for doubt in &mut self.doubts[..self.used] {
            doubt.is_open &= !doubt.wanted.accepts(stream);
        }
    }

    /// Ends the doubt about the receive with this number, or makes it final. Returns whether there
    /// was one.
    pub(super) fn settle(&mut self, stream: Stream, number: u64, is_final: bool) -> bool {
        let wanted = Wanted::from(stream);
        let mut doubts = self.doubts[..self.used].iter();
        let found = doubts.position(|doubt| {
            doubt.is_open && doubt.wanted == wanted && doubt.above == Some(number)
        });
        let Some(at) = found else { return false };
        if is_final {
            self.doubts[at].is_open = false;
        } else {
            self.used -= 1;
            self.doubts[at] = self.doubts[self.used];
        }
        true
    }

    /// Returns whether the numbers of receives that are posted now are in doubt.
    pub(super) fn concern(&self, stream: Stream) -> bool {
        self.about_all || self.doubts[..self.used].iter().any(|d| d.wanted.accepts(stream))
    }

    /// Returns whether a number that has been given is in doubt.
    pub(super) fn concern_number(&self, stream: Stream, number: u64) -> bool {
        let mut doubts = self.doubts[..self.used].iter();
        self.about_all
            || doubts.any(|doubt| {
                doubt.wanted.accepts(stream) && doubt.above.is_some_and(|above| number > above)
            })
    }

    pub(super) fn remove(&mut self, communicator: u32) {
        let mut at = 0;
        while at < self.used {
            if self.doubts[at].wanted.communicator == communicator {
                self.used -= 1;
                self.doubts[at] = self.doubts[self.used];
            } else {
                at += 1;
            }
        }
    }

    fn push(&mut self, doubt: Doubt) {
        if let Some(place) = self.doubts.get_mut(self.used) {
            *place = doubt;
            self.used += 1;
        } else {
            self.about_all = true;
        }
    }
}
