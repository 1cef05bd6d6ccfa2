//! The reductions of an agreement, over MPI: they stay pending from one boundary to another.

use std::collections::VecDeque;

use mpi::topology::Communicator;

use super::agreement::Maxima;
use crate::sys::{Link, Operator, Pending, Reduction};

/// Reductions over all ranks of a communicator of their own.
pub(super) struct MpiMaxima {
    link: Result<Link, String>,
    /// Those whose results were not given, the oldest first.
    pending: VecDeque<Pending<Reduction>>,
    /// MPI has refused one: nothing completes any more.
    broken: bool,
}

impl MpiMaxima {
    /// Reductions over `program`'s ranks. Collective over it.
    pub(super) fn over(program: &impl Communicator) -> Self {
        let link = Link::duplicate_of(program);
        let broken = link.is_err();
        Self { link, pending: VecDeque::new(), broken }
    }

    /// Whether MPI has refused one of them.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }
}

impl Maxima for MpiMaxima {
    fn begin(&mut self, value: u64) {
        match self.link.as_ref().map(|link| link.all_reduce(vec![value], Operator::Max)) {
            Ok(Ok(reduction)) => self.pending.push_back(reduction),
            _ => self.broken = true,
        }
    }

    fn complete(&mut self) -> Option<u64> {
        let oldest = self.pending.front_mut().filter(|_| !self.broken)?;
        match oldest.is_done() {
            Ok(true) => self.pending.pop_front()?.finish()?.1.first().copied(),
            Ok(false) => None,
            Err(_) => {
                self.broken = true;
                None
            }
        }
    }
}
