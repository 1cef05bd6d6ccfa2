//! Where a flush does the work that may hang, or need much memory: everything that touches files, and what puts
//! together the values of a rank.

use std::time::Duration;

use tinyprof::collect::{NotDone, isolated, monotonic_ns};

/// A place for such work. What fails there is data for the other ranks, and never the end of the program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Workplace {
    /// The thread of the caller: for studies and tests.
    #[default]
    Here,
    /// A thread of its own, for all work of a flush until this moment.
    Aside {
        /// The moment, as [`monotonic_ns`] tells it.
        until_ns: u64,
    },
}

/// The shortest time that work gets, however late it begins: removing what is half written is worth it.
const LEAST: Duration = Duration::from_millis(50);

impl Workplace {
    /// Returns a place aside, for a flush that begins now and in which no step may wait longer than `deadline` for others.
    ///
    /// The work gets three quarters of it, so that the other ranks, who wait for its result as long as the deadline says,
    /// hear that it was late before they give up.
    #[cfg_attr(not(feature = "rsmpi"), expect(dead_code, reason = "only MPI has deadlines"))]
    pub(crate) fn aside(deadline: Duration) -> Self {
        let patience = u64::try_from((deadline * 3 / 4).as_nanos()).unwrap_or(u64::MAX);
        Self::Aside { until_ns: monotonic_ns().saturating_add(patience) }
    }

    /// Does `work` and returns its result.
    ///
    /// # Errors
    /// When it was aborted or is not done in time.
    pub(crate) fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotDone> {
        match self {
            Self::Here => Ok(work()),
            Self::Aside { until_ns } => {
                let left = Duration::from_nanos(until_ns.saturating_sub(monotonic_ns()));
                isolated(left.max(LEAST), work)
            }
        }
    }
}

/// Returns a failure as a number from 1 on, which any rank can turn [back](reason_of).
pub(super) const fn code_of(failure: NotDone) -> u64 {
    match failure {
        NotDone::NoThread => 1,
        NotDone::Died => 2,
        NotDone::Panicked => 3,
        NotDone::Late => 4,
    }
}

/// Returns what the failure of this number is.
pub(super) fn reason_of(code: u64) -> &'static str {
    let failures = [NotDone::NoThread, NotDone::Died, NotDone::Panicked, NotDone::Late];
    failures.into_iter().find(|failure| code_of(*failure) == code).map_or("unknown", NotDone::reason)
}
