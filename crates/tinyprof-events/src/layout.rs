//! Memory layout of a buffer: 64-bit words.
//!
//! ```text
//! word 0  magic                             1  policy; high half: the shortest computation kept
//!      2  bins; high half: words of a bin    3  bins that were ever used
//!      4  when the recording stopped, plus 1; 0: it did not          5  bins begun
//!      6  bits by which times are shifted    7  ticks of time 0
//!      8  sequence  odd while the owner records; 9  visits cut: kept before they
//!          had ended                    10 .. 15 unused, 0
//!     16 ..  cells: 8 words each, see [`cell`]
//!        ..  callpaths of the open bins: 2 words each, see `dictionary`
//!        ..  bins, see [`bin`](crate::bin)
//!        ..  index of the bins: 2 words each, see [`index`]
//! ```
//!
//! Times are ticks of the caller's clock since that of time 0, shifted. The magic is written last.

use crate::cell::CELLS;

/// The first word of a buffer.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TPRFEV\x00\x03");

/// Words of the header.
pub mod header {
    #![expect(missing_docs, reason = "the picture above says what each word is")]
    pub const MAGIC: usize = 0;
    pub const POLICY: usize = 1;
    pub const BINS: usize = 2;
    pub const BINS_USED: usize = 3;
    pub const STOPPED: usize = 4;
    pub const BINS_BEGUN: usize = 5;
    pub const SHIFT: usize = 6;
    pub const ORIGIN: usize = 7;
    pub const BUSY: usize = 8;
    pub const CUT: usize = 9;
    pub const WORDS: usize = 16;
}

/// The words of a cell.
///
/// ```text
/// word 0  sequence   odd while the owner changes the others
///      1  events in all bins that the cell ever had, but the open one
///      2  events that were refused: not kept at all
///      3  the open bin, plus 1; 0: none; high half: bins that the cell ever had
///      4  begin of the first event that was lost, plus 1     5  end of the last one
///      6  bins that the cell has now                   7  unused, 0
/// ```
pub mod cell {
    #![expect(missing_docs, reason = "the picture above says what each word is")]
    pub const SEQUENCE: usize = 0;
    pub const CLOSED: usize = 1;
    pub const REFUSED: usize = 2;
    pub const OPEN: usize = 3;
    pub const LOST_FIRST: usize = 4;
    pub const LOST_LAST: usize = 5;
    pub const BINS: usize = 6;
    pub const WORDS: usize = 8;
}

/// The words of an entry that tells the index of a callpath in an open bin.
///
/// ```text
/// word 0  callpath; high half: index     1  serial number of the bin
/// ```
pub mod dictionary {
    #![expect(missing_docs, reason = "the picture above says what each word is")]
    pub const ENTRY: usize = 0;
    pub const SERIAL: usize = 1;
    pub const WORDS: usize = 2;
    /// A power of two.
    pub const ENTRIES: usize = 512;
}

/// The words of a bin in the index, in which the owner looks for one to give up: bins themselves
/// are too far from each other for that. Nobody else reads it.
///
/// ```text
/// word 0  cell, plus 1; high half: number of the bin in its cell; as in the bin
///      1  end of the last event; of an open bin that at some time before
/// ```
pub mod index {
    #![expect(missing_docs, reason = "the picture above says what each word is")]
    pub const CELL: usize = 0;
    pub const LAST: usize = 1;
    pub const WORDS: usize = 2;
}

/// The first word of the cells, of the dictionary and of the bins.
pub(crate) const CELLS_AT: usize = header::WORDS;
pub(crate) const DICTIONARY_AT: usize = CELLS_AT + CELLS as usize * cell::WORDS;
pub(crate) const BINS_AT: usize = DICTIONARY_AT + dictionary::ENTRIES * dictionary::WORDS;

/// The least memory of a buffer, in bytes.
pub const BYTES_MIN: usize = 256 << 10;

/// The usual number of bins, and the sizes between which a bin has the size for that. Fewer bins
/// would be fewer moments of a run that is thinned; smaller ones would mostly be their first words.
const BINS_WANTED: usize = 256;
const BIN_WORDS_MIN: usize = 256;
const BIN_WORDS_MAX: usize = 1024;

/// The number of bins of a buffer, and their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub(crate) bins: usize,
    pub(crate) bin_words: usize,
}

impl Geometry {
    /// Returns the geometry of a buffer of this number of words; `None` if they are too few.
    #[must_use]
    pub const fn of_words(words: usize) -> Option<Self> {
        if words < BYTES_MIN / 8 {
            return None;
        }
        let bin_words = match words / BINS_WANTED {
            ..BIN_WORDS_MIN => BIN_WORDS_MIN,
            wanted if wanted > BIN_WORDS_MAX => BIN_WORDS_MAX,
            wanted => wanted,
        };
        // All lines of a bin are its own.
        let bin_words = bin_words / 8 * 8;
        Some(Self { bins: (words - BINS_AT) / (bin_words + index::WORDS), bin_words })
    }

    /// Returns the first word of a bin in the index.
    pub(crate) const fn index_at(self, bin: usize) -> usize {
        self.bin_at(self.bins) + bin * index::WORDS
    }

    /// Returns the sizes as a word.
    #[must_use]
    pub const fn to_word(self) -> u64 {
        (self.bins as u64) << 32 | self.bin_words as u64
    }

    /// Returns the geometry of which [`to_word`](Self::to_word) has made a word.
    #[inline(always)]
    #[must_use]
    pub const fn from_word(word: u64) -> Self {
        Self { bins: (word >> 32) as usize, bin_words: (word & 0xffff_ffff) as usize }
    }

    /// Returns the number of bytes for events in a bin.
    #[inline(always)]
    pub(crate) const fn bin_bytes(self) -> usize {
        (self.bin_words - crate::bin::word::BYTES) * 8
    }

    /// Returns the first word of a bin.
    #[inline(always)]
    pub(crate) const fn bin_at(self, bin: usize) -> usize {
        BINS_AT + bin * self.bin_words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_fill_the_buffer_and_have_at_most_8_kib() {
        assert_eq!(Geometry::of_words(BYTES_MIN / 8 - 1), None);
        for bytes in [BYTES_MIN, 300_000, 1 << 20, 4 << 20, 64 << 20] {
            let words = bytes / 8;
            let geometry = Geometry::of_words(words).unwrap();
            let end = geometry.index_at(geometry.bins);
            assert!(end <= words && words - end < geometry.bin_words + index::WORDS, "{bytes}");
            assert!(geometry.bin_words <= 1024 && geometry.bins > 110, "{bytes}: {geometry:?}");
        }
    }
}
