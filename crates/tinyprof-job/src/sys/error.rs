//! MPI's error codes as text.

use std::ffi::{c_char, c_int};

use tinyprof_pmpi::mpi;

/// Returns the error for a code that `call` returned, if it is one.
pub(super) fn check(call: &str, code: c_int) -> Result<(), String> {
    if code == 0 {
        return Ok(());
    }
    // Both MPIs promise at most 512 bytes (`MPI_MAX_ERROR_STRING`); extra room costs nothing.
    let mut text = [0_u8; 1024];
    let mut length: c_int = 0;
    // SAFETY: the text has more room than MPI ever writes, and the other place is valid.
    let _ =
        unsafe { mpi().error_string(code, text.as_mut_ptr().cast::<c_char>(), &raw mut length) };
    let length = usize::try_from(length).unwrap_or_default().min(text.len());
    Err(format!("{call} failed: {}", String::from_utf8_lossy(&text[..length]).trim()))
}
