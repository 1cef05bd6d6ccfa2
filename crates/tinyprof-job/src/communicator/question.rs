//! A question to all ranks of the world, some of which may not have this profiler and never answer.
//!
//! A rank asks it when it comes to `MPI_Finalize`. It has then started every collective of the
//! program on the world, in the order in which all ranks do. So ours is the last one and cannot be
//! matched with any of them, and no rank waits for a collective that needs the caller. It is
//! non-blocking, so that it can be abandoned: an MPI that is finalised with such a request pending
//! ends as usual (measured with MPICH and Open MPI).
//!
//! It is a reduction. The world is duplicated only after it, when all ranks are known to be there:
//! abandoning a half-made communicator is what MPIs handle least reliably.

use std::time::Duration;

use tinyprof_flush::communicator::Interruption;

use super::patience::Patience;
use crate::sys::{Operator, Pending, PrivateCommunicator};

/// Returns the greatest number of all ranks of the world.
///
/// # Errors
/// The reason why it is not known: not all ranks asked within the deadline, or MPI failed.
pub(crate) fn max_of_world(number: u64, deadline: Duration) -> Result<u64, Interruption> {
    let (_, maximum) = within(
        deadline,
        PrivateCommunicator::world_itself().all_reduce(vec![number], Operator::Max),
    )?;
    Ok(maximum.first().copied().unwrap_or(number))
}

/// Duplicates the world, after all of its ranks have come here. `has_attributes` if on any rank the
/// program may have given it attributes: duplicating calls the program's functions for them, so it
/// is split then, which cannot be abandoned.
///
/// # Errors
/// As [`max_of_world`]: another rank may have left while the caller was still asking.
pub(crate) fn duplicate_of_world(
    has_attributes: bool,
    deadline: Duration,
) -> Result<PrivateCommunicator, Interruption> {
    if has_attributes {
        return PrivateCommunicator::split_of_world().map_err(failed);
    }
    within(deadline, PrivateCommunicator::world_itself().duplicate())?.link().map_err(failed)
}

fn within<B>(deadline: Duration, started: Result<Pending<B>, String>) -> Result<B, Interruption> {
    let mut pending = started.map_err(failed)?;
    let call = pending.call();
    let mut wait = Patience::begin();
    while !pending.is_done().map_err(failed)? {
        if wait.so_far() >= deadline {
            return Err(Interruption::Late { call, deadline });
        }
        wait.pause();
    }
    pending.finish().ok_or_else(|| failed(format!("{call} ended twice")))
}

fn failed(reason: String) -> Interruption {
    Interruption::Failed { reason }
}
