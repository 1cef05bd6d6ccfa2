//! The protocol between the owner of a record and its readers, under loom, which tries every order
//! that the memory model allows.
//!
//! The code under test is that of `tinyprof-segment`, which the recorder, `tinyprof top` and
//! `tinyprof recover` use. The records have only as many words as the question needs, since loom's
//! time grows with each access.
//!
//! The owner is the main thread. Loom remembers only the last access to a word: where the owner
//! loads a word before it stores, a reader that ran first would be forgotten, and only one order
//! tried. A reader that runs last may still see every earlier value.

#![cfg(test)]

#[cfg(not(loom))]
compile_error!("loom's atomics need RUSTFLAGS='--cfg loom'");

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use loom::sync::Arc;
use loom::thread;
use tinyprof_segment::list::{List, publish_one_more};
use tinyprof_segment::primitive::AtomicU64;
use tinyprof_segment::sequence::{begin_update, end_update, publish, try_read};
use tinyprof_segment::words::Line;

/// The words of a record: its sequence counter, a count and a sum that belong together, and a list.
const SEQUENCE: usize = 0;
const VISITS: usize = 1;
const SUM: usize = 2;
const LIST: usize = 3;
const WORDS: usize = 5;

/// The amount that each visit adds to the sum: a reading whose sum and visits do not match is torn.
const TICKS: u64 = 7;

/// The number of the first of two blocks.
const FIRST_BLOCK: u32 = 5;

struct Node {
    record: [AtomicU64; WORDS],
    /// Two blocks for the elements of the list.
    blocks: [[AtomicU64; 2]; 2],
}

impl Node {
    fn new() -> Arc<Self> {
        Arc::new(Self { record: words(), blocks: [words(), words()] })
    }

    fn get(&self, word: usize) -> u64 {
        self.record[word].load(Relaxed)
    }

    fn set(&self, word: usize, value: u64) {
        self.record[word].store(value, Relaxed);
    }

    fn update(&self, change: impl FnOnce()) {
        assert!(begin_update(&self.record[SEQUENCE]));
        change();
        end_update(&self.record[SEQUENCE]);
    }

    fn try_read<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        try_read(&self.record[SEQUENCE], read)
    }

    /// Records visit number `visits`, counted from 1.
    fn add_visit(&self, visits: u64) {
        self.update(|| {
            self.set(VISITS, visits);
            self.set(SUM, visits * TICKS);
        });
    }

    fn list(&self) -> List {
        List::from_words([self.get(LIST), self.get(LIST + 1)])
    }

    /// Moves the list to block `block`, with `length` elements.
    fn move_list(&self, block: u32, length: u32) {
        self.update(|| {
            (0..length).for_each(|at| self.put(block, at));
            let list = List { block: line(block), length, stride: 1, capacity: 2 };
            list.publish([&self.record[LIST], &self.record[LIST + 1]]);
        });
    }

    /// Appends an element to the list in block 0, after `length` others.
    fn append(&self, length: u32) {
        self.update(|| {
            self.put(0, length);
            publish_one_more(&self.record[LIST], self.get(LIST));
        });
    }

    /// Stores element `at` of a block: its number, from 1.
    fn put(&self, block: u32, at: u32) {
        self.blocks[block as usize][at as usize].store(u64::from(at) + 1, Relaxed);
    }

    /// Returns the elements of a list.
    fn elements(&self, list: List) -> Vec<u64> {
        let Some(block) = list.block.number().checked_sub(FIRST_BLOCK) else { return Vec::new() };
        let block = &self.blocks[block as usize];
        block[..list.length as usize].iter().map(|word| word.load(Relaxed)).collect()
    }
}

fn words<const N: usize>() -> [AtomicU64; N] {
    std::array::from_fn(|_| AtomicU64::new(0))
}

fn line(block: u32) -> Line {
    Line::from_number(FIRST_BLOCK + block)
}

/// Runs `write` on a new node while another thread runs `read`, in every order.
fn model(write: fn(&Node), read: fn(&Node)) {
    model_from(|_| (), write, read);
}

/// Runs `write` after `before`, while another thread runs `read`.
fn model_from(before: fn(&Node), write: fn(&Node), read: fn(&Node)) {
    loom::model(move || {
        let node = Node::new();
        before(&node);
        let reader = thread::spawn({
            let node = Arc::clone(&node);
            move || read(&node)
        });
        write(&node);
        reader.join().expect("the reader does not panic");
    });
}

fn count_from_one(length: u32) -> Vec<u64> {
    (1..=u64::from(length)).collect()
}

