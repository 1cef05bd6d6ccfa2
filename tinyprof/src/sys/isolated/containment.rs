//! Aborts and faults of isolated work, kept from ending the program.
//!
//! While such work runs, the handlers of `SIGABRT`, `SIGBUS` and `SIGSEGV` are ours. On a worker
//! they park the thread. On any other thread they do what the program's own handlers would have
//! done.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::mem::{MaybeUninit, transmute};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::signals;
use super::{die, is_worker};

const SIGNALS: [libc::c_int; 3] = [libc::SIGABRT, libc::SIGBUS, libc::SIGSEGV];

/// The handlers of the program.
struct Previous(UnsafeCell<[MaybeUninit<libc::sigaction>; SIGNALS.len()]>);

// SAFETY: written while no handler of ours is installed, by the one thread that holds `USERS`.
unsafe impl Sync for Previous {}

static PREVIOUS: Previous = Previous(UnsafeCell::new([MaybeUninit::uninit(); SIGNALS.len()]));
/// The number of callers that wait for isolated work. Workers never lock it, so it is never left
/// locked.
static USERS: Mutex<usize> = Mutex::new(0);

/// A guard during whose lifetime a failing worker does not end the process.
pub(super) struct Containment(());

impl Containment {
    pub(super) fn begin() -> Self {
        let mut users = users();
        if *users == 0 {
            for (at, &signal) in SIGNALS.iter().enumerate() {
                install(at, signal);
            }
        }
        *users += 1;
        Self(())
    }
}

impl Drop for Containment {
    fn drop(&mut self) {
        let mut users = users();
        *users -= 1;
        if *users == 0 {
            for (at, &signal) in SIGNALS.iter().enumerate() {
                restore(at, signal);
            }
        }
    }
}

/// Unblocks the signals of faults in this worker: a fault whose signal is blocked ends the process.
pub(super) fn let_faults_through() {
    let mut faults = signals::empty();
    for signal in SIGNALS {
        // SAFETY: a set that the system made.
        unsafe { libc::sigaddset(&raw mut faults, signal) };
    }
    // SAFETY: the mask is that of this thread alone.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const faults, ptr::null_mut()) };
}

fn users() -> MutexGuard<'static, usize> {
    USERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn previous(at: usize) -> *mut libc::sigaction {
    PREVIOUS.0.get().cast::<libc::sigaction>().wrapping_add(at)
}

fn install(at: usize, signal: libc::c_int) {
    // SAFETY: numbers and a pointer, for which zeros are values.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handle as *const () as libc::sighandler_t;
    // On the program's signal stacks if it has any: a fault may be a stack overflow.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    action.sa_mask = signals::empty();
    // The read comes first and alone: after the second call the handler may use it.
    // SAFETY: the place is valid, and no handler of ours is installed yet.
    unsafe { libc::sigaction(signal, ptr::null(), previous(at)) };
    // SAFETY: the handler calls nothing that a handler may not call.
    unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
}

/// Restores the program's handler, unless the program has replaced ours meanwhile.
fn restore(at: usize, signal: libc::c_int) {
    let mut now = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the place is valid.
    unsafe { libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) };
    // SAFETY: zeros, or what the system has written.
    let now = unsafe { now.assume_init() };
    if now.sa_sigaction == handle as *const () as libc::sighandler_t {
        // SAFETY: restores what the system said was there before.
        unsafe { libc::sigaction(signal, previous(at), ptr::null_mut()) };
    }
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if is_worker() {
        die();
    }
    let at = SIGNALS.iter().position(|&ours| ours == signal).unwrap_or(0);
    // SAFETY: written before this handler was installed.
    let previous = unsafe { *previous(at) };
    match previous.sa_sigaction {
        libc::SIG_IGN => {}
        libc::SIG_DFL => {
            // SAFETY: restores the default, with which the signal that is raised below, or the
            // repeated fault, ends the process as it would have without us.
            unsafe { libc::sigaction(signal, &raw const previous, ptr::null_mut()) };
            // SAFETY: a signal to this thread; it is delivered when the handler returns.
            unsafe { libc::raise(signal) };
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: the program has installed it as a handler of this kind.
            let handler = unsafe { transmute::<libc::sighandler_t, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: the program has installed it as a handler of this kind.
            let handler =
                unsafe { transmute::<libc::sighandler_t, extern "C" fn(libc::c_int)>(handler) };
            handler(signal);
        }
    }
}
