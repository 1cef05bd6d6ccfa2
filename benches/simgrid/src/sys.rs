//! The shim: safe wrappers of SMPI's calls, and the `main` that smpirun looks for.

use std::ffi::{CStr, c_char, c_double, c_int, c_uint};

unsafe extern "C" {
    fn shim_begin(argc: *mut c_int, argv: *mut *mut *mut c_char);
    safe fn shim_end();
    safe fn shim_rank() -> c_int;
    safe fn shim_size() -> c_int;
    safe fn shim_time() -> c_double;
    safe fn shim_sleep(microseconds: c_uint);
    safe fn shim_send(to: c_int, length: c_int);
    safe fn shim_receive(from: c_int);
}

/// Starts a simulated rank.
///
/// # Safety
/// * Only SimGrid may call it, with the arguments of a C program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main(mut argc: c_int, mut argv: *mut *mut c_char) -> c_int {
    // SAFETY: both point to our own copies, which live through the call.
    unsafe { shim_begin(&raw mut argc, &raw mut argv) };
    let count = usize::try_from(argc).unwrap_or_default();
    let mut arguments = Vec::with_capacity(count);
    for number in 0..count {
        // SAFETY: C programs get `argc` pointers.
        let text = unsafe { *argv.add(number) };
        // SAFETY: each points to a text that ends with a zero and outlives `main`.
        let text = unsafe { CStr::from_ptr(text) };
        arguments.push(text.to_string_lossy().into_owned());
    }
    let status = crate::run(&arguments);
    shim_end();
    c_int::from(status.is_err())
}

pub(crate) fn rank() -> u32 {
    shim_rank().unsigned_abs()
}

pub(crate) fn size() -> u32 {
    shim_size().unsigned_abs()
}

/// Returns the simulated time, in nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a simulation lasts seconds"
)]
pub(crate) fn now_ns() -> u64 {
    (shim_time() * 1e9) as u64
}

/// Advances simulated time, in whole microseconds.
pub(crate) fn sleep_ns(ns: u64) {
    shim_sleep(c_uint::try_from(ns.div_ceil(1000)).unwrap_or(c_uint::MAX));
}

/// Spends the time of sending `length` bytes.
pub(crate) fn send(to: u32, length: usize) {
    shim_send(to.cast_signed(), c_int::try_from(length).unwrap_or(c_int::MAX));
}

/// Waits until a message from this rank has arrived.
pub(crate) fn receive(from: u32) {
    shim_receive(from.cast_signed());
}
