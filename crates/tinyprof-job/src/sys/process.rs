//! The system's information about this process and about those that it communicates with.

use std::ffi::CStr;
use std::mem::MaybeUninit;

/// Returns the effective user ID of the process, which owns the files that it creates.
pub(crate) fn effective_user_id() -> u32 {
    // SAFETY: takes nothing and always succeeds.
    unsafe { libc::geteuid() }
}

/// Returns the process that made the socket behind `descriptor`, and its start time, as text that
/// no other process has until the machine is restarted. Returns `None` if there is no such socket,
/// or the process cannot be seen.
pub(crate) fn socket_peer(descriptor: i32) -> Option<String> {
    let mut credentials = MaybeUninit::<libc::ucred>::zeroed();
    let mut length = libc::socklen_t::try_from(size_of::<libc::ucred>()).ok()?;
    // SAFETY: the place has as many bytes as the length says, and a descriptor that is not a socket
    // gives an error.
    let failed = unsafe {
        let place = credentials.as_mut_ptr().cast();
        libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_PEERCRED, place, &raw mut length)
    } != 0;
    // SAFETY: the place holds three numbers, for which zero is a value.
    let process_id = unsafe { credentials.assume_init() }.pid;
    if failed || process_id <= 0 {
        return None;
    }
    let stat = std::fs::read(format!("/proc/{process_id}/stat")).ok()?;
    let began = tinyprof_format::segment::ProcessState::parse_bytes(&stat)?.start_time;
    Some(format!("{process_id} since {began}"))
}

/// Returns the path by which this program was started.
pub(crate) fn started_as() -> Option<String> {
    // SAFETY: takes a number and always succeeds.
    let path = unsafe { libc::getauxval(libc::AT_EXECFN) };
    if path == 0 {
        return None;
    }
    // SAFETY: the kernel has put a C string there, which lives as long as the process.
    let path =
        unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance(usize::try_from(path).ok()?)) };
    path.to_str().ok().map(str::to_owned)
}
