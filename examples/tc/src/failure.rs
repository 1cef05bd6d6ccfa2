//! Failures that all ranks know of and one of them tells.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// Some rank has failed and has said why: all ranks go home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed;

/// What this rank has, if all ranks have something; else the first that has not says why.
/// Collective.
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
