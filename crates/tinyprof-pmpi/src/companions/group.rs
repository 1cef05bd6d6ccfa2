//! What our own code asks of the ranks of a communicator.

use std::ffi::c_int;

use crate::abi::Handle;
use crate::library::Mpi;

/// Returns the maximum of each word over the ranks of a communicator; `None` if MPI returns an
/// error. Collective over it: the program must have no operation under way there.
///
/// MPICH 4.0 compares them as signed numbers: those of 2^63 and more count as less than the others.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a few")]
pub(super) fn maxima<const N: usize>(
    mpi: &Mpi,
    communicator: Handle,
    own: &[u64; N],
) -> Option<[u64; N]> {
    let mut all = [0; N];
    let (from, to) = (own.as_ptr().cast(), all.as_mut_ptr().cast());
    let (word, max) = (mpi.abi.word, mpi.abi.max);
    // SAFETY: MPI is initialised, the communicator is live, and both arrays hold this many words.
    let code = unsafe { mpi.allreduce(from, to, N as c_int, word, max, communicator) };
    (code == 0).then_some(all)
}

/// As [`maxima`], over the world.
pub(crate) fn maxima_of_world<const N: usize>(mpi: &Mpi, own: &[u64; N]) -> Option<[u64; N]> {
    maxima(mpi, mpi.abi.world, own)
}

/// Returns the caller's rank in a communicator, and the number of its ranks.
pub(super) fn rank_and_size(mpi: &Mpi, communicator: Handle) -> (c_int, c_int) {
    let (mut rank, mut size) = (0, 0);
    // SAFETY: MPI is initialised, the communicator is live, and the place is valid.
    let _ = unsafe { mpi.comm_rank(communicator, &raw mut rank) };
    // SAFETY: MPI is initialised, the communicator is live, and the place is valid.
    let _ = unsafe { mpi.comm_size(communicator, &raw mut size) };
    (rank, size)
}

/// Makes a communicator of our own, of those ranks of another that give the same color, in their
/// order. Its errors are returned. Collective over the other.
///
/// The other's error handler is not touched for the time: it could not be given back. In MPICH a
/// communicator that has none of its own follows that of the world, and setting what it says would
/// end that.
pub(super) fn split(mpi: &Mpi, other: Handle, color: c_int) -> Option<Handle> {
    let mut made = mpi.abi.comm_null;
    // SAFETY: the communicator is live, all its ranks call this, and the place is valid.
    let code = unsafe { mpi.comm_split(other, color, 0, &raw mut made) };
    let made = mpi.abi.handle(made.0);
    if code != 0 || made == mpi.abi.comm_null {
        return None;
    }
    // SAFETY: both handles are live, and the communicator is ours.
    let _ = unsafe { mpi.comm_set_errhandler(made, mpi.abi.errors_return) };
    Some(made)
}
