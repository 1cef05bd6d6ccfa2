//! Which ranks are there, when some are late: what a deadline has to tell besides that it has
//! passed.
//!
//! A rank that has waited a good part of its deadline sends a word to each of the first ranks. They
//! count those words when their own deadline passes: whoever sent none is missing. So a flush
//! without late ranks sends nothing, and the ranks of a large run do not all write to each other.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use crate::sys::{Link, Pending};

/// How many ranks keep a list: as many may be missing before nobody can say who is.
const LISTENERS: u32 = 16;

/// Messages of the phases have tag 0.
const TAG: i32 = 1;

/// I have waited for long.
const HERE: u8 = 0;
/// I have told the user that the flush has failed.
const TOLD: u8 = 1;

/// What a rank has said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Word {
    flush: u64,
    from: u32,
    what: u8,
}

/// One rank's view of the others during a flush.
#[derive(Default)]
pub(super) struct RollCall {
    /// Counts the flushes, so that a word of an earlier one is not taken for this one's.
    flush: Cell<u64>,
    has_called: Cell<bool>,
    /// The words that have arrived, also of a flush that the caller has not come to yet.
    heard: RefCell<BTreeSet<Word>>,
    words: RefCell<Vec<Pending<Vec<u8>>>>,
}

impl RollCall {
    /// A flush begins. Takes what an earlier one has left.
    pub(super) fn begin(&self, link: &Link) {
        self.listen(link);
        let flush = self.flush.get() + 1;
        self.flush.set(flush);
        self.has_called.set(false);
        self.heard.borrow_mut().retain(|word| word.flush >= flush);
    }

    /// Tells the first ranks that the caller is there: once in a flush, when a wait has become
    /// long.
    pub(super) fn call_once(&self, link: &Link) {
        if !self.has_called.replace(true) {
            self.say(link, HERE, LISTENERS.min(link.size()));
        }
    }

    /// Which ranks have given no sign, for people; none where the caller keeps no list. And whether
    /// it is the caller who tells the user: the first of those that are left.
    pub(super) fn missing(&self, link: &Link) -> (Option<String>, bool) {
        self.call_once(link);
        if link.rank() >= LISTENERS {
            return (None, false);
        }
        self.listen(link);
        let heard = self.heard.borrow();
        let words = || heard.iter().filter(|word| word.flush == self.flush.get());
        let there: BTreeSet<u32> = words().map(|word| word.from).chain([link.rank()]).collect();
        let missing: Vec<u32> = (0..link.size()).filter(|rank| !there.contains(rank)).collect();
        let is_told = words().any(|word| word.what == TOLD);
        let speaks = !is_told && there.first() == Some(&link.rank());
        if speaks {
            // A rank below that comes later need not say it again.
            self.say(link, TOLD, link.rank());
        }
        (Some(ranges(&missing)).filter(|text| !text.is_empty()), speaks)
    }

    /// Sends a word to the first `ranks` ranks but the caller. What is not on its way at once is
    /// abandoned.
    fn say(&self, link: &Link, what: u8, ranks: u32) {
        for to in (0..ranks).filter(|&to| to != link.rank()) {
            let word = [&[what], &self.flush.get().to_le_bytes()[..]].concat();
            // A word that cannot be sent is a rank that will be called missing, which it then is.
            self.words.borrow_mut().extend(link.send(to, TAG, word));
        }
        self.words.borrow_mut().retain_mut(|word| !word.is_done().unwrap_or(false));
    }

    /// Receives the words that have arrived.
    pub(super) fn listen(&self, link: &Link) {
        while let Ok(Some(parcel)) = link.waiting(TAG) {
            let Ok(mut word) = link.receive(parcel.from, TAG, parcel.length) else { return };
            // It has arrived, so that it is there at once; if MPI sees it otherwise, it is a word
            // less.
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

/// `rank 3`, `ranks 1, 4 to 7 and 9`.
fn ranges(ranks: &[u32]) -> String {
    let runs: Vec<&[u32]> = ranks.chunk_by(|a, b| a + 1 == *b).collect();
    let mut text = match ranks.len() {
        0 => return String::new(),
        1 => "rank ".to_owned(),
        _ => "ranks ".to_owned(),
    };
    for (position, run) in runs.iter().enumerate() {
        let separator = match position {
            0 => "",
            last if last + 1 == runs.len() => " and ",
            _ => ", ",
        };
        text.push_str(separator);
        text.push_str(&match run {
            [one] => one.to_string(),
            _ => format!("{} to {}", run[0], run[run.len() - 1]),
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_listed_as_people_do() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[3]), "rank 3");
        assert_eq!(ranges(&[3, 4]), "ranks 3 to 4");
        assert_eq!(ranges(&[1, 4, 5, 6, 7, 9]), "ranks 1, 4 to 7 and 9");
        assert_eq!(ranges(&[0, 2]), "ranks 0 and 2");
    }
}
