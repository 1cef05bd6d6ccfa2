//! Protection from the signals of failed writes, which must not end the program.
//!
//! Two signals report a failed write, and end a program that does not handle them. `SIGPIPE` means
//! that the reader of standard error is gone (programs meant for `program | head` restore its
//! default action). `SIGXFSZ` means that a file would exceed `ulimit -f`. The write also returns an
//! error, and we check that.

use std::mem::MaybeUninit;
use std::ptr;

use super::sandbox;

/// Runs `work`, during which writes of the current thread do not send it either signal. In a
/// sandbox it just runs it.
pub fn without_write_signals<T>(work: impl FnOnce() -> T) -> T {
    if sandbox::is_entered() {
        return work();
    }
    let _held = Held::back(&[libc::SIGPIPE, libc::SIGXFSZ]);
    work()
}

/// Runs `work` with all signals blocked in the current thread, and so also in threads that `work`
/// creates.
pub(super) fn with_all_signals_blocked<T>(work: impl FnOnce() -> T) -> T {
    let (mut all, mut before) = (empty(), empty());
    // SAFETY: the place is valid, and the call cannot fail.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: both are sets that the system made; the mask is that of this thread alone.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    let done = work();
    // SAFETY: restores what `pthread_sigmask` said was there before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
    done
}

/// A guard that blocks signals in this thread until it is dropped.
struct Held {
    before: libc::sigset_t,
    /// Those of the signals that were not pending before: one that arrives meanwhile is ours, and
    /// is discarded.
    ours: libc::sigset_t,
}

impl Held {
    fn back(signals: &[libc::c_int]) -> Self {
        let (pending, mut held, mut ours) = (pending(), empty(), empty());
        for &signal in signals {
            // SAFETY: `held` is a set that the system made.
            unsafe { libc::sigaddset(&raw mut held, signal) };
            // SAFETY: `pending` is a set that the system made.
            if unsafe { libc::sigismember(&raw const pending, signal) } == 0 {
                // SAFETY: `ours` is a set that the system made.
                unsafe { libc::sigaddset(&raw mut ours, signal) };
            }
        }
        let mut before = empty();
        // SAFETY: both are sets that the system made; the mask is that of this thread alone.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const held, &raw mut before) };
        Self { before, ours }
    }

    /// Takes the next of our signals that is pending. Returns false if none is.
    fn take(&self) -> bool {
        let pending = pending();
        let ours = [libc::SIGPIPE, libc::SIGXFSZ].into_iter().any(|signal| {
            // SAFETY: `pending` is a set that the system made.
            let waits = unsafe { libc::sigismember(&raw const pending, signal) } == 1;
            // SAFETY: `ours` is a set that the system made.
            waits && unsafe { libc::sigismember(&raw const self.ours, signal) } == 1
        });
        let mut signal = 0;
        // SAFETY: both places are valid. A signal of ours is pending, so that the call returns at
        // once.
        ours && unsafe { libc::sigwait(&raw const self.ours, &raw mut signal) } == 0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        while self.take() {}
        // SAFETY: restores what `pthread_sigmask` said was there before.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut())
        };
    }
}

pub(super) fn empty() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the place is valid, and the call cannot fail.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: the call has made it an empty set.
    unsafe { set.assume_init() }
}

fn pending() -> libc::sigset_t {
    let mut set = empty();
    // SAFETY: the place is valid. Should the call fail, the set stays empty.
    unsafe { libc::sigpending(&raw mut set) };
    set
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_broken_pipe_is_an_error_and_no_signal() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        drop(reader);
        let error = without_write_signals(|| {
            // The test's own process ignores the signal, so the test raises it itself.
            // SAFETY: a signal to this thread, which has blocked it.
            unsafe { libc::raise(libc::SIGXFSZ) };
            writer.write_all(b"x").unwrap_err()
        });
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
        let pending = pending();
        // SAFETY: `pending` is a set that the system made.
        assert_eq!(unsafe { libc::sigismember(&raw const pending, libc::SIGXFSZ) }, 0);
    }
}
