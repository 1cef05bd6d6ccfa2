//! A model of the protocol between the owner of an arena and a reader, for loom, which tries every
//! order that the memory model allows.
//!
//! It mirrors, line by line, `Node::update` and `Node::try_read` of `tinyprof/src/record/node.rs`,
//! `Header::of`, `Header::save`, `push` and `copy` of `log.rs`, and `Arena::insert` and
//! `Arena::readings` of `arena.rs` and `arena/reading.rs`. It has only as many words as the
//! question needs, since loom's time grows with each access. A change of one requires the same
//! change of the other. There is one difference: here, the owner gets its last stored values as
//! arguments instead of loading them. Loom remembers only the last access to a word, so a load by
//! the owner just before its store would hide the reader's load, and loom would try only one order.

#![cfg(test)]

use loom::sync::Arc;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicU64, fence};
use loom::thread;

/// The words of a record: its sequence, a count and a sum that belong together, and a list.
const SEQUENCE: usize = 0;
const VISITS: usize = 1;
const SUM: usize = 2;
const LIST: usize = 3;
const WORDS: usize = 4;

/// The amount that each visit adds to the sum: a reading whose sum and visits do not match is torn.
const TICKS: u64 = 7;

struct Node {
    record: [AtomicU64; WORDS],
    /// The block of the list.
    block: [AtomicU64; 2],
}

impl Node {
    fn new() -> Self {
        Self { record: words(), block: words() }
    }

    fn get(&self, word: usize) -> u64 {
        self.record[word].load(Relaxed)
    }

    fn set(&self, word: usize, value: u64) {
        self.record[word].store(value, Relaxed);
    }

    /// Mirrors `Node::update`.
    fn update(&self, sequence: u64, change: impl FnOnce()) {
        self.set(SEQUENCE, sequence.wrapping_add(1));
        fence(Release);
        change();
        self.record[SEQUENCE].store(sequence.wrapping_add(2), Release);
    }

    /// Mirrors `Node::try_read`.
    fn try_read<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        let before = self.record[SEQUENCE].load(Acquire);
        let value = read();
        fence(Acquire);
        (before.is_multiple_of(2) && self.get(SEQUENCE) == before).then_some(value)
    }

    /// Mirrors `Arena::add_visit`, without a list, after this many visits.
    fn add_visit(&self, visits: u64) {
        self.update(2 * visits, || {
            self.set(VISITS, visits + 1);
            self.set(SUM, (visits + 1) * TICKS);
        });
    }

    /// Mirrors `log::push` if there is room, after this many elements: writes the element, then the
    /// header that makes it visible.
    fn push(&self, length: u64) {
        self.update(2 * length, || {
            self.block[usize::try_from(length).expect("a short list")].store(length + 1, Relaxed);
            self.record[LIST].store(length + 1, Release);
        });
    }
}

fn words<const N: usize>() -> [AtomicU64; N] {
    std::array::from_fn(|_| AtomicU64::new(0))
}

#[test]
fn no_reader_takes_a_half_changed_record_for_whole() {
    loom::model(|| {
        let node = Arc::new(Node::new());
        let owner = thread::spawn({
            let node = Arc::clone(&node);
            move || (0..2).for_each(|visits| node.add_visit(visits))
        });
        if let Some((visits, sum)) = node.try_read(|| (node.get(VISITS), node.get(SUM))) {
            assert_eq!(sum, visits * TICKS);
        }
        owner.join().expect("the owner does not panic");
        let last = node.try_read(|| (node.get(VISITS), node.get(SUM)));
        assert_eq!(last, Some((2, 2 * TICKS)), "nobody writes any more");
    });
}

#[test]
fn visits_are_never_taken_back() {
    loom::model(|| {
        let node = Arc::new(Node::new());
        let owner = thread::spawn({
            let node = Arc::clone(&node);
            move || node.add_visit(0)
        });
        let first = node.try_read(|| node.get(VISITS));
        let second = node.try_read(|| node.get(VISITS));
        if let (Some(first), Some(second)) = (first, second) {
            assert!(first <= second);
        }
        owner.join().expect("the owner does not panic");
    });
}

#[test]
fn an_element_is_whole_when_the_length_says_that_it_is_there() {
    loom::model(|| {
        let node = Arc::new(Node::new());
        let owner = thread::spawn({
            let node = Arc::clone(&node);
            move || (0..2).for_each(|length| node.push(length))
        });
        // Like `Reading::of`: the length is read under the sequence counter, the elements after it,
        // without it.
        if let Some(length) = node.try_read(|| node.get(LIST)) {
            let length = usize::try_from(length).expect("a short list");
            let elements: Vec<u64> =
                node.block[..length].iter().map(|word| word.load(Relaxed)).collect();
            assert_eq!(elements, (1..=length as u64).collect::<Vec<_>>());
        }
        owner.join().expect("the owner does not panic");
    });
}

/// A reader of the file of a killed program cannot rely on the sequence counter, only on the
/// header's own order.
#[test]
fn a_list_is_whole_without_the_counter_too() {
    loom::model(|| {
        let node = Arc::new(Node::new());
        let owner = thread::spawn({
            let node = Arc::clone(&node);
            move || (0..2).for_each(|length| node.push(length))
        });
        let length = usize::try_from(node.record[LIST].load(Acquire)).expect("a short list");
        for (element, word) in (1..).zip(&node.block[..length]) {
            assert_eq!(word.load(Relaxed), element);
        }
        owner.join().expect("the owner does not panic");
    });
}

#[test]
fn a_record_is_whole_when_the_newest_one_is_known() {
    loom::model(|| {
        let node = Arc::new(Node::new());
        let last_node = Arc::new(AtomicU64::new(0));
        let owner = thread::spawn({
            let (node, last_node) = (Arc::clone(&node), Arc::clone(&last_node));
            move || {
                // `Arena::insert`: the words of a new record, then the link to it.
                node.set(SUM, TICKS);
                last_node.store(1, Release);
                node.update(0, || node.set(VISITS, 1));
            }
        });
        if last_node.load(Acquire) == 1 {
            assert_eq!(node.get(SUM), TICKS);
        }
        owner.join().expect("the owner does not panic");
    });
}
