//! The memory use of the process.

/// Returns the peak memory in use by this process so far (its resident set), in bytes; 0 if the
/// system does not report it.
///
/// # Cost
/// A system call.
pub(crate) fn peak_memory_bytes() -> u64 {
    // Apple counts in bytes; Linux and the BSDs in KiB.
    const UNIT_BYTES: u64 = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the place is valid for the result.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0;
    // SAFETY: it is numbers only, for which zeros are values; the call may have written others.
    let usage = unsafe { usage.assume_init() };
    if failed { 0 } else { u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(UNIT_BYTES) }
}

/// Returns whether a library of MPI is in this process.
///
/// # Cost
/// The look-up of a symbol.
pub(crate) fn has_mpi() -> bool {
    if cfg!(miri) {
        return false;
    }
    // SAFETY: looks for a name, and the place is not used.
    unsafe { !libc::dlsym(libc::RTLD_DEFAULT, c"MPI_Init".as_ptr()).is_null() }
}

/// Returns how much address space this process may have at most (`ulimit -v`), in bytes.
///
/// # Cost
/// A system call.
pub(crate) fn address_space_bytes() -> u64 {
    if cfg!(miri) {
        return u64::MAX;
    }
    let mut limit = libc::rlimit { rlim_cur: u64::MAX, rlim_max: u64::MAX };
    // SAFETY: the place is valid for the result. If the call fails, it stays as it is.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    limit.rlim_cur
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_stays_after_the_memory_was_given_back() {
        const TAKEN_BYTES: u64 = 64 << 20;
        let taken = vec![1_u8; 64 << 20];
        assert!(std::hint::black_box(&taken).iter().all(|&byte| byte == 1));
        drop(taken);
        let peak = peak_memory_bytes();
        // The kernel may count a few pages late. A wrong unit is wrong by a factor of 1024.
        assert!((TAKEN_BYTES / 2..TAKEN_BYTES * 64).contains(&peak), "{peak}");
    }
}
