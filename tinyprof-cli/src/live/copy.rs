//! A copy of a segment whose thread keeps recording: each record as it was at one moment.
//!
//! Reads only. The thread changes a record under a sequence counter, which is odd during a change
//! (see `segment::layout::node`). It appends to lists without moving existing elements, unless the
//! record says so. A record that changed in every try stays in the copy as torn, with an odd
//! counter, and the reader counts it.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU64, fence};

use tinyprof_format::segment::layout::{
    LINE_WORDS, PAST_WORDS, SERIES_WORDS, header, node, samples,
};

/// The number of tries for a record that keeps changing.
const TRIES: usize = 10_000;
/// The number of tries before yielding the processor.
const SPINS: usize = 100;
/// The number of words in the record of samples.
const SAMPLES_WORDS: usize = samples::WORDS;

/// The reason for a missing copy: the thread has made its file longer than the mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HasGrown;

/// Returns the bytes of a segment whose words are `shared`.
pub(super) fn copy(shared: &[AtomicU64]) -> Result<Vec<u8>, HasGrown> {
    let word = |at: usize| shared.get(at).map_or(0, |word| word.load(Relaxed));
    // The sites of all records up to the newest were described before it became visible.
    let newest_node = word(header::LAST_NODE);
    fence(Acquire);
    let newest_site = word(header::LAST_SITE);
    fence(Acquire);
    let mut copy = Copy { shared, words: (0..shared.len()).map(word).collect() };
    copy.put(header::LAST_NODE, newest_node);
    copy.put(header::LAST_SITE, newest_site);
    // Each list is copied completely, so there is nothing to undo.
    copy.put(header::UNDO_LINE, 0);
    if [newest_node, newest_site].iter().any(|&line| at_line(low(line)) >= shared.len()) {
        return Err(HasGrown);
    }
    let (mut line, mut seen) = (low(newest_node), HashSet::new());
    while line != 0 && seen.insert(line) {
        let at = at_line(line);
        if at + node::WORDS > shared.len() {
            break;
        }
        if !(1..=TRIES).any(|tried| copy.try_node(at) || wait(tried)) {
            copy.words[at + node::SEQUENCE] |= 1;
        }
        line = high(copy.words[at + node::PARENT]);
    }
    Ok(copy.words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

struct Copy<'a> {
    shared: &'a [AtomicU64],
    words: Vec<u64>,
}

impl Copy<'_> {
    fn load(&self, at: usize) -> u64 {
        self.shared.get(at).map_or(0, |word| word.load(Relaxed))
    }

    fn put(&mut self, at: usize, value: u64) {
        if let Some(word) = self.words.get_mut(at) {
            *word = value;
        }
    }

    fn take(&mut self, range: Range<usize>) {
        // An impossible length must not make the loop run that far.
        for at in range.start..range.end.min(self.words.len()) {
            self.put(at, self.load(at));
        }
    }

    /// Returns the result of `read` if the record at `at` did not change meanwhile, else `None`.
    fn unchanged<T>(&mut self, at: usize, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let before = self.load(at + node::SEQUENCE);
        fence(Acquire);
        let value = read(self);
        fence(Acquire);
        (before.is_multiple_of(2) && self.load(at + node::SEQUENCE) == before).then_some(value)
    }

    /// Tries to copy the record at `at` with its lists. Returns `false` if it changed meanwhile.
    fn try_node(&mut self, at: usize) -> bool {
        let lists = [(node::PAST, PAST_WORDS), (node::SERIES, SERIES_WORDS)];
        // First the numbers, and the last element of each list, the only one that may change in
        // place.
        let record = self.unchanged(at, |copy| {
            let record: Vec<u64> = (at..at + node::WORDS).map(|at| copy.load(at)).collect();
            let samples = at_line(low(record[node::SAMPLES]));
            if samples > 0 {
                copy.take(samples..samples.saturating_add(SAMPLES_WORDS));
            }
            for (word, length) in lists {
                copy.take(last_of(elements(&record, word, length), length));
            }
            record
        });
        let Some(record) = record else { return false };
        // Then all elements before it. The list has neither moved nor changed if the record reads
        // the same again.
        for (word, length) in lists {
            let all = elements(&record, word, length);
            let last = last_of(all.clone(), length);
            self.take(all.start..last.start);
        }
        let same = self.unchanged(at, |copy| {
            lists.iter().all(|&(word, _)| {
                let (first, second) = (copy.load(at + word), copy.load(at + word + 1));
                high(first) == high(record[word])
                    && low(first) >= low(record[word])
                    && second == record[word + 1]
            })
        });
        if same == Some(true) {
            for (word, value) in record.into_iter().enumerate() {
                self.put(at + word, value);
            }
        }
        same == Some(true)
    }
}

