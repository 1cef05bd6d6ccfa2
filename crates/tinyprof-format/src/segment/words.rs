//! Access to the words of an untrusted segment.

use tinyprof_segment::layout::LINE_BYTES;
use tinyprof_segment::words::Line;

/// The bytes of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Words<'a> {
    /// Returns word `word` counted from the start of `line`, if the segment has it.
    pub(super) fn get(self, line: u32, word: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(line, word, 8)?.try_into().ok()?))
    }

    /// Returns `length` bytes, starting at word `word` of `line`.
    pub(super) fn bytes(self, line: u32, word: usize, length: usize) -> Option<&'a [u8]> {
        let first = Line::from_number(line).first_word();
        let begin = first.checked_add(word)?.checked_mul(8)?;
        self.0.get(begin..begin.checked_add(length)?)
    }

    /// Returns the number of lines.
    pub(super) fn lines(self) -> usize {
        self.0.len() / LINE_BYTES
    }
}
