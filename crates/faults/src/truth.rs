//! The ground truth: the actual visits of a program under test, which it counts itself in shared
//! memory.
//!
//! ```text
//! word 0      phase of the program, see [`Phase`]
//!      1      allocations since the phase `Start`
//!      2      process id
//!      3 .. 7 allocations before each phase
//!      16 ..  for each callpath: visits begun, visits ended
//! ```
//!
//! A visit counts as begun before its region is entered, and as ended after the region is left. So
//! a profile is right if its count lies between the two: an open visit may count or not, and no
//! other difference is allowed.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

use crate::numbering;
use crate::phase::Phase;
use crate::sys;

const HEADER_WORDS: usize = 16;

/// The shared memory of a program under test.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    words: &'static [AtomicU64],
}

impl Truth {
    /// Creates the file for a program that visits a tree of this many levels, and maps it.
    ///
    /// # Errors
    /// When the file cannot be created or mapped.
    pub fn create(path: &Path, levels: u32) -> std::io::Result<Self> {
        let words = HEADER_WORDS + 2 * numbering::callpaths(levels);
        std::fs::File::create(path)?.set_len(words as u64 * 8)?;
        Self::open(path)
    }

    /// Maps the file.
    ///
    /// # Errors
    /// When it does not exist or cannot be mapped.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let words = sys::shared_words(path)?;
        if words.len() < HEADER_WORDS {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Self { words })
    }

    /// Ends the mapping. No copy of `self` may be used afterwards.
    pub fn close(self) {
        sys::unmap(self.words);
    }

    /// Enters the next phase. Tells the tracer of this process by a marker call, and readers of the
    /// memory.
    pub fn enter(self, phase: Phase) {
        self.words[3 + phase as usize].store(self.words[1].load(SeqCst), SeqCst);
        self.words[0].store(phase as u64, SeqCst);
        sys::mark(phase as u64);
    }

    /// Returns the phase that was entered last.
    #[must_use]
    pub fn phase(self) -> Phase {
        Phase::of_number(self.words[0].load(SeqCst)).unwrap_or(Phase::Before)
    }

    /// Returns the counter of allocations.
    #[must_use]
    pub fn allocations(self) -> &'static AtomicU64 {
        &self.words[1]
    }

    /// Returns the phase in which allocation `number` (1-based) was made.
    #[must_use]
    pub fn phase_of_allocation(self, number: u64) -> Phase {
        let phases = [Phase::Final, Phase::Own, Phase::Recording, Phase::Start];
        let entered = |phase: &Phase| {
            self.phase() >= *phase && self.words[3 + *phase as usize].load(SeqCst) < number
        };
        phases.into_iter().find(entered).unwrap_or(Phase::Before)
    }

    /// Stores the ID of this process.
    pub fn set_process(self) {
        self.words[2].store(std::process::id().into(), SeqCst);
    }

    /// Returns the process that writes the truth, once it runs.
    #[must_use]
    pub fn process(self) -> Option<u32> {
        u32::try_from(self.words[2].load(SeqCst)).ok().filter(|&process| process != 0)
    }

    /// Counts a visit of a callpath as begun, and as ended when the guard is dropped.
    #[must_use]
    pub fn visit(self, callpath: usize) -> Counted {
        let at = HEADER_WORDS + 2 * callpath;
        self.words[at].fetch_add(1, SeqCst);
        Counted { ended: &self.words[at + 1] }
    }

    /// Returns the numbers of begun and of ended visits of a callpath.
    #[must_use]
    pub fn visits(self, callpath: usize) -> (u64, u64) {
        let at = HEADER_WORDS + 2 * callpath;
        (self.words[at].load(SeqCst), self.words[at + 1].load(SeqCst))
    }

    /// Returns the number of callpaths that there is room for.
    #[must_use]
    pub fn callpaths(self) -> usize {
        (self.words.len() - HEADER_WORDS) / 2
    }

    /// Returns the number of all ended visits.
    #[must_use]
    pub fn ended(self) -> u64 {
        (0..self.callpaths()).map(|callpath| self.visits(callpath).1).sum()
    }
}

/// A visit that has begun.
#[derive(Debug)]
pub struct Counted {
    ended: &'static AtomicU64,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.ended.fetch_add(1, SeqCst);
    }
}
