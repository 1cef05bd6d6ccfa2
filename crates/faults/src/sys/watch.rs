//! A time limit for a program.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// A watch that kills a program that takes too long.
#[derive(Debug)]
pub struct Watch {
    over: Sender<()>,
    thread: std::thread::JoinHandle<bool>,
}

impl Watch {
    /// Begins to watch a child of this process that has not been waited for yet.
    ///
    /// # Errors
    /// When the system has no process descriptors.
    pub fn begin(process: u32, limit: Duration) -> io::Result<Self> {
        // A descriptor, because process IDs are reused. SAFETY: opens a descriptor of a child that
        // has not been waited for yet.
        let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
        let descriptor = i32::try_from(descriptor).ok().filter(|&descriptor| descriptor >= 0);
        let descriptor = descriptor.ok_or_else(io::Error::last_os_error)?;
        // SAFETY: the descriptor was just opened, and nothing else owns it.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let (over, is_over) = channel();
        let thread = std::thread::spawn(move || {
            let too_long = is_over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            if too_long {
                let nothing = std::ptr::null::<libc::siginfo_t>();
                // SAFETY: the descriptor is open; no information is passed with the signal.
                unsafe {
                    libc::syscall(
                        libc::SYS_pidfd_send_signal,
                        descriptor.as_raw_fd(),
                        libc::SIGKILL,
                        nothing,
                        0,
                    )
                };
            }
            too_long
        });
        Ok(Self { over, thread })
    }

    /// Ends the watch, and returns whether the program was killed.
    #[must_use]
    pub fn end(self) -> bool {
        drop(self.over);
        self.thread.join().unwrap_or_default()
    }
}
