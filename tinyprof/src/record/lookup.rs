//! Finds records that are no longer in a cache: open addressing in the segment.
//!
//! An entry is one word: the record's line, and its hash. 0 is an empty slot.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use tinyprof_segment::layout::LINE_WORDS;
use tinyprof_segment::words::{Line, high, low, pack};

use super::segment::Segment;

const FIRST_CLASS: u32 = 3;

/// The table of one arena. Owner only.
#[derive(Debug)]
pub(super) struct Lookup {
    block: AtomicU32,
    class: AtomicU32,
    entries: AtomicU32,
}

impl Lookup {
    pub(super) const fn new() -> Self {
        Self { block: AtomicU32::new(0), class: AtomicU32::new(0), entries: AtomicU32::new(0) }
    }

    /// Forgets the table, whose memory is gone.
    pub(super) fn clear(&self) {
        self.block.store(0, Relaxed);
        self.class.store(0, Relaxed);
        self.entries.store(0, Relaxed);
    }

    fn block(&self) -> Line {
        Line::from_number(self.block.load(Relaxed))
    }

    fn mask(&self) -> usize {
        (LINE_WORDS << self.class.load(Relaxed)) - 1
    }

    /// Returns the line with this hash for which `is` returns true.
    #[inline]
    pub(super) fn find(
        &self,
        segment: &Segment,
        hash: u32,
        is: impl Fn(Line) -> bool,
    ) -> Option<Line> {
        if self.block().is_none() {
            return None;
        }
        let mask = self.mask();
        let mut at = hash as usize & mask;
        loop {
            let entry = self.slot(segment, at).load(Relaxed);
            let line = Line::from_number(low(entry));
            if line.is_none() {
                return None;
            }
            if high(entry) == hash && is(line) {
                return Some(line);
            }
            at = (at + 1) & mask;
        }
    }

    /// Inserts a line, which must not be in the table yet. Returns false if memory has run out.
    pub(super) fn insert(&self, segment: &Segment, hash: u32, line: Line) -> bool {
        let entries = self.entries.load(Relaxed);
        if (self.block().is_none() || entries as usize * 2 > self.mask()) && !self.grow(segment) {
            return false;
        }
        self.place(segment, pack(line.number(), hash));
        self.entries.store(entries + 1, Relaxed);
        true
    }

    fn place(&self, segment: &Segment, entry: u64) {
        let mask = self.mask();
        let mut at = high(entry) as usize & mask;
        while self.slot(segment, at).load(Relaxed) != 0 {
            at = (at + 1) & mask;
        }
        self.slot(segment, at).store(entry, Relaxed);
    }

    /// Returns slot `at`, which the mask has left, of the table, which must exist.
    #[inline]
    fn slot<'a>(&self, segment: &'a Segment, at: usize) -> &'a AtomicU64 {
        // SAFETY: `grow` has made the block, and the mask leaves the indices of its words.
        unsafe { segment.word(self.block(), at) }
    }

    #[cold]
    fn grow(&self, segment: &Segment) -> bool {
        let (old, old_class) = (self.block(), self.class.load(Relaxed));
        let class = if old.is_none() { FIRST_CLASS } else { old_class + 1 };
        let Some((block, _)) = segment.allocate_zeroed(class) else { return false };
        self.block.store(block.number(), Relaxed);
        self.class.store(class, Relaxed);
        if !old.is_none() {
            // SAFETY: an earlier call has made the block, in this class.
            let entries = unsafe { segment.words(old, 0, LINE_WORDS << old_class) };
            let entries = entries.iter().map(|entry| entry.load(Relaxed));
            entries.filter(|&entry| entry != 0).for_each(|entry| self.place(segment, entry));
            // SAFETY: an earlier call has made the block, in this class; the table has another
            // block from now on.
            unsafe { segment.release(old, old_class) };
        }
        true
    }
}
