//! A copy of a segment whose thread keeps recording: each record as it was at one moment.
//!
//! Reads only, with the protocol of [`tinyprof_segment::sequence`]. The thread appends to lists
//! without moving existing elements, unless the record says so. A record that changed in every try
//! stays in the copy as torn, with an odd counter, and the reader counts it.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use tinyprof_segment::layout::{PAST_WORDS, SERIES_WORDS, edge, header, message, node, samples};
use tinyprof_segment::list::List;
use tinyprof_segment::sequence::{retry, try_read};
use tinyprof_segment::words::{Line, high, low};

/// The reason for a missing copy: the thread has made its file longer than the mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HasGrown;

/// Returns the bytes of a segment whose words are `shared`.
pub(super) fn copy(shared: &[AtomicU64]) -> Result<Vec<u8>, HasGrown> {
    let word = |at: usize, order| shared.get(at).map_or(0, |word| word.load(order));
    // The callpaths of all messages and edges up to the newest, and the sites of all callpaths,
    // were described before it became visible.
    let newest_message = word(header::LAST_MESSAGE, Acquire);
    let newest_edge = word(header::LAST_EDGE, Acquire);
    let newest_node = word(header::LAST_NODE, Acquire);
    let newest_site = word(header::LAST_SITE, Acquire);
    let mut copy = Copy { shared, words: (0..shared.len()).map(|at| word(at, Relaxed)).collect() };
    copy.put(header::LAST_MESSAGE, newest_message);
    copy.put(header::LAST_EDGE, newest_edge);
    copy.put(header::LAST_NODE, newest_node);
    copy.put(header::LAST_SITE, newest_site);
    copy.kept();
    // Each list is copied completely, so there is nothing to undo.
    copy.put(header::UNDO_LINE, 0);
    let newest = [newest_message, newest_edge, newest_node, newest_site];
    if newest.into_iter().any(|word| first_word(low(word)) >= shared.len()) {
        return Err(HasGrown);
    }
    let (mut line, mut seen) = (low(newest_node), HashSet::new());
    while line != 0 && seen.insert(line) {
        let at = first_word(line);
        if at + node::WORDS > shared.len() {
            break;
        }
        if retry(|| copy.try_node(at)).is_none() {
            copy.words[at + node::SEQUENCE] |= 1;
        }
        line = high(copy.words[at + node::PARENT]);
    }
    copy.chain::<{ message::WORDS }>(low(newest_message), message::SEQUENCE, message::CALLPATH);
    copy.chain::<{ edge::WORDS }>(low(newest_edge), edge::SEQUENCE, edge::CALLPATH);
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

    /// Copies the words that others give a meaning, whose first is a sequence counter.
    fn kept(&mut self) {
        let place = self.shared.get(header::KEPT).map_or(0, |place| place.load(Acquire));
        let (begin, count) = (first_word(low(place)), high(place) as usize);
        let words = self.shared.get(begin..begin.saturating_add(count));
        let sequence = words.and_then(<[_]>::first).filter(|_| place != 0);
        let is_there = sequence.is_some_and(|sequence| {
            retry(|| try_read(sequence, || self.take(begin..begin + count))).is_some()
        });
        self.put(header::KEPT, if is_there { place } else { 0 });
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

    /// Tries to copy the record at `at` with its lists. Returns `None` if it changed meanwhile.
    fn try_node(&mut self, at: usize) -> Option<()> {
        let shared = self.shared;
        let sequence = shared.get(at + node::SEQUENCE)?;
        let lists = [(node::PAST, PAST_WORDS), (node::SERIES, SERIES_WORDS)];
        // First the numbers, and the last element of each list, the only one that may change in
        // place.
        let record = try_read(sequence, || {
            let record: Vec<u64> = (at..at + node::WORDS).map(|at| self.load(at)).collect();
            let samples = first_word(low(record[node::SAMPLES]));
            if samples > 0 {
                self.take(samples..samples.saturating_add(samples::WORDS));
            }
            for (word, length) in lists {
                self.take(last_of(list(&record, word).words(length), length));
            }
            record
        })?;
        // Then all elements before it. The list has neither moved nor changed if the record reads
        // the same again.
        for (word, length) in lists {
            let all = list(&record, word).words(length);
            let last = last_of(all.clone(), length);
            self.take(all.start..last.start);
        }
        let is_same = try_read(sequence, || {
            lists.iter().all(|&(word, _)| {
                let later = List::from_words([at + word, at + word + 1].map(|at| self.load(at)));
                list(&record, word).has_same_layout(later)
            })
        })?;
        if !is_same {
            return None;
        }
        for (word, value) in record.into_iter().enumerate() {
            self.put(at + word, value);
        }
        Some(())
    }

    /// Copies a chain of records without lists, newest first: word `before` of each has the line of
    /// the next in its high half.
    fn chain<const WORDS: usize>(&mut self, newest: u32, sequence: usize, before: usize) {
        let (mut line, mut seen) = (newest, HashSet::new());
        while line != 0 && seen.insert(line) {
            let at = first_word(line);
            let shared = self.shared;
            let Some(record) = shared.get(at..at + WORDS) else { break };
            if retry(|| try_read(&record[sequence], || self.take(at..at + WORDS))).is_none() {
                self.words[at + sequence] |= 1;
            }
            line = high(self.words[at + before]);
        }
    }
}

/// Returns the list described by word `word` of a record and the next.
fn list(record: &[u64], word: usize) -> List {
    List::from_words([record[word], record[word + 1]])
}

/// Returns the last element of a list whose elements have `length` words.
fn last_of(list: Range<usize>, length: usize) -> Range<usize> {
    list.end.saturating_sub(length).max(list.start)..list.end
}

fn first_word(line: u32) -> usize {
    Line::from_number(line).first_word()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use tinyprof_segment::layout::LINE_WORDS;
    use tinyprof_segment::sequence::{begin_update, end_update, publish};

    use super::*;

    const NODE: usize = 8 * LINE_WORDS;
    const LIST: usize = 12 * LINE_WORDS;

    fn words() -> Vec<AtomicU64> {
        let words: Vec<AtomicU64> = (0..64 * LINE_WORDS).map(|_| AtomicU64::new(0)).collect();
        words[header::LAST_NODE].store(8, Relaxed);
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
    fn words_that_others_give_a_meaning_are_copied_between_two_changes() {
        let words = words();
        words[header::KEPT].store(3 << 32 | 12, Relaxed);
        words[LIST + 2].store(9, Relaxed);
        let copied = copy(&words).expect("it has not grown");
        let found = [header::KEPT, LIST + 2].map(|at| word(&copied, at));
        assert_eq!(found, [3 << 32 | 12, 9]);
        for (place, sequence) in [(3 << 32 | 12, 7), (u64::MAX, 0)] {
            words[header::KEPT].store(place, Relaxed);
            words[LIST].store(sequence, Relaxed);
            let copied = copy(&words).expect("it has not grown");
            assert_eq!(word(&copied, header::KEPT), 0, "torn, or not there");
        }
    }

    /// Checks that a chain of two records of `lines` lines is copied, whose links are a cycle.
    fn check_chain(newest: usize, lines: usize, number: usize) {
        let words = words();
        words[newest].store(10, Relaxed);
        let first = 10 * LINE_WORDS;
        let second = first + lines * LINE_WORDS;
        words[first + number].store(5, Relaxed);
        words[first + message::CALLPATH].store((10 + lines as u64) << 32 | 6, Relaxed);
        words[second + message::SEQUENCE].store(7, Relaxed);
        words[second + number].store(9, Relaxed);
        words[second + message::CALLPATH].store(10 << 32 | 6, Relaxed);
        let copied = copy(&words).expect("it has not grown");
        let of_first = [message::SEQUENCE, number].map(|at| word(&copied, first + at));
        assert_eq!(of_first, [0, 5]);
        assert_eq!(word(&copied, second + message::SEQUENCE) % 2, 1);
        words[newest].store(64, Relaxed);
        assert_eq!(copy(&words), Err(HasGrown));
        // The last line has no room for a record of two.
        words[newest].store(63, Relaxed);
        assert!(copy(&words).is_ok());
    }

    #[test]
    fn records_of_messages_and_edges_are_copied_as_those_of_callpaths() {
        const _: () = assert!(edge::CALLPATH == message::CALLPATH);
        check_chain(header::LAST_MESSAGE, 1, message::COUNT);
        check_chain(header::LAST_EDGE, 2, edge::LATE_RECEIVER);
    }

    #[test]
    fn a_file_that_has_grown_is_to_be_mapped_anew_and_nonsense_ends() {
        let words = words();
        words[header::LAST_NODE].store(64, Relaxed);
        assert_eq!(copy(&words), Err(HasGrown));
        words[header::LAST_NODE].store(8, Relaxed);
        // A cycle, and lists with impossible lengths.
        words[NODE + node::PARENT].store(8 << 32, Relaxed);
        words[NODE + node::PAST].store(u64::MAX, Relaxed);
        words[NODE + node::SERIES].store(12 << 32 | u64::from(u32::MAX), Relaxed);
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
                    assert!(begin_update(&words[NODE + node::SEQUENCE]));
                    visits += 1;
                    words[NODE + node::VISITS].store(visits, Relaxed);
                    words[NODE + node::SUM].store(3 * visits, Relaxed);
                    // A list of one element that is updated in place.
                    words[LIST + 2].store(7 * visits, Relaxed);
                    publish(&words[NODE + node::PAST], 12 << 32 | 1);
                    end_update(&words[NODE + node::SEQUENCE]);
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