/// Waits before the next try. The thread may have lost its processor in the middle of a change, so
/// it is sometimes given ours. Returns `false`: the try failed.
fn wait(tried: usize) -> bool {
    if tried.is_multiple_of(SPINS) {
        std::thread::yield_now();
    }
    false
}

/// Returns the words of the list described by word `word` of a record.
fn elements(record: &[u64], word: usize, length: usize) -> Range<usize> {
    let start = at_line(high(record[word]));
    start..start.saturating_add((low(record[word]) as usize).saturating_mul(length))
}

/// Returns the last element of a list whose elements have `length` words.
fn last_of(list: Range<usize>, length: usize) -> Range<usize> {
    list.end.saturating_sub(length).max(list.start)..list.end
}

fn at_line(line: u32) -> usize {
    (line as usize).saturating_mul(LINE_WORDS)
}

#[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
const fn low(word: u64) -> u32 {
    word as u32
}

const fn high(word: u64) -> u32 {
    low(word >> 32)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Release;

    use super::*;

    const NODE: usize = 4 * LINE_WORDS;
    const LIST: usize = 8 * LINE_WORDS;

    fn words() -> Vec<AtomicU64> {
        let words: Vec<AtomicU64> = (0..64 * LINE_WORDS).map(|_| AtomicU64::new(0)).collect();
        words[header::LAST_NODE].store(4, Relaxed);
        words
    }

    fn word(bytes: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(bytes[at * 8..at * 8 + 8].try_into().expect("eight bytes"))
    }

    #[test]
    fn a_record_that_always_changes_is_torn_and_one_that_does_not_is_whole() {
        let words = words();
        words[NODE + node::VISITS].store(5, Relaxed);
        let copied = copy(&words).expect("it has not grown");
        assert_eq!(
            (word(&copied, NODE + node::SEQUENCE), word(&copied, NODE + node::VISITS)),
            (0, 5)
        );
        words[NODE + node::SEQUENCE].store(7, Relaxed);
        let copied = copy(&words).expect("it has not grown");
        assert_eq!(word(&copied, NODE + node::SEQUENCE) % 2, 1);
    }

    #[test]
    fn a_file_that_has_grown_is_to_be_mapped_anew_and_nonsense_ends() {
        let words = words();
        words[header::LAST_NODE].store(64, Relaxed);
        assert_eq!(copy(&words), Err(HasGrown));
        words[header::LAST_NODE].store(4, Relaxed);
        // A cycle, and lists with impossible lengths.
        words[NODE + node::PARENT].store(4 << 32, Relaxed);
        words[NODE + node::PAST].store(u64::MAX, Relaxed);
        words[NODE + node::SERIES].store(8 << 32 | u64::from(u32::MAX), Relaxed);
        words[NODE + node::SAMPLES].store(u64::from(u32::MAX), Relaxed);
        assert_eq!(copy(&words).map(|bytes| bytes.len()), Ok(64 * LINE_WORDS * 8));
    }

    #[test]
    fn numbers_of_a_busy_record_belong_together() {
        let words = words();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut visits = 0;
                while !done.load(Relaxed) {
                    let sequence = words[NODE + node::SEQUENCE].load(Relaxed);
                    words[NODE + node::SEQUENCE].store(sequence + 1, Relaxed);
                    fence(Release);
                    visits += 1;
                    words[NODE + node::VISITS].store(visits, Relaxed);
                    words[NODE + node::SUM].store(3 * visits, Relaxed);
                    // A list of one element that is updated in place.
                    words[LIST + 2].store(7 * visits, Relaxed);
                    words[NODE + node::PAST].store(8 << 32 | 1, Relaxed);
                    words[NODE + node::SEQUENCE].store(sequence + 2, Release);
                }
            });
            let mut whole = 0;
            while whole < 2_000 {
                let copied = copy(&words).expect("it has not grown");
                let [sequence, visits, sum] =
                    [node::SEQUENCE, node::VISITS, node::SUM].map(|at| word(&copied, NODE + at));
                if sequence % 2 == 0 && visits > 0 {
                    whole += 1;
                    assert_eq!((sum, word(&copied, LIST + 2)), (3 * visits, 7 * visits));
                }
            }
            done.store(true, Relaxed);
        });
    }
}
