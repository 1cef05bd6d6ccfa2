//! What has made the rank wait: its ledger, in memory that the ranks of its host share.
//!
//! ```text
//!  a call begins     enter    adds the call before, and the gap between both
//!  it has waited     wait     reads the page of the rank that it waited for, at once
//!  operation of all  align    the ranks have synchronised
//! ```
//!
//! One thread writes a page: waiting of other threads, where they may call MPI at the same time, is
//! counted as not followed. So is waiting for one-sided accesses and locks.
//!
//! Now and then the rank copies what it has found out to its segment, where it survives `kill -9`.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use tinyprof::__calls::{self, CallpathId, EdgeKey, Recorder};
use tinyprof_messages::delay::{
    Activity, Block, Costs, Instance, Kept, Ledger, Page, Pulled, Sizes, Wait,
};

use super::common_clock::Span;

/// The block of this process.
static OWN: OnceLock<Block<'static>> = OnceLock::new();

/// The ledger of the rank, which one thread at a time writes.
#[derive(Debug)]
pub(super) struct Causes {
    block: Block<'static>,
    ledger: Ledger<'static>,
    costs: Costs<'static>,
    /// The state of the rank that was waited for.
    pulled: Pulled,
    /// The words of the last rank of an operation.
    heard: Vec<u64>,
    rank: u32,
    /// Up to when all time is in the ledger, or collected, in ns.
    known_ns: u64,
    /// What is to be added to the ledger.
    pairs: [Pair; PAIRS],
    collected_ns: u64,
    /// The words that survive the process, if there are any.
    kept: Option<Kept<'static>>,
    /// When the next copy is due, in ns.
    copy_ns: u64,
}

/// No rank of the world has this number.
const NOBODY: u32 = u32::MAX - 1;

/// The least time between two copies, in ns: they take less than 1/10,000 of it.
const COPY_NS: u64 = 20_000_000;

/// The pairs of calls whose times are collected.
const PAIRS: usize = 8;
/// A call and a gap are added at once that take as long, in ns: others may wait for them.
const LONG_NS: u64 = Ledger::FLOOR_NS / 2;
/// As much of shorter ones is collected, in ns.
const COLLECTED_NS_MAX: u64 = 20_000;

/// A call, the next one, and the time of the first and of the gap between both, in ns.
#[derive(Clone, Copy, Debug)]
struct Pair {
    callpaths: [CallpathId; 2],
    call_ns: u64,
    gap_ns: u64,
}

impl Pair {
    const fn of(callpaths: [CallpathId; 2]) -> Self {
        Self { callpaths, call_ns: 0, gap_ns: 0 }
    }

    /// Returns where it is collected. Callpaths are hashes.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a remainder")]
    const fn place(from: CallpathId, to: CallpathId) -> usize {
        (((from.to_bits() >> 8) ^ to.to_bits()) % PAIRS as u64) as usize
    }
}

/// Where a call has waited, and for whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waited {
    /// The callpath of the call.
    pub(super) callpath: CallpathId,
    /// The rank that came last, relative to this one in the world.
    pub(super) partner: i32,
    pub(super) span: Span,
    /// The time until it came, since the call was entered, in ns.
    pub(super) until_ns: u64,
    /// The waiting, in ns: shorter if the call had waited for others before.
    pub(super) waiting_ns: u64,
    /// All ranks have waited for all: [`Causes::align`] follows.
    pub(super) is_mutual: bool,
    pub(super) words: Words,
}

/// How a rank knows what one of another host did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// It may have told with a message.
    Asked,
    /// It has told all that have waited for it.
    Heard,
    /// It may do so after a later operation.
    Later,
}

impl Waited {
    /// Returns the waiting of a call for a message of a rank, relative to this one.
    #[inline(always)]
    pub(super) const fn by(partner: i32, callpath: CallpathId, span: Span, ns: u64) -> Self {
        Self {
            callpath,
            partner,
            span,
            until_ns: ns,
            waiting_ns: ns,
            is_mutual: false,
            words: Words::Asked,
        }
    }
}

