//! The reductions of an agreement, over MPI. They stay pending from one flush point to the next.

use std::collections::VecDeque;

use tinyprof_flush::agreement::Maxima;

use crate::sys::{Operator, Pending, PrivateCommunicator, ProgramCommunicator, Reduction};

/// Reductions over all ranks of their own communicator.
pub(super) struct MpiMaxima {
    link: Result<PrivateCommunicator, String>,
    /// Reductions whose results have not been returned, the oldest first.
    pending: VecDeque<Pending<Reduction>>,
    /// True if MPI has refused a reduction. Nothing completes any more then.
    broken: bool,
}

impl MpiMaxima {
    /// Creates reductions over `program`'s ranks. Collective over it.
    pub(super) fn over(program: ProgramCommunicator) -> Self {
        let link = PrivateCommunicator::duplicate_of(program);
        let broken = link.is_err();
        Self { link, pending: VecDeque::new(), broken }
    }

    /// Returns whether MPI has refused a reduction.
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
