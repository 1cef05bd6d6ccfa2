//! The processor time of threads and of the process, and what it was kept waiting for.
//!
//! Nothing here is a cancellation point, allocates, or changes `errno`: threads of the program call
//! it at their beginning and end.

use super::sandbox;

/// The processor time of a thread since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadTime {
    /// The time for which it ran, in ns.
    pub(crate) cpu_ns: u64,
    /// The time for which it could have run, but had no processor, in ns.
    pub(crate) delay_ns: u64,
}

impl ThreadTime {
    /// Returns the times in a file `schedstat`; none in one of a kernel that does not keep them.
    fn parse(text: &[u8]) -> Option<Self> {
        let mut numbers = text.split(|byte| byte.is_ascii_whitespace()).map(|number| {
            let number = std::str::from_utf8(number).ok()?;
            number.parse::<u64>().ok()
        });
        let (cpu_ns, delay_ns, turns) = (numbers.next()??, numbers.next()??, numbers.next()??);
        // A thread that has run had at least one turn.
        (turns > 0).then_some(Self { cpu_ns, delay_ns })
    }

    /// Returns the times of a thread of this process, or `None` if the system does not say, or must
    /// not be asked in a sandbox. Any thread.
    ///
    /// # Cost
    /// Four system calls: 5 us.
    pub(crate) fn of(thread: u32) -> Option<Self> {
        linux::read(thread, "schedstat").and_then(|(text, length)| Self::parse(text.get(..length)?))
    }
}

/// Returns the number of the calling thread; 0 if unknown.
pub(crate) fn thread_number() -> u32 {
    if cfg!(miri) || sandbox::is_entered() { 0 } else { linux::thread_number() }
}

/// What the names of the profiler's threads begin with, where these last.
const OWN_NAME: &[u8] = b"tinyprof";

/// Returns whether a thread of this process is one of the profiler's, by its name.
pub(crate) fn is_own_thread(thread: u32) -> bool {
    linux::read(thread, "comm").is_some_and(|(name, _)| name.starts_with(OWN_NAME))
}

/// Returns the processor time of this process, with all threads that it ever had, in ns; `None`
/// if the system does not say, or must not be asked in a sandbox.
pub(crate) fn process_cpu_ns() -> Option<u64> {
    cpu_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the processor time of the calling thread, in ns; `None` if the system does not say, or
/// must not be asked in a sandbox.
pub(crate) fn own_cpu_ns() -> Option<u64> {
    cpu_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn cpu_ns(clock: libc::clockid_t) -> Option<u64> {
    if cfg!(miri) || sandbox::is_entered() {
        return None;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is valid for the result.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return None;
    }
    let (s, ns) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_nsec).ok()?);
    s.checked_mul(1_000_000_000)?.checked_add(ns)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::Write;

    use super::sandbox;

    /// The longest file: three numbers of 20 digits.
    const TEXT_BYTES: usize = 64;

    pub(super) fn thread_number() -> u32 {
        // SAFETY: takes nothing and always succeeds.
        u32::try_from(unsafe { libc::syscall(libc::SYS_gettid) }).unwrap_or(0)
    }

    /// Reads the beginning of a short file on a thread, by bare system calls: those of the C
    /// library are cancellation points.
    pub(super) fn read(thread: u32, file: &str) -> Option<([u8; TEXT_BYTES], usize)> {
        if thread == 0 || cfg!(miri) || sandbox::is_entered() {
            return None;
        }
        let mut path = [0_u8; 48];
        // The last byte stays zero.
        let room = path.len() - 1;
        write!(&mut path[..room], "/proc/self/task/{thread}/{file}").ok()?;
        let errno = errno();
        let read = read_file(&path);
        set_errno(errno);
        read
    }

    fn read_file(path: &[u8; 48]) -> Option<([u8; TEXT_BYTES], usize)> {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        // SAFETY: the path ends with a zero.
        let file =
            unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0) };
        if file < 0 {
            return None;
        }
        let mut text = [0_u8; TEXT_BYTES];
        // SAFETY: the buffer has this length.
        let length = unsafe { libc::syscall(libc::SYS_read, file, text.as_mut_ptr(), TEXT_BYTES) };
        // SAFETY: the file was opened above, and nobody else knows it.
        unsafe { libc::syscall(libc::SYS_close, file) };
        Some((text, usize::try_from(length).ok()?))
    }

    fn errno() -> i32 {
        // SAFETY: takes nothing.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: the place is that of this thread.
        unsafe { *place }
    }

    fn set_errno(number: i32) {
        // SAFETY: takes nothing.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: the place is that of this thread.
        unsafe { *place = number };
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    pub(super) fn thread_number() -> u32 {
        0
    }

    pub(super) fn read(_: u32, _: &str) -> Option<([u8; 0], usize)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_are_the_times() {
        let times = |text: &str| ThreadTime::parse(text.as_bytes());
        assert_eq!(times("5 7 2\n"), Some(ThreadTime { cpu_ns: 5, delay_ns: 7 }));
        for unknown in ["0 0 0\n", "", "5 7", "5 x 2\n", "-1 7 2"] {
            assert_eq!(times(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_thread_that_works_has_processor_time_and_the_process_has_as_much() {
        if cfg!(miri) {
            return;
        }
        let work = || {
            let mut sum = 0_u64;
            for number in 0..3_000_000_u64 {
                sum = std::hint::black_box(sum ^ number);
            }
            sum
        };
        let (before, process) = (ThreadTime::of(thread_number()).unwrap(), process_cpu_ns());
        std::hint::black_box(work());
        let (after, later) = (ThreadTime::of(thread_number()).unwrap(), process_cpu_ns());
        assert!(after.cpu_ns > before.cpu_ns && after.delay_ns >= before.delay_ns);
        assert!(later.unwrap() - process.unwrap() >= after.cpu_ns - before.cpu_ns);
        assert_eq!(ThreadTime::of(0), None);
        assert_eq!(ThreadTime::of(u32::MAX), None, "there is no such thread");
    }
}
