//! The words of a call, as its entry point leaves them.

/// The arguments of a call as its entry point found them: those in registers, a word or two of the
/// entry point, and those on the stack.
pub(crate) type Words = *mut usize;

/// The number of arguments in registers.
#[cfg(target_arch = "x86_64")]
pub(crate) const REGISTERS: usize = 6;
/// The number of arguments in registers.
#[cfg(target_arch = "aarch64")]
pub(crate) const REGISTERS: usize = 8;
/// The word of the return address.
pub(crate) const RETURN_ADDRESS: usize = REGISTERS;
/// The word of the first argument on the stack.
#[cfg(target_arch = "x86_64")]
pub(crate) const FROM_STACK: usize = 7;
/// The word of the first argument on the stack.
#[cfg(target_arch = "aarch64")]
pub(crate) const FROM_STACK: usize = 10;

/// From the words to the one with the caller's frame pointer.
#[cfg(target_arch = "x86_64")]
pub(crate) const FRAME_POINTER: isize = -1;
/// From the words to the one with the caller's frame pointer.
#[cfg(target_arch = "aarch64")]
pub(crate) const FRAME_POINTER: isize = -2;

/// The language bindings of MPI, in the high half of an entry point's number.
pub(crate) mod binding {
    /// `MPI_Send`.
    pub(crate) const C: u32 = 0;
    /// `mpi_send_`, of `mpif.h` and `use mpi`.
    pub(crate) const FORTRAN: u32 = 1;
    /// `mpi_send_f08_`, of `use mpi_f08`.
    pub(crate) const FORTRAN_2008: u32 = 2;
    /// `mpi_send_f08ts_`, whose buffers are descriptors.
    pub(crate) const FORTRAN_2008_TS: u32 = 3;
    /// The number of bindings.
    pub(crate) const COUNT: usize = 4;
}

/// Returns the word of an argument.
#[inline]
pub(crate) const fn of_argument(argument: usize) -> usize {
    if argument < REGISTERS { argument } else { argument - REGISTERS + FROM_STACK }
}

/// Returns the word of an argument as a small number, for the table of functions.
#[expect(clippy::cast_possible_truncation, reason = "no function has 200 arguments")]
pub(crate) const fn word_of_argument(argument: usize) -> u8 {
    of_argument(argument) as u8
}
