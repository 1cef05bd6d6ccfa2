//! The moments at which a rank has synchronised with others.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::{Ledger, Wait};
use crate::delay::instance::Instance;
use crate::delay::layout::{ANCHORS, PARTNER_HEAD, WAYS};
use crate::delay::list::{List, Word};
use crate::delay::pulled::Pulled;

impl Ledger<'_> {
    pub(super) fn partner(&self, rank: u32) -> Option<usize> {
        self.page().partner(rank)
    }

    pub(super) fn anchor(&self, instance: Instance) -> Option<usize> {
        (0..ANCHORS).map(|number| self.sizes.anchor(number)).find(|at| {
            let [communicator, number] = [*at, *at + 1].map(|word| self.words[word].get());
            Instance { communicator, number } == instance
        })
    }

    /// Returns the anchor that gives way. Two of a communicator are kept: the partner in an
    /// operation may have left it when this rank compares both since the one before.
    pub(super) fn anchor_to_replace(&self, communicator: u64) -> usize {
        let head = |number: usize| self.sizes.anchor(number);
        let is_same = |number: &usize| self.words[head(*number)].get() == communicator;
        let is_full = (0..ANCHORS).filter(is_same).count() >= 2;
        let giving_way = (0..ANCHORS).filter(|number| !is_full || is_same(number));
        giving_way.min_by_key(|number| self.words[head(*number) + 2].get()).unwrap_or(0)
    }

    /// Notes that this rank and its partner have synchronised.
    pub(super) fn synchronise(&mut self, wait: &Wait, pulled: &Pulled) {
        let at = self.partner(wait.partner).unwrap_or_else(|| {
            let set = wait.partner as usize % self.sizes.sets();
            let places = (set * WAYS..(set + 1) * WAYS).map(|number| self.sizes.partner(number));
            let oldest = places.min_by_key(|place| self.words[place + 1].get());
            let at = oldest.unwrap_or_else(|| self.sizes.partner(0));
            self.has_forgotten[set] |= self.words[at].get() != 0;
            at
        });
        self.words[at].store(u64::from(wait.partner) + 1, Relaxed);
        self.words[at + 1].store(wait.left_ns, Relaxed);
        let (clock, blame) = self.sizes.of_moment(at + PARTNER_HEAD);
        self.share_clock_of(wait, &self.words[clock]);
        self.blame().share(&self.words[blame]);
        let its = at + PARTNER_HEAD + self.sizes.moment();
        self.share_moment(its, pulled.clock(), pulled.blame());
    }

    /// Shares the clock as it was when a wait ended.
    pub(super) fn share_clock_of(&self, wait: &Wait, target: &[AtomicU64]) {
        if wait.is_over {
            List::new(&self.then[..]).share(target);
        } else {
            self.clock().share(target);
        }
    }

    pub(super) fn share_moment<W: Word>(&self, at: usize, clock: List<'_, W>, blame: List<'_, W>) {
        let (to_clock, to_blame) = self.sizes.of_moment(at);
        clock.share(&self.words[to_clock]);
        blame.share(&self.words[to_blame]);
    }
}
