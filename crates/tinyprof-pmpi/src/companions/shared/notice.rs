//! Notices: what each rank says of itself, for receivers that keep the order of messages.
//!
//! ```text
//!  | version, time, virtual time, what it does, share of our overhead |      a line for each rank
//! ```

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_messages::order::{Doing, Progress};
use tinyprof_segment::sequence::{begin_update, end_update, try_read};

/// The words of a notice.
const WORDS: usize = 8;
/// The sequence counter; 0 before the first notice.
const VERSION: usize = 0;
/// The share of a rank that does nothing but measure.
pub(in crate::companions) const ALL: u64 = 1 << 10;

/// What a rank says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::companions) struct Notice {
    /// When, in ns.
    pub(in crate::companions) at_ns: u64,
    /// The virtual time then, or that of the message that it is about to take.
    pub(in crate::companions) virtual_ns: i64,
    pub(in crate::companions) doing: Doing,
    /// The part of its recent time that measuring took, at most [`ALL`].
    pub(in crate::companions) share: u64,
}

impl Notice {
    /// Returns how far the rank is at `now_ns`, as far as one can tell.
    pub(in crate::companions) fn progress(&self, now_ns: u64) -> Progress {
        let Self { at_ns, virtual_ns, doing, share } = *self;
        let since_ns = match doing {
            Doing::Running => now_ns.saturating_sub(at_ns) / ALL * (ALL - share.min(ALL)),
            Doing::WaitsFor(_) | Doing::Waits | Doing::Ended => 0,
        };
        Progress { virtual_ns: virtual_ns.saturating_add_unsigned(since_ns), doing }
    }

    fn to_words(self) -> [u64; 4] {
        let (kind, rank) = match self.doing {
            Doing::Running => (0, 0),
            Doing::WaitsFor(rank) => (1, rank),
            Doing::Waits => (2, 0),
            Doing::Ended => (3, 0),
        };
        let doing = kind | u64::from(rank) << 32;
        [self.at_ns, self.virtual_ns.cast_unsigned(), doing, self.share]
    }

    fn from_words(words: [u64; 4]) -> Self {
        let [at_ns, virtual_ns, doing, share] = words;
        let doing = match doing & 3 {
            0 => Doing::Running,
            1 => Doing::WaitsFor((doing >> 32) as u32),
            2 => Doing::Waits,
            _ => Doing::Ended,
        };
        Self { at_ns, virtual_ns: virtual_ns.cast_signed(), doing, share }
    }
}

/// The notices of all ranks.
#[derive(Clone, Copy, Debug)]
pub(in crate::companions) struct Notices(&'static [AtomicU64]);

impl Notices {
    /// Returns the words for this many ranks.
    pub(super) const fn words(ranks: usize) -> usize {
        ranks * WORDS
    }

    /// Returns the notices in memory of this many words, which are 0 at first.
    pub(super) fn new(words: &'static [AtomicU64]) -> Self {
        Self(words)
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> &'static [AtomicU64] {
        self.0
    }

    fn of(&self, rank: u32) -> Option<&'static [AtomicU64]> {
        self.0.chunks_exact(WORDS).nth(rank as usize)
    }

    /// Replaces the caller's notice.
    pub(in crate::companions) fn write(&self, rank: u32, notice: &Notice) {
        let Some(words) = self.of(rank) else { return };
        if !begin_update(&words[VERSION]) {
            return;
        }
        for (place, word) in words[VERSION + 1..].iter().zip(notice.to_words()) {
            place.store(word, Relaxed);
        }
        end_update(&words[VERSION]);
    }

    /// Returns the notice of a rank. `None` while it is written, and before the first.
    pub(in crate::companions) fn read(&self, rank: u32) -> Option<Notice> {
        let words = self.of(rank).filter(|words| words[VERSION].load(Relaxed) != 0)?;
        let read = || std::array::from_fn(|at| words[VERSION + 1 + at].load(Relaxed));
        try_read(&words[VERSION], read).map(Notice::from_words)
    }

    /// Returns a number that is another one after each notice of a rank; 0 before the first.
    pub(in crate::companions) fn version(&self, rank: u32) -> u64 {
        self.of(rank).map_or(0, |words| words[VERSION].load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notices() -> Notices {
        let words = (0..Notices::words(3)).map(|_| AtomicU64::new(0));
        Notices::new(Box::leak(words.collect()))
    }

    fn notice(doing: Doing) -> Notice {
        Notice { at_ns: 5_000, virtual_ns: -2_000, doing, share: ALL / 4 }
    }

    #[test]
    fn what_a_rank_has_said_last_is_read() {
        let notices = notices();
        let all = [Doing::Running, Doing::WaitsFor(u32::MAX), Doing::Waits, Doing::Ended];
        for doing in all {
            notices.write(1, &notice(doing));
            assert_eq!(notices.read(1), Some(notice(doing)));
        }
        assert_eq!((notices.read(0), notices.read(2), notices.read(3)), (None, None, None));
    }

    #[test]
    fn who_runs_gets_on_by_the_part_of_its_time_that_is_its_own() {
        let at = |doing, now_ns| notice(doing).progress(now_ns).virtual_ns;
        assert_eq!(at(Doing::Running, 5_000 + 4 * ALL), -2_000 + 3 * 1_024);
        assert_eq!(at(Doing::Running, 4_000), -2_000);
        assert_eq!(at(Doing::Waits, 1 << 40), -2_000);
    }

    #[test]
    fn a_reader_never_sees_half_of_a_notice() {
        const ROUNDS: u64 = 200_000;
        let notices = notices();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for at_ns in 0..ROUNDS {
                    let virtual_ns = at_ns.cast_signed();
                    notices.write(0, &Notice { at_ns, virtual_ns, ..notice(Doing::Running) });
                }
            });
            for _ in 0..ROUNDS {
                if let Some(notice) = notices.read(0) {
                    assert_eq!(notice.at_ns.cast_signed(), notice.virtual_ns);
                }
            }
        });
    }
}
