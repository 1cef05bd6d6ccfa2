//! Failures that all ranks agree on and one of them reports.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// A failure on some rank, which has reported it: all ranks end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed;

/// Returns this rank's value, if all ranks have one. Otherwise the first rank without one reports
/// the reason. Collective.
#[expect(clippy::print_stderr, reason = "a program says what went wrong")]
pub(crate) fn agreed<T>(world: &SimpleCommunicator, own: Result<T, String>) -> Result<T, Failed> {
    let (mine, mut first) = (if own.is_err() { world.rank() } else { world.size() }, 0);
    world.all_reduce_into(&mine, &mut first, SystemOperation::min());
    match own {
        Ok(own) if first == world.size() => Ok(own),
        Err(reason) if first == world.rank() => {
            eprintln!("tc: {reason}");
            Err(Failed)
        }
        _ => Err(Failed),
    }
}
