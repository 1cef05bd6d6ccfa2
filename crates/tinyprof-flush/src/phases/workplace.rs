//! The place where a flush does work that may hang or need much memory: all access to files, and
//! assembling the values of a rank.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use tinyprof::__mpi::{NotDone, isolated};
use tinyprof::collect::monotonic_ns;

/// A place for such work. A failure there is data for the other ranks, and never the end of the
/// program.
#[derive(Clone, Debug, Default)]
pub enum Workplace {
    /// The thread of the caller, for studies and tests.
    #[default]
    Here,
    /// A separate thread, with the time that is left for all work of a flush. The time does not
    /// include waiting for other ranks, or time in which the process is stopped.
    Aside(Rc<Cell<Duration>>),
}

/// The reason why work that can fail has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkError<E> {
    /// The work was aborted, or is not done in time.
    NotDone(NotDone),
    /// The work is done, and has failed.
    Failed(E),
}

impl<E: fmt::Display> fmt::Display for WorkError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDone(reason) => reason.fmt(f),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

/// The shortest time that work gets, however late it begins, so that partial files can be removed.
const LEAST: Duration = Duration::from_millis(50);

impl Workplace {
    /// Returns a place on a separate thread, for a flush in which no step may wait longer than
    /// `deadline` for others.
    ///
    /// The work gets three quarters of the deadline. The other ranks wait for its result until the
    /// deadline, so they learn that it was late before they give up.
    #[must_use]
    pub fn aside(deadline: Duration) -> Self {
        Self::Aside(Rc::new(Cell::new(deadline / 4 * 3)))
    }

    /// Does `work` and returns its result.
    ///
    /// # Errors
    /// When it was aborted or is not done in time.
    pub fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotDone> {
        match self {
            Self::Here => Ok(work()),
            Self::Aside(left) => {
                let begin_ns = monotonic_ns();
                let done = isolated(left.get().max(LEAST), work);
                let spent = Duration::from_nanos(monotonic_ns().saturating_sub(begin_ns));
                left.set(left.get().saturating_sub(spent));
                done
            }
        }
    }

    /// Does `work` that can fail and returns its result.
    ///
    /// # Errors
    /// When it was aborted, is not done in time, or has failed.
    pub fn try_run<T: Send + 'static, E: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T, WorkError<E>> {
        self.run(work).map_err(WorkError::NotDone)?.map_err(WorkError::Failed)
    }
}

/// Returns a failure as a number from 1 on, which any rank can convert [back](reason_of).
pub(super) const fn code_of(failure: NotDone) -> u64 {
    match failure {
        NotDone::NoThread => 1,
        NotDone::Died => 2,
        NotDone::Panicked => 3,
        NotDone::Late => 4,
        NotDone::Sandboxed => 5,
    }
}

/// Returns the description of the failure with this number.
pub(super) fn reason_of(code: u64) -> &'static str {
    use NotDone::{Died, Late, NoThread, Panicked, Sandboxed};
    [NoThread, Died, Panicked, Late, Sandboxed]
        .into_iter()
        .find(|failure| code_of(*failure) == code)
        .map_or("unknown", NotDone::reason)
}
