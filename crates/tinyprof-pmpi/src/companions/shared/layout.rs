//! What is where in the memory that the ranks of a host share.
//!
//! ```text
//!  | token | names of communicators | a lane from each rank to each | boards | notices | causes |
//! ```

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use tinyprof_messages::delay::{Block, Sizes};

use super::board::Board;
use super::lane::Lane;
use super::names::{BOARDS, Names};
use super::notice::Notices;

/// The most memory for all lanes. Of it the system gives what is used.
const LANES_BYTES_MAX: usize = 256 << 20;
/// The companions that a lane holds at least, and at most.
const ENTRIES_MIN: usize = 16;
const ENTRIES_MAX: usize = 4096;

/// The words in which a rank keeps why it waits.
const BLOCK_WORDS: usize = Block::words(&Sizes::RECORDER);

/// What tells the memory of one job from that of another.
const TOKEN: usize = 0;
/// When the first rank began to look for causes.
const ORIGIN: usize = 1;
/// A line of the cache, and the names.
const NAMES_BEGIN: usize = 8;
const HEADER_WORDS: usize = NAMES_BEGIN + Names::WORDS;

/// The memory that the ranks of a host share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    words: &'static [AtomicU64],
    ranks: usize,
}

/// The companions that fit into a lane, of this many ranks.
fn entries(ranks: usize) -> usize {
    let lanes = ranks.saturating_mul(ranks).max(1);
    let fitting = LANES_BYTES_MAX / Lane::ENTRY_BYTES / lanes;
    (1 << fitting.max(1).ilog2()).clamp(ENTRIES_MIN, ENTRIES_MAX)
}

fn lane_words(ranks: usize) -> usize {
    Lane::words(entries(ranks))
}

impl Layout {
    /// Returns the words of memory for this many ranks.
    pub(super) fn words(ranks: usize) -> usize {
        Self::causes_begin(ranks) + ranks * BLOCK_WORDS
    }

    /// Returns the layout of memory of this many words, which are 0 at first.
    pub(super) fn new(words: &'static [AtomicU64], ranks: usize) -> Self {
        Self { words, ranks }
    }

    pub(super) fn token(&self) -> &'static AtomicU64 {
        &self.words[TOKEN]
    }

    /// Returns the moment from which the ranks of the host count, which is that of the first
    /// caller, in ns.
    pub(super) fn origin_ns(&self, now_ns: u64) -> u64 {
        let origin = self.words[ORIGIN].compare_exchange(0, now_ns, AcqRel, Acquire);
        origin.err().unwrap_or(now_ns)
    }

    pub(super) fn names(&self) -> Names {
        Names::new(&self.words[NAMES_BEGIN..HEADER_WORDS])
    }

    /// Returns the lane from one rank of the world to another.
    pub(super) fn lane(&self, from: usize, to: usize) -> Lane {
        let words = lane_words(self.ranks);
        let begin = HEADER_WORDS + (from * self.ranks + to) * words;
        Lane::new(&self.words[begin..begin + words])
    }

    pub(super) fn board(&self, number: u32) -> Board {
        let words = Board::words(self.ranks);
        let begin = Self::boards_begin(self.ranks) + number as usize * words;
        Board::new(&self.words[begin..begin + words], self.ranks)
    }

    /// Returns the notices of all ranks.
    pub(super) fn notices(&self) -> Notices {
        Notices::new(&self.words[Self::notices_begin(self.ranks)..Self::causes_begin(self.ranks)])
    }

    /// Returns the words in which a rank of the host keeps why it waits.
    pub(super) fn block(&self, rank: usize) -> &'static [AtomicU64] {
        let begin = Self::causes_begin(self.ranks) + rank * BLOCK_WORDS;
        &self.words[begin..begin + BLOCK_WORDS]
    }

    fn boards_begin(ranks: usize) -> usize {
        HEADER_WORDS + ranks * ranks * lane_words(ranks)
    }

    fn notices_begin(ranks: usize) -> usize {
        Self::boards_begin(ranks) + BOARDS as usize * Board::words(ranks)
    }

    fn causes_begin(ranks: usize) -> usize {
        Self::notices_begin(ranks) + Notices::words(ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_boards_and_notices_do_not_overlap() {
        let ranks = 3;
        let words: Box<[AtomicU64]> =
            (0..Layout::words(ranks)).map(|_| AtomicU64::new(0)).collect();
        let layout = Layout::new(Box::leak(words), ranks);
        let mut parts = vec![];
        for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
            parts.push(layout.lane(from, to).memory().as_ptr_range());
        }
        parts.extend((0..BOARDS).map(|number| layout.board(number).memory().as_ptr_range()));
        parts.push(layout.words[..HEADER_WORDS].as_ptr_range());
        parts.push(layout.notices().memory().as_ptr_range());
        parts.extend((0..ranks).map(|rank| layout.block(rank).as_ptr_range()));
        parts.sort_by_key(|part| part.start);
        assert!(parts.is_sorted_by(|a, b| a.end <= b.start));
        assert!(layout.words.as_ptr_range().end >= parts.last().unwrap().end);
    }

    #[test]
    fn lanes_of_many_ranks_are_shorter() {
        let bytes = |ranks: usize| ranks * ranks * lane_words(ranks) * 8;
        assert_eq!(entries(2), ENTRIES_MAX);
        assert!(bytes(128) < 2 * LANES_BYTES_MAX && entries(128) >= 256);
        assert_eq!(entries(4096), ENTRIES_MIN);
    }
}
