//! Small functions for processes.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use super::{Ended, MARKER, Watch};

/// Tells the tracer of this process, if there is one, that the process enters a phase.
pub fn mark(phase: u64) {
    // SAFETY: there is no such option, so the call has no effect.
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
        // SAFETY: sends a signal; for a process that is gone already, this is an error without
        // effect.
        unsafe { libc::kill(process, libc::SIGKILL) };
    }
}

/// Ends the process like a C program, with the handlers of `atexit`.
pub fn exit(code: i32) -> ! {
    // SAFETY: no other thread calls it.
    unsafe { libc::exit(code) }
}

/// Writes to standard output without an allocation. A short or failed write is not retried: nobody
/// reads the result then.
pub fn write_out(bytes: &[u8]) {
    // SAFETY: the pointer and the length are those of a slice.
    unsafe { libc::write(libc::STDOUT_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}

/// Waits without a system call.
pub fn spin_us(microseconds: u64) {
    let end = tinyprof::collect::monotonic_ns() + microseconds * 1_000;
    while tinyprof::collect::monotonic_ns() < end {
        std::hint::spin_loop();
    }
}

/// A limit that the system sets for a process.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// The address space, in bytes.
    AddressSpace,
    /// The size of a file, in bytes.
    FileSize,
    /// The number of open files.
    OpenFiles,
    /// The stack of the main thread, in bytes.
    Stack,
}

/// Makes `command` run under this limit.
pub fn limit(command: &mut Command, which: Limit, value: u64) {
    let resource = match which {
        Limit::AddressSpace => libc::RLIMIT_AS,
        Limit::FileSize => libc::RLIMIT_FSIZE,
        Limit::OpenFiles => libc::RLIMIT_NOFILE,
        Limit::Stack => libc::RLIMIT_STACK,
    };
    let set = move || {
        let limits = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: the pointer is to a local value.
        if unsafe { libc::setrlimit(resource, &raw const limits) } == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: the closure makes one system call, and allocates nothing.
    unsafe { command.pre_exec(set) };
}
