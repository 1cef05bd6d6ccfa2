//! The one function of the C library that this library replaces: that by which a program enters a
//! sandbox.

use std::ffi::{c_int, c_long, c_ulong};

use tinyprof::__mpi::note_sandbox;

/// Calls the system's `prctl`, and notes that the program has entered a seccomp sandbox, in which
/// it may not even be asked.
///
/// # Safety
/// * As the system's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn prctl(
    option: c_int,
    second: c_ulong,
    third: c_ulong,
    fourth: c_ulong,
    fifth: c_ulong,
) -> c_int {
    let enters = option == libc::PR_SET_SECCOMP && is_first_thread();
    let number: c_long = libc::SYS_prctl;
    // SAFETY: the caller keeps the rules of the system's function, which is this call.
    let result = unsafe { libc::syscall(number, option, second, third, fourth, fifth) };
    if enters && result == 0 {
        note_sandbox();
    }
    // Its results are small, or -1.
    c_int::try_from(result).unwrap_or(-1)
}

/// Returns whether the calling thread is the one that ends the program. Others have sandboxes of
/// their own.
fn is_first_thread() -> bool {
    // SAFETY: takes nothing.
    let thread = unsafe { libc::gettid() };
    // SAFETY: takes nothing.
    thread == unsafe { libc::getpid() }
}
