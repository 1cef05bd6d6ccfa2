//! A rank's own side: it writes its page, and finds out who has made it wait.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::primitive::AtomicU64;
use tinyprof_segment::sequence;

use super::budget::Budget;
use super::cause::{Activity, Cause};
use super::costs::Costs;
use super::deferred::Deferred;
use super::instance::Instance;
use super::layout::{ANCHOR_HEAD, SEQUENCE, Sizes, State, WAITS};
use super::list::{self, List, Owned, Word};
use super::log;
use super::page::{Page, Wanted};
use super::pulled::Pulled;
use super::shares::Shares;

mod interval;
mod moments;
mod path;
#[cfg(test)]
mod tests;

/// A call that has waited for another rank. Times are in ns on the clock of the host.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The callpath of the call.
    pub callpath: u64,
    /// The call as an activity: what it did besides waiting.
    pub activity: Activity,
    /// The rank in the world that came last.
    pub partner: u32,
    /// When the call was entered.
    pub entered_ns: u64,
    /// When it was left.
    pub left_ns: u64,
    /// The time that it has waited.
    pub waited_ns: u64,
    /// When the partner came: sent, posted its receive, or entered the operation.
    pub partner_ns: u64,
    /// The time from then on in which the rank had no processor, at least.
    pub lost_ns: u64,
    /// All ranks of the communicator wait for all in this operation: [`Ledger::align`] follows.
    pub is_mutual: bool,
    /// The rank hears of it after the call: its time has been [added](Ledger::add) as work.
    pub is_over: bool,
}

/// Waits of which a ledger could not find the causes, or not all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Waits for ranks whose state could not be read.
    pub unread: u64,
    /// Waits for ranks that had done too much by the time at which their state was read.
    pub late: u64,
    /// Waits for ranks of which it was forgotten when they had synchronised with this one.
    pub forgotten: u64,
    /// Waiting that was too short to be looked at, in ns. A [`Block`](super::Block) knows it.
    pub short_ns: u64,
    /// Waiting of which nobody looked for the cause, in ns. A [`Block`](super::Block) knows it.
    pub unfollowed_ns: u64,
}

impl Losses {
    /// Returns the losses in these words, in the order of the fields.
    pub(super) fn of_words(words: &[AtomicU64]) -> Self {
        let [unread, late, forgotten, short_ns, unfollowed_ns] =
            std::array::from_fn(|at| words[at].get());
        Self { unread, late, forgotten, short_ns, unfollowed_ns }
    }
}

/// The activity clock of a rank, its last synchronisations, its blame and its path.
///
/// One thread writes it. Nothing allocates but [`new`](Self::new).
#[derive(Debug)]
pub struct Ledger<'m> {
    words: &'m [AtomicU64],
    sizes: Sizes,
    rank: u32,
    clock: Owned,
    blame: Owned,
    shares: Shares,
    budget: Budget,
    deferred: Deferred,
    losses: Losses,
    /// The clock as it was at the end of a call that is over.
    then: Box<[u64]>,
    /// A partner that was forgotten, in each set.
    has_forgotten: Box<[bool]>,
}

impl<'m> Ledger<'m> {
    /// The shortest waiting that is always worth a look at the other rank, in ns.
    pub const LONG_NS: u64 = 1_000_000;
    /// The shortest that is as long as the [budget](Self::spend) lasts, in ns.
    pub const FLOOR_NS: u64 = 2_000;
    /// The shortest that is if there was none for [`APART_NS`](Self::APART_NS) besides, in ns.
    pub const SHORT_NS: u64 = 200;
    /// The distance of short waits, in ns.
    pub const APART_NS: u64 = 50_000;

    /// Returns the ledger of a rank in the world, which writes these words, all 0.
    ///
    /// # Panics
    /// If there are fewer words than [`Sizes::words`].
    #[must_use]
    pub fn new(words: &'m [AtomicU64], sizes: Sizes, rank: u32) -> Self {
        Self {
            words: &words[..sizes.words()],
            sizes,
            rank,
            clock: Owned::new(sizes.activities),
            blame: Owned::new(sizes.causes),
            shares: Shares::new(sizes.activities + sizes.causes + 2, sizes.finest),
            budget: Budget::new(),
            deferred: Deferred::default(),
            losses: Losses::default(),
            then: vec![0; list::words(sizes.activities)].into_boxed_slice(),
            has_forgotten: vec![false; sizes.sets()].into_boxed_slice(),
        }
    }

