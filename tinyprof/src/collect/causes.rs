//! The causes of waiting, which a wrapper of MPI writes, for the snapshots of this process.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use tinyprof_format::model::{EventMap, RankCauses};
use tinyprof_report::recorded_causes;

static WORDS: OnceLock<&'static [AtomicU64]> = OnceLock::new();

/// Takes note of the words that a wrapper writes for this process, as many as
/// [`words_of_causes`](tinyprof_report::words_of_causes). The first ones count.
pub fn keep_causes(words: &'static [AtomicU64]) {
    WORDS.get_or_init(|| words);
}

/// Returns what has made this process wait, whose measurements are `map`; none at other levels than
/// `messages`.
pub(super) fn causes(map: &EventMap) -> Option<Box<RankCauses>> {
    recorded_causes(WORDS.get()?, map).map(Box::new)
}
