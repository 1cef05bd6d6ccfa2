//! The result of a call: its code, and whether messages were received in spite of an error.

use std::ffi::c_int;

use super::Call;

impl Call {
    /// Returns whether the call has succeeded.
    #[inline]
    pub(super) fn is_successful(&self, code: c_int) -> bool {
        self.code(code) == 0
    }

    /// Returns whether a call that has failed has taken messages all the same: one that was longer
    /// than its buffer is received and gone, and of several requests some may have completed.
    #[cold]
    #[inline(never)]
    pub(super) fn has_taken(&self, returned: c_int) -> bool {
        let abi = &self.arguments.mpi.abi;
        let class = || self.arguments.mpi.class_of(self.code(returned));
        self.function.takes
            && class().is_some_and(|class| [abi.truncate, abi.in_status].contains(&class))
    }

    /// Returns the code of the call, whose function has returned `returned`. Fortran's functions
    /// return it in an argument, which `mpi_f08` leaves out.
    #[inline]
    pub(super) fn code(&self, returned: c_int) -> c_int {
        if !self.arguments.is_fortran {
            return returned;
        }
        // 0 if the program leaves it out.
        self.arguments.output(self.function.error)
    }
}
