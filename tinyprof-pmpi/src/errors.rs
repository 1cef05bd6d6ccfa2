//! Errors of MPI functions that the profiler calls itself: none of them may end the program, or
//! call its error handler.

use crate::abi::Handle;
use crate::library::Mpi;

/// The error handlers of communicators, while errors of ours are to be returned. Another thread of
/// the program may get an error returned in that time that would have ended it.
#[must_use]
pub(crate) struct Quiet([Option<(Handle, Handle)>; 2]);

impl Quiet {
    /// Begins for functions that are given this communicator.
    pub(crate) fn of(mpi: &Mpi, communicator: Handle) -> Self {
        Self([begin(mpi, communicator), None])
    }

    /// Begins for functions that are given no communicator: their errors belong to `MPI_COMM_SELF`,
    /// before MPI 4.0 to `MPI_COMM_WORLD` (MPI 4.0, section 9.3).
    pub(crate) fn of_all(mpi: &Mpi) -> Self {
        Self([mpi.abi.world, mpi.abi.comm_self].map(|communicator| begin(mpi, communicator)))
    }

    /// Gives the program its error handlers back.
    pub(crate) fn end(self, mpi: &Mpi) {
        for (communicator, mut before) in self.0.into_iter().flatten() {
            // SAFETY: both are live: the handler was got from this communicator.
            let _ = unsafe { mpi.comm_set_errhandler(communicator, before) };
            // SAFETY: getting a handler makes a reference, which is freed once.
            let _ = unsafe { mpi.errhandler_free(&raw mut before) };
        }
    }
}

/// Has errors on a communicator returned, and returns it with its own handler.
fn begin(mpi: &Mpi, communicator: Handle) -> Option<(Handle, Handle)> {
    let mut before = Handle(0);
    // SAFETY: the communicator is live, and the place is valid.
    let code = unsafe { mpi.comm_get_errhandler(communicator, &raw mut before) };
    if code != 0 {
        return None;
    }
    // SAFETY: both are live.
    let _ = unsafe { mpi.comm_set_errhandler(communicator, mpi.abi.errors_return) };
    Some((communicator, mpi.abi.handle(before.0)))
}
