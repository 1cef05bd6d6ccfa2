//! Seccomp sandboxes that the program enters, in which a system call of ours may end it.
//!
//! A container's filter is there from the start, and lets us work. So what counts is a change. A
//! thread asks for its own sandbox: new threads inherit it.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI32};

/// The state of a process that has not looked yet.
const UNKNOWN: i32 = -1;
/// Added to the mode if the process has given up the right to gain rights, as it must before it
/// installs a filter, unless it is privileged.
const NO_NEW_RIGHTS: i32 = 1 << 8;

/// The state when the program was loaded.
static AT_START: AtomicI32 = AtomicI32::new(UNKNOWN);
/// Set once the program is known to have entered a sandbox, in which even the question may be
/// fatal.
static IS_NOTED: AtomicBool = AtomicBool::new(false);

/// Records that the program enters a sandbox, for callers that see it doing so.
pub fn note_sandbox() {
    IS_NOTED.store(true, Relaxed);
}

/// Returns whether the calling thread has entered a sandbox since the program was loaded. Any
/// thread, also in a signal handler.
///
/// A filter that does not even allow `prctl` ends the program here, unless
/// [`note_sandbox`] was called. One that is added to a container's is noticed if the process had to
/// give up the right to gain rights for it.
///
/// # Cost
/// A system call.
pub fn is_entered() -> bool {
    if cfg!(miri) {
        return false;
    }
    if IS_NOTED.load(Relaxed) {
        return true;
    }
    let before = AT_START.load(Relaxed);
    before != UNKNOWN && {
        let mode = mode();
        mode != 0
            && (mode != before & !NO_NEW_RIGHTS || (before & NO_NEW_RIGHTS == 0 && gives_up()))
    }
}

/// Looks before `main`: the first region may come after the program has entered its sandbox.
/// Switched off, nothing of this is in the executable.
#[cfg(feature = "enable")]
mod at_start {
    use std::sync::atomic::Ordering::Relaxed;

    use super::{AT_START, NO_NEW_RIGHTS, gives_up, mode};

    #[used]
    #[cfg_attr(not(miri), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        AT_START.store(state(), Relaxed);
    }

    fn state() -> i32 {
        if cfg!(miri) { 0 } else { mode() | if gives_up() { NO_NEW_RIGHTS } else { 0 } }
    }
}

/// Returns 1 in a strict sandbox (which does not allow to ask), 2 with a filter, otherwise 0.
fn mode() -> i32 {
    // SAFETY: takes no pointer. A kernel without seccomp refuses.
    unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) }.max(0)
}

fn gives_up() -> bool {
    // SAFETY: takes no pointer.
    unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_looked_and_is_in_no_sandbox_of_its_own() {
        assert_ne!(AT_START.load(Relaxed), UNKNOWN);
        assert!(!is_entered());
    }
}
