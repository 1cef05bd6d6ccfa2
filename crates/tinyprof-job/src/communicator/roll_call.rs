//! A roll call that finds out which ranks are present when some are late, so that a missed deadline
//! can be reported with the missing ranks.
//!
//! A rank that has waited a good part of its deadline sends a word to each of the first ranks. They
//! count those words when their own deadline passes: a rank that sent none is missing. So a flush
//! without late ranks sends nothing, and the ranks of a large run do not all write to each other.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use crate::sys::{Pending, PrivateCommunicator};

/// The number of ranks that keep a list. If as many are missing, no rank can say which ones.
const LISTENERS: u32 = 16;

/// The tag of these messages. Messages of the phases have tag 0.
const TAG: i32 = 1;

/// The word "I have waited for long".
const HERE: u8 = 0;
/// The word "I have informed the user that the flush has failed".
const TOLD: u8 = 1;

/// A word that a rank has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Word {
    flush: u64,
    from: u32,
    what: u8,
}

/// One rank's view of the others during a flush.
#[derive(Default)]
pub(super) struct RollCall {
    /// The number of this flush, which keeps a word of an earlier flush from being taken for one of
    /// this.
    flush: Cell<u64>,
    has_called: Cell<bool>,
    /// The words that have arrived, including those of a flush that the caller has not come to yet.
    heard: RefCell<BTreeSet<Word>>,
    words: RefCell<Vec<Pending<Vec<u8>>>>,
}

impl RollCall {
    /// Begins a flush, and receives the words that an earlier one has left.
    pub(super) fn begin(&self, link: &PrivateCommunicator) {
        self.listen(link);
        let flush = self.flush.get() + 1;
        self.flush.set(flush);
        self.has_called.set(false);
        self.heard.borrow_mut().retain(|word| word.flush >= flush);
    }

    /// Tells the first ranks that the caller is present: once in a flush, when a wait has become
    /// long.
    pub(super) fn call_once(&self, link: &PrivateCommunicator) {
        if !self.has_called.replace(true) {
            self.say(link, HERE, LISTENERS.min(link.size()));
        }
    }

    /// Returns the ranks that have given no sign, or none if the caller keeps no list. Also returns
    /// whether the caller, as the first of the ranks that are left, is to inform the user.
    pub(super) fn missing(&self, link: &PrivateCommunicator) -> (Vec<u32>, bool) {
        self.call_once(link);
        if link.rank() >= LISTENERS {
            return (Vec::new(), false);
        }
        self.listen(link);
        let heard = self.heard.borrow();
        let words = || heard.iter().filter(|word| word.flush == self.flush.get());
        let there: BTreeSet<u32> = words().map(|word| word.from).chain([link.rank()]).collect();
        let missing: Vec<u32> = (0..link.size()).filter(|rank| !there.contains(rank)).collect();
        let is_told = words().any(|word| word.what == TOLD);
        let is_reporter = !is_told && there.first() == Some(&link.rank());
        if is_reporter {
            // A lower rank that comes later need not report it again.
            self.say(link, TOLD, link.rank());
        }
        (missing, is_reporter)
    }

    /// Sends a word to the first `ranks` ranks except the caller. A word that is not on its way at
    /// once is abandoned.
    fn say(&self, link: &PrivateCommunicator, what: u8, ranks: u32) {
        for to in (0..ranks).filter(|&to| to != link.rank()) {
            let word = [&[what], &self.flush.get().to_le_bytes()[..]].concat();
            // If a word cannot be sent, this rank will be reported missing, which it then is.
            self.words.borrow_mut().extend(link.send(to, TAG, word));
        }
        self.words.borrow_mut().retain_mut(|word| !word.is_done().unwrap_or(false));
    }

    /// Receives the words that have arrived.
    pub(super) fn listen(&self, link: &PrivateCommunicator) {
        while let Ok(Some(parcel)) = link.waiting(TAG) {
            let Ok(mut word) = link.receive(parcel.from, TAG, parcel.length) else { return };
            // It has arrived, so it is received at once. If MPI does not agree, the word is lost.
            let Ok(true) = word.is_done() else { return };
            let bytes = word.finish().unwrap_or_default();
            if let Some((&[what], flush)) = bytes.split_first_chunk()
                && let Ok(flush) = flush.try_into().map(u64::from_le_bytes)
            {
                self.heard.borrow_mut().insert(Word { flush, from: parcel.from, what });
            }
        }
    }
}
