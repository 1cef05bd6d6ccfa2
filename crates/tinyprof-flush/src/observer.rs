//! Observers of a flush: none in a usual run; in the benches, a study of its cost.

use std::fmt;
use std::rc::Rc;

/// A point that a rank reaches in a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// The rank's own values are encoded.
    Encoded,
    /// Phase 1 is done: all ranks hold the same dictionary.
    Agreed,
    /// Every rank knows the directory of the files.
    Announced,
    /// Phase 2 is done: this rank has sent its own data, or collected that of its group.
    Collected,
    /// This rank, an aggregator, wrote its part.
    Written {
        /// The number of the part, 0-based.
        number: u32,
        /// The number of ranks that write a part.
        writers: u32,
        /// The number of ranks in the part.
        ranks: u32,
        /// The length of the part, in bytes.
        bytes: u64,
    },
    /// The outcomes of all parts are on rank 0.
    United,
    /// Rank 0 has given the profile its name.
    Finished,
    /// Every rank knows the result.
    Told,
}

/// An observer of every milestone of one rank.
#[derive(Clone, Default)]
pub struct Observer(Option<Rc<dyn Fn(Milestone)>>);

impl Observer {
    /// Creates an observer that calls `told` on the rank's own thread, during the flush.
    pub fn new(told: impl Fn(Milestone) + 'static) -> Self {
        Self(Some(Rc::new(told)))
    }

    pub(crate) fn reached(&self, milestone: Milestone) {
        if let Some(told) = &self.0 {
            told(milestone);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observer").field(&self.0.is_some()).finish()
    }
}
