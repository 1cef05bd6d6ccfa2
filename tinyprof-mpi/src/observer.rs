//! Who watches a flush: nobody in a usual run, a study of its cost in the benches.

use std::fmt;
use std::rc::Rc;

/// How far a rank has come in a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// The rank's own values are in bytes.
    Encoded,
    /// Phase 1 is done: all ranks hold the same dictionary.
    Agreed,
    /// Every rank knows where the files go.
    Announced,
    /// Phase 2 is done: this rank sent what it held, or collected what its group did.
    Collected,
    /// This rank, an aggregator, wrote its part.
    Written {
        /// The number of the part, 0-based.
        number: u32,
        /// How many ranks write a part.
        writers: u32,
        /// How many ranks the part is of.
        ranks: u32,
        /// The length of the part, in bytes.
        bytes: u64,
    },
    /// What came of all parts is on rank 0.
    United,
    /// Rank 0 has given the profile its name.
    Finished,
    /// Every rank knows the result.
    Told,
}

/// Told of every milestone of one rank.
#[derive(Clone, Default)]
pub struct Observer(Option<Rc<dyn Fn(Milestone)>>);

impl Observer {
    /// An observer that calls `told` on the rank's own thread, inside of the flush.
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