#[test]
fn no_reader_takes_a_half_changed_record_for_whole() {
    let write = |node: &Node| {
        (1..=2).for_each(|visits| node.add_visit(visits));
        let last = node.try_read(|| (node.get(VISITS), node.get(SUM)));
        assert_eq!(last, Some((2, 2 * TICKS)), "nobody writes any more");
    };
    model(write, |node| {
        if let Some((visits, sum)) = node.try_read(|| (node.get(VISITS), node.get(SUM))) {
            assert_eq!(sum, visits * TICKS);
        }
    });
}

#[test]
fn visits_are_never_taken_back() {
    model(
        |node| node.add_visit(1),
        |node| {
            let first = node.try_read(|| node.get(VISITS));
            let second = node.try_read(|| node.get(VISITS));
            if let (Some(first), Some(second)) = (first, second) {
                assert!(first <= second);
            }
        },
    );
}

#[test]
fn an_element_is_whole_when_the_length_says_that_it_is_there() {
    let write = |node: &Node| {
        node.move_list(0, 1);
        node.append(1);
    };
    // A reader copies the last element with the numbers, and the others after it, without the
    // sequence counter. Here are only others.
    model(write, |node| {
        if let Some(list) = node.try_read(|| node.list()) {
            assert_eq!(node.elements(list), count_from_one(list.length));
        }
    });
}

/// A reader that finds the same layout again has copied the elements of one list.
#[test]
fn a_list_that_moved_meanwhile_is_noticed() {
    let write = |node: &Node| {
        node.move_list(1, 1);
        // The owner uses the old block for something else.
        node.blocks[0][0].store(99, Relaxed);
    };
    model_from(|node| node.move_list(0, 1), write, |node| {
        let Some(list) = node.try_read(|| node.list()) else { return };
        let elements = node.elements(list);
        if node.try_read(|| list.has_same_layout(node.list())) == Some(true) {
            assert_eq!(elements, count_from_one(list.length));
        }
    });
}

/// A reader of the file of a killed program cannot rely on the sequence counter, only on the order
/// in which a list is published.
#[test]
fn a_list_is_whole_without_the_counter_too() {
    let write = |node: &Node| {
        node.move_list(0, 1);
        node.append(1);
        node.move_list(1, 2);
    };
    model(write, |node| {
        let list = List::from_words([node.record[LIST].load(Acquire), node.get(LIST + 1)]);
        assert!(list.length <= list.capacity, "{list:?}");
        assert_eq!(node.elements(list), count_from_one(list.length));
    });
}

#[test]
fn a_record_is_whole_when_the_newest_one_is_known() {
    let last_node = || Arc::new(AtomicU64::new(0));
    loom::model(move || {
        let (node, last_node) = (Node::new(), last_node());
        let reader = thread::spawn({
            let (node, last_node) = (Arc::clone(&node), Arc::clone(&last_node));
            move || {
                if last_node.load(Acquire) == 1 {
                    assert_eq!(node.get(SUM), TICKS);
                }
            }
        });
        // As the recorder does with a new callpath: its words, then the link to it.
        node.set(SUM, TICKS);
        publish(&last_node, 1);
        node.update(|| node.set(VISITS, 1));
        reader.join().expect("the reader does not panic");
    });
}

/// Visits of a bin: those that a reader finds were all recorded for the cell that it finds.
mod events {
    use loom::sync::Arc;
    use loom::thread;
    use tinyprof_events::Cell;
    use tinyprof_events::bin::{Bin, word};

    use super::{AtomicU64, words};

    const WORDS: usize = word::BYTES + 1;

    /// Appends a visit of one byte, which says the cell that it is for.
    fn append(bin: Bin<'_>, cell: u32, visits: u32) {
        let at = bin.append(visits, 0x10 + u64::from(cell), 1);
        bin.publish(visits + 1, at, 0);
    }

    #[test]
    fn a_bin_that_is_given_up_meanwhile_is_not_mistaken_for_the_next() {
        // Without a bound it takes 16 s instead of 2.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(4);
        model.check(|| {
            let record: Arc<[AtomicU64; WORDS]> = Arc::new(words());
            let theirs = Arc::clone(&record);
            let reader = thread::spawn(move || {
                let Some(found) = Bin::new(&theirs[..]).read() else { return };
                let cell = found.cell.number();
                assert_eq!(found.number, cell + 40);
                let bytes = &found.bytes[..found.events as usize];
                assert!(bytes.iter().all(|byte| u32::from(*byte) == 0x10 + cell), "{found:?}");
            });
            let bin = Bin::new(&record[..]);
            for cell in [1, 2] {
                let of = Cell::from_number(cell).unwrap();
                assert!(bin.begin(of, cell + 40, u64::from(cell), 0));
                append(bin, cell, 0);
            }
            reader.join().unwrap();
        });
    }
}
