//! The program's communicators, and what MPI says of itself.

use std::ffi::{CStr, c_char, c_int};

use tinyprof_pmpi::{Handle, mpi};

/// A communicator of the program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramCommunicator {
    pub(super) handle: Handle,
    pub(super) rank: u32,
    pub(super) size: u32,
}

impl ProgramCommunicator {
    /// Returns the world. MPI must be initialised.
    pub(crate) fn world() -> Self {
        let mpi = mpi();
        Self::ask(mpi.abi.world)
    }

    /// Returns the communicator with this handle.
    ///
    /// # Safety
    /// * The handle is one of the MPI of this process, and its communicator is live.
    #[must_use]
    pub unsafe fn of_handle(handle: Handle) -> Self {
        Self::ask(handle)
    }

    fn ask(handle: Handle) -> Self {
        let (mut rank, mut size) = (0, 1);
        // SAFETY: the communicator is live, and the place is valid.
        let _ = unsafe { mpi().comm_rank(handle, &raw mut rank) };
        // SAFETY: the communicator is live, and the place is valid.
        let _ = unsafe { mpi().comm_size(handle, &raw mut size) };
        Self { handle, rank: rank.unsigned_abs(), size: size.unsigned_abs() }
    }

    /// Calls `work` while errors on this communicator, which must be the world, are returned. Only
    /// on the thread that finalises MPI: no other may call MPI then.
    ///
    /// Of other communicators the handler must not be touched: in MPICH, one that has none of its
    /// own follows the world's, and setting what it says would end that.
    pub(crate) fn returning_errors<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut before = Handle(0);
        // SAFETY: the communicator is live, and the place is valid.
        let code = unsafe { mpi().comm_get_errhandler(self.handle, &raw mut before) };
        if code != 0 {
            return work();
        }
        // SAFETY: both are live.
        let _ = unsafe { mpi().comm_set_errhandler(self.handle, mpi().abi.errors_return) };
        let result = work();
        // SAFETY: both are live: the handler was got from this communicator.
        let _ = unsafe { mpi().comm_set_errhandler(self.handle, before) };
        // SAFETY: getting a handler makes a reference, which is freed once.
        let _ = unsafe { mpi().errhandler_free(&raw mut before) };
        result
    }

    /// Returns the caller's rank.
    pub(crate) fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the number of ranks.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }
}

/// Returns whether MPI may be called: it is initialised and not finalised.
#[must_use]
pub fn is_usable() -> bool {
    mpi().is_usable()
}

/// Returns MPI's name and version as it tells them, if it does. May be called before MPI is
/// initialised (MPI 4.0, section 9.1.1).
pub(crate) fn library_version() -> Option<String> {
    // `MPI_MAX_LIBRARY_VERSION_STRING` is 8192 in MPICH and in the standard's interface, and less
    // in Open MPI.
    let mut text = vec![0_u8; 1 << 14];
    let mut length: c_int = 0;
    // SAFETY: the text has more room than MPI ever writes, and the other place is valid.
    let code =
        unsafe { mpi().library_version(text.as_mut_ptr().cast::<c_char>(), &raw mut length) };
    let text = CStr::from_bytes_until_nul(&text).ok()?;
    (code == 0).then(|| text.to_string_lossy().into_owned())
}

/// Returns whether several threads may call MPI, one at a time: `MPI_THREAD_SERIALIZED`.
pub(crate) fn is_serialised() -> bool {
    // MPI is initialised when an interim profile is arranged.
    mpi().thread_level() == Some(mpi().abi.thread_serialised)
}

/// Returns the number of the program that this rank runs, among those of its job, or 0 if MPI does
/// not say.
pub(crate) fn program_number() -> c_int {
    let (mut number, mut is_told): (*mut c_int, c_int) = (std::ptr::null_mut(), 0);
    let place = (&raw mut number).cast();
    let abi = &mpi().abi;
    // SAFETY: the world is live, and the attribute of this key is a pointer to a number, for which
    // the place is one.
    let code = unsafe { mpi().comm_get_attr(abi.world, abi.app_number, place, &raw mut is_told) };
    if code != 0 || is_told == 0 || number.is_null() {
        return 0;
    }
    // SAFETY: MPI keeps the number as long as the world.
    unsafe { *number }
}
