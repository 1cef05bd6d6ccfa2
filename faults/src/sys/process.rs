//! Small calls about processes.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use super::{Ended, Watch};

/// The first argument of marker calls: an option that `prctl` does not know. The call fails, and
/// does nothing else.
pub(crate) const MARKER: libc::c_int = 0x5450_5246;

/// Says to whoever traces this process that it enters a phase.
pub fn mark(phase: u64) {
    // SAFETY: there is no such option, so that the call has no effect.
    unsafe { libc::prctl(MARKER, phase) };
}

/// Runs a program to its end; kills it after `limit`.
///
/// # Errors
/// When it cannot be started.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Ended> {
    let mut child = command.spawn()?;
    let watch = Watch::begin(child.id(), limit)?;
    let status = child.wait()?;
    Ok(if watch.end() { Ended::TooLong } else { Ended::of(status) })
}

/// Kills a process.
pub fn kill(process: u32) {
    if let Ok(process) = libc::pid_t::try_from(process) {
        // SAFETY: sends a signal; a process that is gone already is an error that changes nothing.
        unsafe { libc::kill(process, libc::SIGKILL) };
    }
}

/// Ends the process as C programs do, with the handlers of `atexit`.
pub fn exit(code: i32) -> ! {
    // SAFETY: no other thread calls it.
    unsafe { libc::exit(code) }
}

/// Writes to standard output without an allocation. A short or failed write is not made good:
/// nobody reads the result then.
pub fn write_out(bytes: &[u8]) {
    // SAFETY: the bytes are there, so many.
    unsafe { libc::write(libc::STDOUT_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}

/// Waits without a call into the system.
pub fn spin_us(microseconds: u64) {
    let end = tinyprof::collect::monotonic_ns() + microseconds * 1_000;
    while tinyprof::collect::monotonic_ns() < end {
        std::hint::spin_loop();
    }
}

/// A limit that the system sets to a process.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// Bytes of address space.
    AddressSpace,
    /// Bytes of a file.
    FileSize,
    /// Open files.
    OpenFiles,
    /// Bytes of the main thread's stack.
    Stack,
}

/// Has `command` run under this limit.
pub fn limit(command: &mut Command, which: Limit, value: u64) {
    let resource = match which {
        Limit::AddressSpace => libc::RLIMIT_AS,
        Limit::FileSize => libc::RLIMIT_FSIZE,
        Limit::OpenFiles => libc::RLIMIT_NOFILE,
        Limit::Stack => libc::RLIMIT_STACK,
    };
    let set = move || {
        let limits = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: the limits are there.
        if unsafe { libc::setrlimit(resource, &raw const limits) } == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: the closure makes one system call, and allocates nothing.
    unsafe { command.pre_exec(set) };
}
