//! The causes of waiting, which a wrapper of MPI writes, for the snapshots of this process.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use tinyprof_format::model::{EventMap, RankCauses};

/// Returns the causes that are in these words, of the rank with this event map; `None` if there are
/// none, or if they kept changing.
type ReadCauses = fn(&[AtomicU64], &EventMap) -> Option<RankCauses>;

static WORDS: OnceLock<&'static [AtomicU64]> = OnceLock::new();
static READ: OnceLock<ReadCauses> = OnceLock::new();

/// Stores the words that a wrapper writes for this process. The first ones count.
pub fn keep_causes(words: &'static [AtomicU64]) {
    WORDS.get_or_init(|| words);
}

/// Stores the function that reads these words: programs without MPI are not linked to what
/// knows their meaning. The first one counts.
pub fn read_causes_by(read: ReadCauses) {
    READ.get_or_init(|| read);
}

/// Returns what has made this process wait, whose measurements are `map`; none at other levels than
/// `messages`.
pub(super) fn causes(map: &EventMap) -> Option<Box<RankCauses>> {
    READ.get()?(WORDS.get()?, map).map(Box::new)
}
