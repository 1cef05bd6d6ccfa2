//! Two calls that std lacks: the processor time of this thread, and returning memory to the system.

/// Returns the processor time that the calling thread has used, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a `timespec` of our own, which lives through the call.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if failed != 0 {
        return 0;
    }
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Returns free memory to the system, so that the next flush must ask for it like the first one of
/// a program.
pub(crate) fn give_memory_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: glibc takes its own locks and moves nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
