//! Arithmetic of words and lines.

use crate::layout::LINE_WORDS;

/// Returns the low half of a word: bits 0 to 31.
#[inline]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
pub const fn low(word: u64) -> u32 {
    word as u32
}

/// Returns the high half of a word: bits 32 to 63.
#[inline]
#[must_use]
pub const fn high(word: u64) -> u32 {
    low(word >> 32)
}

/// Returns a word of two halves.
#[inline]
#[must_use]
pub const fn pack(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// Returns a small number for a number near 0 of either sign: 0, -1, 1, -2 become 0, 1, 2, 3.
///
/// ```
/// use tinyprof_segment::words::{un_zigzag, zigzag};
///
/// assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
/// assert_eq!(un_zigzag(3), -2);
/// ```
#[inline(always)]
#[must_use]
pub const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// Returns the number for which [`zigzag`] returns `number`.
#[inline(always)]
#[must_use]
pub const fn un_zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// The number of a line of a segment. The header's lines are never handed out, so 0 means "none".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line(u32);

impl Line {
    /// No line.
    pub const NONE: Self = Self(0);

    /// Returns the line with a number; for 0, no line.
    #[inline]
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number of the line.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns true if it is [`NONE`](Self::NONE).
    #[inline]
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns the index of the line's first word in the segment, or an index beyond every segment.
    #[inline]
    #[must_use]
    pub const fn first_word(self) -> usize {
        (self.0 as usize).saturating_mul(LINE_WORDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_make_a_word_and_a_word_has_halves() {
        let word = pack(0x89ab_cdef, 0x0123_4567);
        assert_eq!(word, 0x0123_4567_89ab_cdef);
        assert_eq!((low(word), high(word)), (0x89ab_cdef, 0x0123_4567));
    }

    #[test]
    fn a_line_has_eight_words_and_zero_is_none() {
        assert_eq!(Line::from_number(5).first_word(), 40);
        assert!(Line::from_number(0).is_none());
        assert_eq!(Line::from_number(0), Line::NONE);
    }
}
