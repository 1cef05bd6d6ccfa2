//! The path that ends at a rank: the chain of activities that its time follows from.

use tinyprof_segment::primitive::AtomicU64;

use super::{Ledger, State, Wait};
use crate::delay::cause::{Activity, Cause};
use crate::delay::layout::{Sizes, WAITS};
use crate::delay::list::{self, List, Word};
use crate::delay::log;
use crate::delay::parts::{PathPart, path_of};
use crate::delay::pulled::Pulled;

impl Ledger<'_> {
    /// Returns the path that ends at this rank now, the longest part first: the critical path, if
    /// it is the last one. Its sum is the time since the ranks began. Allocates.
    #[must_use]
    pub fn path(&self) -> Vec<PathPart> {
        path_of(Self::parts_in(self.words, self.sizes, self.rank))
    }

    /// Returns the parts of the path of a rank from its words, in which a cause may come several
    /// times. Their reader must know that they did not change.
    pub(in crate::delay) fn parts_in(
        words: &[AtomicU64],
        sizes: Sizes,
        rank: u32,
    ) -> impl Iterator<Item = (Cause, u64)> {
        let state = sizes.state(words[WAITS].get());
        let path = List::new(&words[state.path[0]..state.path[1]]);
        let inherited = path.entries().map(|(cause, ns)| (Cause::from_word(cause), ns));
        let base = List::new(&words[state.base[0]..state.base[1]]);
        let clock = List::new(&words[sizes.clock()]);
        let (own, rest_ns) = own_part(clock, base, rank);
        let other = Cause::new(rank, Activity::OTHER);
        let rest = [(other, rest_ns), (Cause::OTHER, path.rest_ns())];
        inherited.chain(own).chain(rest)
    }

    /// Takes over the path of the rank that was waited for, and the way from there.
    pub(super) fn take_path(&mut self, wait: &Wait, pulled: &Pulled, state: &State) {
        let words = &self.words[state.path[0]..state.path[1]];
        pulled.path().share(words);
        let (own, rest_ns) = own_part(pulled.clock(), pulled.base(), wait.partner);
        let way = Cause::new(self.rank, wait.activity);
        let way_ns = wait.left_ns.saturating_sub(wait.partner_ns);
        let lost_ns = wait.lost_ns.min(way_ns);
        let lost = Cause::new(self.rank, Activity::NO_PROCESSOR);
        let other = Cause::new(wait.partner, Activity::OTHER);
        for (cause, ns) in own.chain([(other, rest_ns), (way, way_ns - lost_ns), (lost, lost_ns)]) {
            if ns > 0 {
                list::merge(words, cause.to_word(), ns);
            }
        }
        self.share_clock_of(wait, &self.words[state.base[0]..state.base[1]]);
    }

    /// Keeps the rank's path.
    pub(super) fn keep_path(&self, state: &State) {
        let before = self.sizes.state(self.words[WAITS].get().wrapping_sub(1)).path;
        let words = &self.words[state.path[0]..state.path[1]];
        List::new(&self.words[before[0]..before[1]]).share(words);
    }

    /// Adds waiting to the rank's own path: nobody knows that of its partner.
    pub(super) fn add_to_path(&self, wait: &Wait, state: &State) {
        let words = &self.words[state.path[0]..state.path[1]];
        let cause = Cause::new(self.rank, wait.activity);
        list::merge(words, cause.to_word(), wait.waited_ns);
    }

    /// Finds out what the clock was at an earlier time. Returns false if nobody knows any more.
    pub(super) fn look_back(&mut self, then_ns: u64) -> bool {
        List::new(&self.words[self.sizes.clock()]).copy_to(&mut self.then);
        log::take_back(&self.words[self.sizes.log()], then_ns, &mut self.then)
    }
}

/// Returns what a rank has done since it took over its path, and the part of no entry.
fn own_part<'a, W: Word, B: Word>(
    clock: List<'a, W>,
    base: List<'a, B>,
    rank: u32,
) -> (impl Iterator<Item = (Cause, u64)> + use<'a, W, B>, u64) {
    let rest_ns =
        clock.since(base).fold(clock.total_since(base), |rest, (_, ns)| rest.saturating_sub(ns));
    let of = move |(activity, ns)| (Cause::new(rank, Activity::from_number(activity)), ns);
    (clock.since(base).map(of), rest_ns)
}
