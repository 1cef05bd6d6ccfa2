//! Access to the words of an untrusted segment.

use super::layout::{LINE_BYTES, LINE_WORDS};

/// Returns the low half of a word.
#[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
pub(super) const fn low(word: u64) -> u32 {
    word as u32
}

/// Returns the high half of a word.
pub(super) const fn high(word: u64) -> u32 {
    low(word >> 32)
}

/// The bytes of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Words<'a> {
    /// Returns word `word` counted from the start of `line`, if the segment has it.
    pub(super) fn get(self, line: u32, word: usize) -> Option<u64> {
        let begin = (line as usize).checked_mul(LINE_WORDS)?.checked_add(word)?.checked_mul(8)?;
        let bytes = self.0.get(begin..begin.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Returns `length` bytes, starting at word `word` of `line`.
    pub(super) fn bytes(self, line: u32, word: usize, length: usize) -> Option<&'a [u8]> {
        let begin = (line as usize).checked_mul(LINE_WORDS)?.checked_add(word)?.checked_mul(8)?;
        self.0.get(begin..begin.checked_add(length)?)
    }

    /// Returns the number of lines.
    pub(super) fn lines(self) -> usize {
        self.0.len() / LINE_BYTES
    }
}
