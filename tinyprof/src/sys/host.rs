//! The user and the host of the program.

use std::ffi::CStr;

/// Returns the name of this host.
pub(crate) fn host_name() -> String {
    let mut buffer = [0_u8; 256];
    // SAFETY: the system writes at most the given length into the buffer.
    let failed = unsafe { libc::gethostname(buffer.as_mut_ptr().cast(), buffer.len()) } != 0;
    let name = CStr::from_bytes_until_nul(&buffer).unwrap_or_default();
    if failed { String::new() } else { name.to_string_lossy().into_owned() }
}

/// Returns the number of logical CPUs of this host that its system uses, not only those that this
/// process may run on; 0 if unknown.
pub(crate) fn cpus() -> u32 {
    // SAFETY: takes no pointer.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(online).unwrap_or(0)
}

/// Returns the number of the user.
pub(crate) fn user_id() -> u32 {
    // SAFETY: takes nothing and always succeeds.
    unsafe { libc::getuid() }
}

/// Returns the number of the user whose rights the process has: the owner of the files it makes.
pub(crate) fn effective_user_id() -> u32 {
    // SAFETY: takes nothing and always succeeds.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_a_name() {
        assert!(!host_name().is_empty());
    }
}
