//! A process in the background, which is nobody's child.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd as _, OwnedFd, RawFd};
use std::path::Path;
use std::ptr;
use std::thread;
use std::time::Duration;

/// How often the end of a process is looked for where the system does not tell of it.
const INTERVAL: Duration = Duration::from_millis(200);

/// Does work in a process of its own, which keeps these files open and no others, has no terminal,
/// and ends with the work. It is no child of this process: who replaces it knows its own children,
/// and would not expect another one. To be called while this process has one thread.
///
/// # Errors
/// If the system does not allow another process.
pub(crate) fn in_background(kept: &[RawFd], work: impl FnOnce()) -> io::Result<()> {
    // SAFETY: this process has one thread, so that no lock is held for ever in the other one.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: takes no arguments.
            unsafe { libc::setsid() };
            // SAFETY: this process has one thread, too.
            if unsafe { libc::fork() } == 0 {
                leave(kept);
                work();
            }
            // SAFETY: takes no memory. What the first process has left to do at its end is not
            // done twice.
            unsafe { libc::_exit(0) }
        }
        child => loop {
            // SAFETY: the result is not asked for.
            let ended = unsafe { libc::waitpid(child, ptr::null_mut(), 0) };
            if ended == child || io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
                return Ok(());
            }
        },
    }
}

/// Leaves everything of the process that has made this one, except for these files.
fn leave(kept: &[RawFd]) {
    std::env::set_current_dir("/").ok();
    let names = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<RawFd> =
        names.filter_map(|name| name.file_name().to_str()?.parse().ok()).collect();
    for descriptor in
        open.into_iter().filter(|descriptor| *descriptor > 2 && !kept.contains(descriptor))
    {
        // SAFETY: nothing in this process uses it any more: it does its work and ends.
        unsafe { libc::close(descriptor) };
    }
    if let Ok(nothing) = fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        for standard in 0..=2 {
            // SAFETY: both are descriptors; no memory is accessed.
            unsafe { libc::dup2(nothing.as_raw_fd(), standard) };
        }
    }
}

/// Makes what this process prints go to a file.
///
/// # Errors
/// If the system refuses.
#[cfg(feature = "top")]
pub(crate) fn print_to(file: &impl AsRawFd) -> io::Result<()> {
    for standard in 1..=2 {
        // SAFETY: both are descriptors; no memory is accessed.
        if unsafe { libc::dup2(file.as_raw_fd(), standard) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Waits until a process has ended.
pub(crate) fn wait_for_end_of(process: u32) {
    if let Some(descriptor) = descriptor_of(process) {
        let mut asked =
            libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: there is one entry, valid for reading and writing.
        while unsafe { libc::poll(&raw mut asked, 1, -1) } == -1 {}
        return;
    }
    let place = format!("/proc/{process}");
    while Path::new(&place).exists() {
        thread::sleep(INTERVAL);
    }
}

/// Returns a descriptor of a process, which becomes readable when it ends. `None` before Linux 5.3.
fn descriptor_of(process: u32) -> Option<OwnedFd> {
    let process = libc::pid_t::try_from(process).ok()?;
    // SAFETY: takes two numbers.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
    let descriptor = RawFd::try_from(descriptor).ok().filter(|descriptor| *descriptor >= 0)?;
    // SAFETY: the system has just made it, for us alone.
    Some(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