    /// Returns the page, for other ranks.
    #[must_use]
    pub fn page(&self) -> Page<'m> {
        Page::new(self.words, self.sizes)
    }

    /// Returns what could not be found out.
    #[must_use]
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// Adds time of an activity that ends now: all but what is passed to [`wait`](Self::wait).
    ///
    /// # Cost
    /// 3 ns, for an activity that has an entry.
    #[inline]
    pub fn add(&mut self, activity: Activity, ns: u64, now_ns: u64) {
        if sequence::begin_update(&self.words[SEQUENCE]) {
            self.add_within(activity, ns, now_ns);
            sequence::end_update(&self.words[SEQUENCE]);
        }
    }

    /// Adds the times of a call and of the gap behind it, both of which end now, as
    /// [`add`](Self::add) does.
    #[inline]
    pub fn add_both(&mut self, [call, gap]: [(Activity, u64); 2], now_ns: u64) {
        if sequence::begin_update(&self.words[SEQUENCE]) {
            if call.1 > 0 {
                self.add_within(call.0, call.1, now_ns);
            }
            if gap.1 > 0 {
                self.clock.add(&self.words[self.sizes.clock()], gap.0.number(), gap.1);
                log::note_gap(&self.words[self.sizes.log()], now_ns, gap.0.number(), gap.1);
            }
            sequence::end_update(&self.words[SEQUENCE]);
        }
    }

    #[inline]
    fn add_within(&mut self, activity: Activity, ns: u64, now_ns: u64) {
        self.clock.add(&self.words[self.sizes.clock()], activity.number(), ns);
        log::note(&self.words[self.sizes.log()], now_ns, activity.number(), ns);
    }

    /// Returns whether a wait that ends at `left_ns` is long enough for [`wait`](Self::wait);
    /// otherwise it is a part of the call's activity, and [deferred](Self::defer).
    ///
    /// All waits above 1 ms are. Those above 2 us are while looks take 0.5 % of the time, and
    /// shorter ones if none was looked at for 50 us: so a program that only sends small messages to
    /// and fro loses no more than that, and one whose ranks all wait for each other in turn twice
    /// as much.
    #[inline]
    #[must_use]
    pub fn is_worth(&mut self, waited_ns: u64, left_ns: u64) -> bool {
        if waited_ns < Self::FLOOR_NS && (waited_ns < Self::SHORT_NS || !self.is_rested(left_ns)) {
            return false;
        }
        waited_ns >= Self::LONG_NS || self.budget.allows(left_ns)
    }

    /// Notes that a look at another rank has taken this long, with the question and the reading.
    #[inline]
    pub fn spend(&mut self, look_ns: u64) {
        self.budget.spend(look_ns);
    }

    /// Keeps a wait that was not worth a look until one of the same call for the same rank is: what
    /// both did since they synchronised explains all of them. Returns the time that had to be given
    /// up for it, in ns: its cause stays unknown.
    #[inline]
    #[must_use]
    pub fn defer(&mut self, callpath: u64, partner: u32, waited_ns: u64) -> u64 {
        self.deferred.add(callpath, partner, waited_ns)
    }

    /// Gives up the waits that were deferred, and returns their time, in ns.
    #[must_use]
    pub fn give_up(&mut self) -> u64 {
        self.deferred.give_up()
    }

    fn is_rested(&self, now_ns: u64) -> bool {
        let last_ns = self.words[self.state().since].get();
        now_ns.saturating_sub(last_ns) >= Self::APART_NS
    }

    /// Returns what to ask of a rank that this one has waited for until it came at `partner_ns`.
    #[must_use]
    pub fn wanted(&self, partner: u32, partner_ns: u64) -> Wanted {
        let since_ns = self.partner(partner).map_or(0, |place| self.words[place + 1].get());
        let instances = std::array::from_fn(|number| {
            let at = self.sizes.anchor(number);
            let [communicator, number] = [at, at + 1].map(|word| self.words[word].get());
            Instance { communicator, number }
        });
        Wanted { reader: self.rank, until_ns: partner_ns, since_ns, instances }
    }

    /// Returns what a rank will want to know of this one, which cannot ask: all since both have
    /// synchronised, as far as this one knows, for itself or in operations of these communicators,
    /// which both have.
    #[must_use]
    pub fn told(&self, reader: u32, now_ns: u64, communicators: [u64; 2]) -> Wanted {
        let all = self.wanted(reader, now_ns);
        let is_common = |of: Instance| communicators.contains(&of.communicator);
        let instances =
            all.instances.map(|of| if is_common(of) { of } else { Instance::default() });
        Wanted { reader, since_ns: 0, instances, ..all }
    }

    /// Finds out what has made a call wait, and adds it to `costs`. `partner` is the state of the
    /// rank that was waited for; `None` if it could not be read.
    ///
    /// # Cost
    /// With the question and the reading 260 ns between 2 ranks, and 20 ns for each further cause,
    /// where both ranks share a cache.
    pub fn wait(&mut self, wait: &Wait, partner: Option<&Pulled>, costs: &mut Costs<'_>) {
        if !sequence::begin_update(&self.words[SEQUENCE]) {
            return;
        }
        let all_ns = wait.waited_ns + self.deferred.take(wait.callpath, wait.partner);
        self.shares.clear(all_ns);
        match partner {
            Some(pulled) => {
                self.losses.late += u64::from(pulled.is_late);
                self.explain(wait, pulled);
            }
            None => {
                self.losses.unread += 1;
                self.shares.direct(Cause::new(wait.partner, Activity::OTHER), all_ns);
            }
        }
        let is_late = partner.is_some_and(|pulled| pulled.is_late);
        // Where the rank has taken over another path meanwhile, that one counts.
        let since_ns = self.words[self.state().since].get();
        let is_superseded =
            wait.is_over && (since_ns > wait.left_ns || is_late || !self.look_back(wait.left_ns));
        let state = self.next_state(wait.left_ns.max(since_ns));
        let blame = &self.words[state.blame[0]..state.blame[1]];
        let parts = self.shares.of_waiting().inspect(|(cause, _, ns)| match *cause {
            Cause::OTHER => Owned::add_other(blame, *ns),
            cause => self.blame.add(blame, cause.to_word(), *ns),
        });
        costs.add(wait.callpath, parts);
        let in_call_ns = wait.left_ns.saturating_sub(wait.entered_ns);
        let in_call_ns = if wait.is_over { 0 } else { in_call_ns };
        let other_ns = in_call_ns.saturating_sub(wait.waited_ns);
        let lost_ns = wait.lost_ns.min(other_ns);
        self.add_within(wait.activity, other_ns - lost_ns, wait.left_ns);
        if lost_ns > 0 {
            self.add_within(Activity::NO_PROCESSOR, lost_ns, wait.left_ns);
        }
        match partner {
            _ if is_superseded => self.keep_path(&state),
            Some(pulled) => {
                self.take_path(wait, pulled, &state);
                if !wait.is_mutual {
                    self.synchronise(wait, pulled);
                }
            }
            None => {
                self.keep_path(&state);
                if !wait.is_over {
                    self.add_to_path(wait, &state);
                }
            }
        }
        sequence::end_update(&self.words[SEQUENCE]);
    }

    /// Notes the end of an operation in which all ranks of a communicator wait for each other.
    /// Every rank calls it, after [`wait`](Self::wait) if it has waited.
    pub fn align(&mut self, instance: Instance, left_ns: u64) {
        if !sequence::begin_update(&self.words[SEQUENCE]) {
            return;
        }
        let at = self.sizes.anchor(self.anchor_to_replace(instance.communicator));
        let head = [instance.communicator, instance.number, left_ns];
        for (word, value) in self.words[at..].iter().zip(head) {
            word.store(value, Relaxed);
        }
        self.share_moment(at + ANCHOR_HEAD, self.clock(), self.blame());
        sequence::end_update(&self.words[SEQUENCE]);
    }

    fn clock(&self) -> List<'m, AtomicU64> {
        List::new(&self.words[self.sizes.clock()])
    }

    fn blame(&self) -> List<'m, AtomicU64> {
        let [begin, end] = self.state().blame;
        List::new(&self.words[begin..end])
    }

    fn state(&self) -> State {
        self.sizes.state(self.words[WAITS].get())
    }

    /// Begins the state after a wait, as a copy of the one before. Within a change.
    fn next_state(&self, left_ns: u64) -> State {
        let (before, waits) = (self.state(), self.words[WAITS].get().wrapping_add(1));
        let next = self.sizes.state(waits);
        self.words[next.since].store(left_ns, Relaxed);
        for (from, to) in [(before.base, next.base), (before.blame, next.blame)] {
            List::new(&self.words[from[0]..from[1]]).share(&self.words[to[0]..to[1]]);
        }
        self.words[WAITS].store(waits, Relaxed);
        next
    }
}