/// Where the state of a rank is that was waited for.
#[derive(Debug)]
pub(super) enum Told<'mail> {
    /// In memory that it shares with this one.
    Page(Page<'static>),
    /// In words that it has sent.
    Mail(&'mail [u64]),
    /// In words that it has told all.
    Heard,
}

impl Causes {
    /// Begins to write the words of a rank in the world, all 0. Time counts from `origin_ns` on.
    pub(super) fn new(
        words: &'static [AtomicU64],
        rank: u32,
        origin_ns: u64,
        recorder: Recorder,
    ) -> Self {
        let block = Block::new(words, Sizes::RECORDER);
        let (ledger, costs) = block.begin(rank);
        OWN.get_or_init(|| block);
        __calls::keep_causes(words);
        Self {
            block,
            ledger,
            costs,
            pulled: Pulled::new(Sizes::RECORDER),
            heard: Vec::with_capacity(Pulled::mail_words(&Sizes::RECORDER)),
            rank,
            known_ns: origin_ns,
            pairs: [Pair::of([EdgeKey::UNKNOWN; 2]); PAIRS],
            collected_ns: 0,
            kept: recorder
                .kept_words(Kept::words(&Sizes::RECORDER))
                .and_then(|words| Kept::new(words, Sizes::RECORDER)),
            copy_ns: 0,
        }
    }

    /// Adds the call that was left at `left_ns`, without its waiting, and the gap up to the next
    /// one; in each of both the rank had no processor for `lost_ns`. Short ones are collected: a
    /// rank that is waited for has just done something longer.
    #[inline]
    pub(super) fn enter(
        &mut self,
        [from, to]: [CallpathId; 2],
        left_ns: u64,
        entered_ns: u64,
        lost_ns: [u64; 2],
    ) {
        let left_ns = match from {
            // All ranks count from the same moment.
            EdgeKey::UNKNOWN => self.known_ns,
            _ => left_ns.clamp(self.known_ns, entered_ns.max(self.known_ns)),
        };
        let call_ns = left_ns - self.known_ns;
        let gap_ns = entered_ns.saturating_sub(left_ns);
        self.known_ns = left_ns + gap_ns;
        let lost_ns = [lost_ns[0].min(call_ns), lost_ns[1].min(gap_ns)];
        let place = Pair::place(from, to);
        if self.pairs[place].callpaths != [from, to] {
            self.replace(place, [from, to]);
        }
        let pair = &mut self.pairs[place];
        pair.call_ns += call_ns - lost_ns[0];
        pair.gap_ns += gap_ns - lost_ns[1];
        self.collected_ns += call_ns + gap_ns;
        if call_ns + gap_ns >= LONG_NS || self.collected_ns >= COLLECTED_NS_MAX {
            self.add_collected();
        }
        let lost_ns = lost_ns[0] + lost_ns[1];
        if lost_ns > 0 {
            self.ledger.add(Activity::NO_PROCESSOR, lost_ns, self.known_ns);
        }
    }

    #[cold]
    #[inline(never)]
    fn replace(&mut self, place: usize, callpaths: [CallpathId; 2]) {
        let pair = std::mem::replace(&mut self.pairs[place], Pair::of(callpaths));
        self.add(&pair);
    }

    /// Adds what was collected.
    #[inline(never)]
    pub(super) fn add_collected(&mut self) {
        for place in 0..PAIRS {
            let pair = self.pairs[place];
            if pair.call_ns | pair.gap_ns != 0 {
                self.pairs[place] = Pair::of(pair.callpaths);
                self.add(&pair);
            }
        }
        self.collected_ns = 0;
        self.keep();
    }

    /// Copies what is known to words that survive the process, if it was long ago.
    #[inline]
    fn keep(&mut self) {
        if self.known_ns >= self.copy_ns {
            self.copy_ns = self.known_ns + COPY_NS;
            if let Some(kept) = &self.kept {
                self.block.keep(kept);
            }
        }
    }

    fn add(&mut self, pair: &Pair) {
        let [from, to] = pair.callpaths;
        let call = __calls::Activity::Call(from).number();
        let gap = __calls::Activity::Gap { from, to }.number();
        let call = (Activity::from_number(call), pair.call_ns);
        let gap = (Activity::from_number(gap), pair.gap_ns);
        self.ledger.add_both([call, gap], self.known_ns);
    }

    /// Returns whether a wait is long enough to look for its cause. Defers it if it is not.
    #[inline]
    pub(super) fn is_worth(&mut self, waited: &Waited) -> bool {
        let left_ns = waited.span.left_ns.max(self.known_ns);
        let is_worth = self.ledger.is_worth(waited.waiting_ns, left_ns);
        if !is_worth {
            self.defer(waited);
        }
        is_worth
    }

    /// Keeps a wait until a later one of the same call for the same rank is explained.
    pub(super) fn defer(&mut self, waited: &Waited) {
        let partner = self.rank.wrapping_add_signed(waited.partner);
        let callpath = waited.callpath.to_bits();
        self.give_up(|ledger| ledger.defer(callpath, partner, waited.waiting_ns));
    }

    /// Counts the waiting whose cause stays unknown.
    #[inline]
    fn give_up(&mut self, of: impl FnOnce(&mut Ledger<'static>) -> u64) {
        let given_up_ns = of(&mut self.ledger);
        if given_up_ns > 0 {
            self.block.add_short(given_up_ns);
        }
    }

    /// Notes what it has cost to look for a cause.
    pub(super) fn spend(&mut self, look_ns: u64) {
        self.ledger.spend(look_ns);
    }

    /// Adds what is left when the rank ends.
    pub(super) fn end(&mut self) {
        self.add_collected();
        self.give_up(Ledger::give_up);
    }

    #[cold]
    #[inline(never)]
    pub(super) fn wait(&mut self, waited: &Waited, told: Option<&Told<'_>>, lost_ns: u64) {
        self.add_collected();
        let Waited { callpath, span, .. } = *waited;
        // What was heard of a call after its end was work meanwhile.
        let is_over = span.left_ns < self.known_ns;
        let left_ns = span.left_ns;
        let Some(partner) = self.rank.checked_add_signed(waited.partner) else {
            return self.block.add_unfollowed(waited.waiting_ns);
        };
        let partner_ns = (span.entered_ns + waited.until_ns).min(left_ns);
        let wanted = self.ledger.wanted(partner, partner_ns);
        let is_read = match told {
            Some(Told::Page(page)) => page.pull(&wanted, &mut self.pulled),
            // All ranks have one clock.
            Some(Told::Mail(words)) => self.pulled.read_mail(words, 0),
            Some(Told::Heard) => self.pulled.read_mail(&self.heard, 0),
            None => false,
        };
        let wait = Wait {
            callpath: callpath.to_bits(),
            activity: Activity::from_number(__calls::Activity::Call(callpath).number()),
            partner,
            entered_ns: self.known_ns,
            left_ns,
            waited_ns: waited.waiting_ns,
            partner_ns,
            lost_ns,
            is_mutual: waited.is_mutual,
            is_over,
        };
        self.ledger.wait(&wait, is_read.then_some(&self.pulled), &mut self.costs);
        self.block.note(&self.ledger.losses());
        self.known_ns = self.known_ns.max(left_ns);
        self.keep();
    }

    /// Writes what a rank of another host, relative to this one, may want to know of this one at
    /// `now_ns`. Both have these communicators in common, by name. Returns the number of words;
    /// none if there is no such rank.
    #[cold]
    #[inline(never)]
    pub(super) fn tell(
        &mut self,
        relative: i32,
        common: [u64; 2],
        now_ns: u64,
        words: &mut [u64],
    ) -> Option<usize> {
        let reader = self.rank.checked_add_signed(relative)?;
        self.pull_own(reader, common, now_ns).then(|| self.pulled.to_mail(words))
    }

    /// Writes what ranks of other hosts may want to know of this one, which was the last of an
    /// operation at `now_ns`. Returns the number of words; none if there is not enough room.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_all(
        &mut self,
        common: [u64; 2],
        now_ns: u64,
        words: &mut [u64],
    ) -> Option<usize> {
        if !self.pull_own(NOBODY, common, now_ns) {
            return None;
        }
        self.heard.resize(Pulled::mail_words(&Sizes::RECORDER), 0);
        let written = self.pulled.to_mail(&mut self.heard);
        words.get_mut(..written)?.copy_from_slice(&self.heard[..written]);
        Some(written)
    }

    fn pull_own(&mut self, reader: u32, common: [u64; 2], now_ns: u64) -> bool {
        self.add_collected();
        let wanted = self.ledger.told(reader, now_ns, common);
        self.ledger.page().pull(&wanted, &mut self.pulled)
    }

    /// Keeps what the last rank of an operation has told.
    pub(super) fn hear(&mut self, words: &[u64]) {
        self.heard.clear();
        self.heard.extend_from_slice(words);
    }

    /// Notes the end of an operation in which all ranks have waited for all.
    pub(super) fn align(&mut self, instance: Instance, left_ns: u64) {
        self.add_collected();
        self.give_up(Ledger::give_up);
        self.ledger.align(instance, left_ns);
    }
}

/// Counts waiting of which nobody looks for the cause.
#[cold]
#[inline(never)]
pub(super) fn not_explained(waiting_ns: u64) {
    if let Some(own) = OWN.get() {
        own.add_unfollowed(waiting_ns);
    }
}
