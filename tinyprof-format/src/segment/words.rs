//! Takes words out of a segment that nobody vouches for.

use super::layout::{LINE_BYTES, LINE_WORDS};

/// The low half of a word.
#[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
pub(super) const fn low(word: u64) -> u32 {
    word as u32
}

/// The high half of a word.
pub(super) const fn high(word: u64) -> u32 {
    low(word >> 32)
}

/// The bytes of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Words<'a> {
    /// Word `word` counted from the start of `line`, if the segment has it.
    pub(super) fn get(self, line: u32, word: usize) -> Option<u64> {
        let begin = (line as usize).checked_mul(LINE_WORDS)?.checked_add(word)?.checked_mul(8)?;
        let bytes = self.0.get(begin..begin.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// `length` bytes from word `word` of `line` on.
    pub(super) fn bytes(self, line: u32, word: usize, length: usize) -> Option<&'a [u8]> {
        let begin = (line as usize).checked_mul(LINE_WORDS)?.checked_add(word)?.checked_mul(8)?;
        self.0.get(begin..begin.checked_add(length)?)
    }

    /// The number of lines.
    pub(super) fn lines(self) -> usize {
        self.0.len() / LINE_BYTES
    }
}
