//! What is known of places in scripts: a table that all threads read and write without a lock.
//!
//! Code objects come and go, so entries are replaced, and the table keeps no reference to any. Each
//! entry has a number that is odd while it is written, by which readers notice a change.

use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicUsize, fence};

use tinyprof::__calls::ScriptLine;

/// The words by which a place is known.
pub(super) const LOOK_WORDS: usize = 8;
/// The places that are kept.
const PLACES: usize = 1024;

/// What tells a place from any other: code object and instruction, function of MPI, and words that
/// differ where another code object is at the address of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look(pub(super) [usize; LOOK_WORDS]);

/// What was seen at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) line: &'static ScriptLine,
    /// Whether it is the user's own code, neither a binding's nor a wrapper's.
    pub(super) is_own: bool,
}

pub(super) static KNOWN: Known = Known::new();

pub(super) struct Known {
    entries: [Entry; PLACES],
}

struct Entry {
    version: AtomicUsize,
    look: [AtomicUsize; LOOK_WORDS],
    line: AtomicPtr<ScriptLine>,
    is_own: AtomicUsize,
}

impl Entry {
    const fn new() -> Self {
        Self {
            version: AtomicUsize::new(0),
            look: [const { AtomicUsize::new(0) }; LOOK_WORDS],
            line: AtomicPtr::new(ptr::null_mut()),
            is_own: AtomicUsize::new(0),
        }
    }
}

impl Known {
    const fn new() -> Self {
        Self { entries: [const { Entry::new() }; PLACES] }
    }

    /// Returns what was seen at a place, if that is still kept.
    #[inline]
    pub(super) fn find(&self, look: &Look) -> Option<Seen> {
        let entry = self.entry(look);
        let version = entry.version.load(Acquire);
        let is_same = entry.look.iter().zip(look.0).all(|(kept, word)| kept.load(Relaxed) == word);
        if !is_same || version % 2 == 1 {
            return None;
        }
        let (line, is_own) = (entry.line.load(Relaxed), entry.is_own.load(Relaxed) != 0);
        // What was read above was not changed before the version is read again.
        fence(Acquire);
        if entry.version.load(Relaxed) != version {
            return None;
        }
        // SAFETY: null, or a line that stays; the version says that it is this place's.
        unsafe { line.as_ref() }.map(|line| Seen { line, is_own })
    }

    /// Keeps what was seen at a place, in place of what its entry had; unless another thread does.
    pub(super) fn keep(&self, look: &Look, seen: Seen) {
        let entry = self.entry(look);
        let version = entry.version.load(Relaxed);
        let odd = version.wrapping_add(1);
        let is_free = version.is_multiple_of(2);
        if !is_free || entry.version.compare_exchange(version, odd, Acquire, Relaxed).is_err() {
            return;
        }
        // Readers that see a word from below see the odd number, too.
        fence(Release);
        for (kept, word) in entry.look.iter().zip(look.0) {
            kept.store(word, Relaxed);
        }
        entry.line.store(ptr::from_ref(seen.line).cast_mut(), Relaxed);
        entry.is_own.store(usize::from(seen.is_own), Relaxed);
        entry.version.store(odd.wrapping_add(1), Release);
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the high bits, which are few")]
    fn entry(&self, look: &Look) -> &Entry {
        let [code, instruction, index, ..] = look.0;
        let word = (code ^ instruction.rotate_left(7) ^ index.rotate_left(20)) as u64;
        let hash = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &self.entries[(hash >> (u64::BITS - PLACES.ilog2())) as usize % PLACES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static KNOWN: Known = Known::new();

    fn line(number: u32) -> &'static ScriptLine {
        let line = ScriptLine { function: "f".into(), file: "a.py".into(), line: number };
        Box::leak(Box::new(line))
    }

    #[test]
    fn a_place_is_found_by_all_of_its_words() {
        let known = Known::new();
        let look = Look([1, 2, 3, 4, 5, 6, 7, 8]);
        let seen = Seen { line: line(3), is_own: true };
        assert_eq!(known.find(&look), None);
        known.keep(&look, seen);
        assert_eq!(known.find(&look), Some(seen));
        for index in 0..LOOK_WORDS {
            let mut other = look;
            other.0[index] += 100;
            assert_eq!(known.find(&other), None, "word {index}");
        }
        let mut other = look;
        other.0[7] = 9;
        known.keep(&other, Seen { is_own: false, ..seen });
        assert_eq!(known.find(&look), None, "replaced");
    }

    #[test]
    fn readers_get_no_mixture_of_what_writers_keep() {
        let looks: [Look; 2] = [0, 1].map(|last| Look([1, 2, 3, 4, 5, 6, 7, last]));
        let lines = [line(0), line(1)];
        std::thread::scope(|scope| {
            for (look, line) in looks.iter().zip(lines) {
                scope.spawn(move || {
                    for _ in 0..20_000 {
                        KNOWN.keep(look, Seen { line, is_own: line.line == 1 });
                        if let Some(seen) = KNOWN.find(look) {
                            assert_eq!(seen.line, line);
                            assert_eq!(seen.is_own, line.line == 1);
                        }
                    }
                });
            }
        });
    }
}
