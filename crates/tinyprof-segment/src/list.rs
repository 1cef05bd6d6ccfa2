//! The lists of a record: past executions, and the visits of a series.
//!
//! Two words of the record describe a list, in the order in which a pair is drawn in
//! [`layout::node`](crate::layout::node):
//!
//! ```text
//! first   low: length, in elements                  high: the line of its block; 0: none
//! second  low: visits or executions of an element   high: the capacity of the block, in elements
//! ```
//!
//! The owner appends behind the elements that readers know, or builds a new list in a block that
//! they do not know. Then a single store of the first word makes all of it visible. A reader of the
//! file of a killed thread therefore finds every list whole, without the sequence counter.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use crate::primitive::AtomicU64;
use crate::sequence::publish;
use crate::words::{Line, high, low, pack};

/// The description of a list, unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// The block of the elements, or no line.
    pub block: Line,
    /// The number of elements.
    pub length: u32,
    /// The number of visits or executions that one element may represent.
    pub stride: u32,
    /// The capacity of the block, in elements.
    pub capacity: u32,
}

impl List {
    /// Returns the list that two words describe.
    #[inline]
    #[must_use]
    pub const fn from_words([first, second]: [u64; 2]) -> Self {
        Self {
            block: Line::from_number(high(first)),
            length: low(first),
            stride: low(second),
            capacity: high(second),
        }
    }

    /// Stores the list in its two words, and makes the earlier writes to its elements visible.
    #[inline]
    pub fn publish(self, [first, second]: [&AtomicU64; 2]) {
        second.store(pack(self.stride, self.capacity), Relaxed);
        publish(first, pack(self.length, self.block.number()));
    }

    /// Returns true if the elements of this list are unmoved in its `later` state: it was neither
    /// moved nor folded since.
    #[must_use]
    pub fn has_same_layout(self, later: Self) -> bool {
        Self { length: self.length, ..later } == self && later.length >= self.length
    }

    /// Returns the indices of its words in the segment, for elements of `element_words`. A damaged
    /// list may be longer than the segment.
    #[must_use]
    pub fn words(self, element_words: usize) -> Range<usize> {
        let start = self.block.first_word();
        start..start.saturating_add((self.length as usize).saturating_mul(element_words))
    }
}

/// Makes one more element visible, behind the others in the block. `first` is the present value of
/// the list's first word.
#[inline(always)]
pub fn publish_one_more(first_word: &AtomicU64, first: u64) {
    publish(first_word, first + 1);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const LIST: List = List { block: Line::from_number(9), length: 3, stride: 2, capacity: 8 };

    #[test]
    fn a_list_is_read_as_it_was_published() {
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        let read = || List::from_words([words[0].load(Relaxed), words[1].load(Relaxed)]);
        assert!(read().block.is_none());
        LIST.publish([&words[0], &words[1]]);
        assert_eq!(read(), LIST);
        publish_one_more(&words[0], words[0].load(Relaxed));
        assert_eq!(read(), List { length: 4, ..LIST });
        assert_eq!(read().words(4), 72..88);
    }

    #[test]
    fn a_longer_list_has_the_same_layout_and_a_folded_or_moved_one_has_not() {
        assert!(LIST.has_same_layout(List { length: 4, ..LIST }));
        for later in [
            List { length: 2, ..LIST },
            List { block: Line::from_number(10), ..LIST },
            List { stride: 4, ..LIST },
            List { capacity: 16, ..LIST },
        ] {
            assert!(!LIST.has_same_layout(later), "{later:?}");
        }
    }
}
