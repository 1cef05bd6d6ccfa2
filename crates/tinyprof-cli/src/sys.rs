//! The only unsafe code of the command: the date, locks, processes in the background, and files
//! mapped as memory while another process writes to them.

mod background;
#[cfg(feature = "top")]
mod bus_error;
#[cfg(feature = "top")]
mod shared_words;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use tinyprof_segment::clock::{Moment, counter};

#[cfg(feature = "top")]
pub(crate) use background::print_to;
pub(crate) use background::{in_background, wait_for_end_of};
#[cfg(feature = "top")]
pub(crate) use shared_words::SharedWords;

/// Returns the current moment on the processor's counter and the system's clock.
pub(crate) fn now() -> Moment {
    Moment::now_of(counter)
}

/// Returns the time since a moment of the system's clock that does not step back, in ns.
#[cfg(feature = "top")]
pub(crate) fn since(monotonic_ns: u64) -> Duration {
    Duration::from_nanos(now().monotonic_ns.saturating_sub(monotonic_ns))
}

/// Returns the date as the time since 1970 began.
pub(crate) fn since_1970() -> Duration {
    time_of(libc::CLOCK_REALTIME)
}

/// Returns the date in ns since 1970 began.
pub(crate) fn date_ns() -> u64 {
    u64::try_from(since_1970().as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the processor time of this process.
#[cfg(feature = "top")]
pub(crate) fn processor_time() -> Duration {
    time_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn time_of(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing the result. The call cannot fail for these clocks and
    // this address.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns the user id with whose rights this process runs.
pub(crate) fn user_id() -> u32 {
    // SAFETY: takes no arguments and always succeeds.
    unsafe { libc::geteuid() }
}

/// Lets this process go on when the user interrupts what runs on the terminal.
pub(crate) fn ignore_interrupts() {
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: ignoring a signal runs no code, and both may be ignored.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Locks a file or directory for this process alone, unless another process has locked it. The lock
/// lasts until the file is closed or the process ends.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock) if another process has locked it; another kind if it
/// cannot be locked at all.
pub(crate) fn try_lock(file: &File) -> io::Result<()> {
    flock(file, libc::LOCK_EX | libc::LOCK_NB)
}

/// Locks a file or directory like [`try_lock`], but waits for it.
///
/// # Errors
/// If it cannot be locked at all.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    flock(file, libc::LOCK_EX)
}

fn flock(file: &File, operation: libc::c_int) -> io::Result<()> {
    loop {
        // SAFETY: the file is open; no memory is accessed.
        if unsafe { libc::flock(file.as_raw_fd(), operation) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Makes reads of a file wait for bytes. The file must have been opened with `O_NONBLOCK` and no
/// other status flag.
///
/// # Errors
/// If the system refuses.
pub(crate) fn wait_for_bytes(file: &File) -> io::Result<()> {
    // SAFETY: the file is open; no memory is accessed.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
