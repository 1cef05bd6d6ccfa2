//! The hooks: `MPI_Init`, `MPI_Init_thread` and `MPI_Finalize` over their `PMPI_` twins (MPI 4.0,
//! section 15.2).
//!
//! A symbol of the executable takes precedence over that of the shared library, for calls from
//! rsmpi, from the program and from other libraries.

use std::ffi::{c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use mpi::ffi;
use tinyprof::__mpi as recorder;

use crate::run;

/// Runs one of our own steps within a C function, into which a panic must not cross.
fn quietly<T: Default>(step: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|_| {
        recorder::warn("an internal error: the profile may be missing; please report it");
        T::default()
    })
}

/// Initialises MPI by `init`, with our steps before and after it. If recording is off, there are
/// none.
fn initialise(init: impl FnOnce() -> c_int) -> c_int {
    if !run::is_on() {
        return init();
    }
    let signed_in = quietly(run::sign_in);
    let result = init();
    quietly(|| run::begin(signed_in));
    result
}

/// Initialises MPI, and begins the recording.
///
/// # Safety
/// As `MPI_Init` demands: both pointers are null, or point to the arguments of `main`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int {
    // SAFETY: the caller meets the requirements of `MPI_Init`, and this is the same function by its
    // other name.
    initialise(|| unsafe { ffi::PMPI_Init(argc, argv) })
}

/// Initialises MPI for threads, and begins the recording.
///
/// # Safety
/// As `MPI_Init_thread` demands: `argc` and `argv` as for `MPI_Init`, `provided` a place for the
/// result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Init_thread(
    argc: *mut c_int,
    argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    // SAFETY: the caller meets the requirements of `MPI_Init_thread`, and this is the same function
    // by its other name.
    initialise(|| unsafe { ffi::PMPI_Init_thread(argc, argv, required, provided) })
}

/// Writes the profile if it has not been written, and finalises MPI. Collective, as `MPI_Finalize`
/// is.
///
/// # Safety
/// As `MPI_Finalize` demands: MPI is initialised and not finalised, and all communication is
/// complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Finalize() -> c_int {
    if run::is_on() {
        quietly(run::flush_at_finalize);
    }
    // SAFETY: the caller meets the requirements of `MPI_Finalize`; our own communication is
    // complete.
    unsafe { ffi::PMPI_Finalize() }
}
