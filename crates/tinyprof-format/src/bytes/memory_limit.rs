//! A limit on the memory used for an untrusted file, of which a few bytes may claim many values.

use std::cell::Cell;

/// The memory that a reader may still allocate.
///
/// Memory is claimed before it is allocated, so that the sum of kept and passing memory never
/// exceeds the limit.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    limit_bytes: u64,
    kept_bytes: Cell<u64>,
    passing_bytes: Cell<u64>,
    /// The sum of all claims. Filling memory takes time, even if it is given back.
    claimed_bytes: Cell<u64>,
    /// The limit on the sum of all claims.
    claims_max_bytes: u64,
}

/// The limit on the sum of all claims, as a multiple of the memory limit. In a whole profile, less
/// memory passes than is kept.
const CLAIMS_MAX: u64 = 4;

impl MemoryLimit {
    pub(crate) fn new(limit_bytes: u64) -> Self {
        let none = || Cell::new(0);
        Self {
            limit_bytes,
            kept_bytes: none(),
            passing_bytes: none(),
            claimed_bytes: none(),
            claims_max_bytes: limit_bytes.saturating_mul(CLAIMS_MAX),
        }
    }

    /// Returns the limit for a pass over files that may encode `bytes` bytes, of which only a part
    /// is kept at any time.
    pub(crate) fn of_pass_over(self, bytes: u64) -> Self {
        Self { claims_max_bytes: bytes.saturating_mul(CLAIMS_MAX), ..self }
    }

    pub(crate) fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Claims memory that the reader's result keeps. Returns false if not enough is left.
    pub(crate) fn claim_kept(&self, bytes: u64) -> bool {
        self.claim(&self.kept_bytes, bytes)
    }

    /// Claims memory that is given [back](Self::back_to) soon. Returns false if not enough is left.
    pub(crate) fn claim_temporary(&self, bytes: u64) -> bool {
        self.claim(&self.passing_bytes, bytes)
    }

    /// Gives back kept memory, down to `kept_bytes`, after a result that was kept for a while.
    pub(crate) fn back_to_kept(&self, kept_bytes: u64) {
        self.kept_bytes.set(kept_bytes);
    }

    /// Returns the memory kept so far.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.kept_bytes.get()
    }

    /// Returns the memory passing now, as the argument of a later [`back_to`](Self::back_to).
    pub(crate) fn passing_bytes(&self) -> u64 {
        self.passing_bytes.get()
    }

    /// Gives back passing memory, down to `passing_bytes`.
    pub(crate) fn back_to(&self, passing_bytes: u64) {
        self.passing_bytes.set(passing_bytes);
    }

    fn claim(&self, of: &Cell<u64>, bytes: u64) -> bool {
        let all =
            self.kept_bytes.get().saturating_add(self.passing_bytes.get()).saturating_add(bytes);
        let claimed = self.claimed_bytes.get().saturating_add(bytes);
        if all > self.limit_bytes || claimed > self.claims_max_bytes {
            return false;
        }
        of.set(of.get() + bytes);
        self.claimed_bytes.set(claimed);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_and_what_passes_share_the_limit() {
        let memory_limit = MemoryLimit::new(100);
        assert!(memory_limit.claim_kept(60) && memory_limit.claim_temporary(40));
        assert!(!memory_limit.claim_kept(1) && !memory_limit.claim_temporary(1));
        memory_limit.back_to(0);
        assert!(memory_limit.claim_temporary(40) && !memory_limit.claim_temporary(u64::MAX));
    }

    #[test]
    fn memory_that_passes_again_and_again_comes_to_an_end() {
        let memory_limit = MemoryLimit::new(100);
        let sections = (0..).take_while(|_| {
            memory_limit.back_to(0);
            memory_limit.claim_temporary(100)
        });
        assert_eq!(sections.count(), 4);
    }

    #[test]
    fn a_pass_comes_to_an_end_that_depends_on_the_files() {
        let memory_limit = MemoryLimit::new(100).of_pass_over(200);
        let callpaths = (0..).take_while(|_| {
            memory_limit.back_to_kept(0);
            memory_limit.claim_kept(100)
        });
        assert_eq!(callpaths.count(), 8);
    }
}
