//! The errors of a `tinyprof_mpi::Profiler`.

use std::fmt;
use std::path::PathBuf;

use tinyprof_flush::communicator::Interruption;

/// The error that a profiler has been started before in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartError;

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a profiler has been started before in this run: there is one profile a run, keep the first",
        )
    }
}

impl std::error::Error for StartError {}

/// The error that the profile could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlushError {
    /// The profile was not written, for the same reason on every rank.
    NotWritten {
        /// The reason, as rank 0 knows it.
        reason: String,
    },
    /// The ranks did not come together for an interim profile.
    Interrupted {
        /// The reason, as this rank knows it.
        cause: Interruption,
    },
    /// The ranks did not come together for the final profile, and each rank that is left writes its
    /// own data.
    Apart {
        /// The profile of all ranks, which was not written.
        profile: PathBuf,
        /// The profile of this rank.
        own_profile: PathBuf,
        /// The reason, as this rank knows it.
        cause: Interruption,
        /// The reason why this rank's profile was not written either, if it was not.
        own_failure: Option<String>,
    },
}

impl fmt::Display for FlushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWritten { reason } => f.write_str(reason),
            Self::Interrupted { cause } => cause.fmt(f),
            Self::Apart { profile, own_profile, cause, own_failure } => {
                write!(
                    f,
                    "the profile {} was not written: {cause}; every rank that is left writes its own, as {}",
                    profile.display(),
                    own_profile.display(),
                )?;
                own_failure.iter().try_for_each(|failure| write!(f, "; {failure}"))
            }
        }
    }
}

impl std::error::Error for FlushError {}
