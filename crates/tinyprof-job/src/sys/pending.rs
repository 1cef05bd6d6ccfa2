//! An MPI operation that has been started, with the memory that MPI reads and writes until it is
//! done.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;

use tinyprof_pmpi::{Handle, mpi};

use super::error::check;

/// An operation under way. It owns its buffers.
///
/// If it is dropped before it is done, it is abandoned. MPI cannot cancel a collective (MPI 4.0,
/// section 6.12, allows neither `MPI_Cancel` nor `MPI_Request_free`), so MPI may still read and
/// write the buffers. They are never freed then, on purpose.
#[derive(Debug)]
pub struct Pending<B> {
    call: &'static str,
    request: Handle,
    buffers: ManuallyDrop<B>,
    done: bool,
}

impl<B> Pending<B> {
    /// Wraps a request that `call` has just made over `buffers`.
    pub(super) fn new(call: &'static str, request: Handle, buffers: B) -> Self {
        Self { call, request, buffers: ManuallyDrop::new(buffers), done: false }
    }

    /// Returns the MPI function that started the operation.
    pub fn call(&self) -> &'static str {
        self.call
    }

    /// Lets MPI work, and returns whether the operation is done; its buffers are to be
    /// [taken](Self::finish) then.
    ///
    /// # Errors
    /// Text that names the function and MPI's reason, if the operation failed.
    pub fn is_done(&mut self) -> Result<bool, String> {
        if !self.done {
            let mut flag: c_int = 0;
            // SAFETY: the request is live, as it is done at most once; the other places are valid.
            // The buffers of the request live as long as this value, or for ever.
            let code = unsafe {
                let ignored = mpi().abi.status_ignore as *mut c_void;
                mpi().test(&raw mut self.request, &raw mut flag, ignored)
            };
            check(self.call, code)?;
            self.done = flag != 0;
        }
        Ok(self.done)
    }

    /// Returns the buffers of an operation that is done. An operation that is not done is
    /// abandoned, and its buffers are not returned.
    pub fn finish(mut self) -> Option<B> {
        let done = std::mem::replace(&mut self.done, false);
        // SAFETY: the value is taken here only: `done` is false from now on, so that `drop` leaves
        // it alone.
        done.then(|| unsafe { ManuallyDrop::take(&mut self.buffers) })
    }
}

impl<B> Drop for Pending<B> {
    fn drop(&mut self) {
        if self.done {
            // SAFETY: MPI is done with the buffers, and nobody has taken them, as `done` says.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        }
    }
}
