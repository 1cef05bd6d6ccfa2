//! Waiting for a signal on a thread of our own. The handler does no more than post a semaphore:
//! that is allowed at any instruction, and needs no descriptor, which a program that closes all
//! files could take away.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use super::signals::with_all_signals_blocked;
use super::{exit, signals};

/// A semaphore that is initialised before its address is given to anybody.
struct Semaphore(UnsafeCell<MaybeUninit<libc::sem_t>>);

// SAFETY: after its initialisation it is used through the system's calls alone, which any thread
// may make.
unsafe impl Sync for Semaphore {}

/// The signal that is ours, once one is.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

static POSTED: Semaphore = Semaphore(UnsafeCell::new(MaybeUninit::uninit()));

impl Semaphore {
    fn place(&self) -> *mut libc::sem_t {
        self.0.get().cast()
    }
}

/// Why a signal is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftAlone {
    /// The program handles it, or was started with orders to ignore it.
    Taken,
    /// The system did not give us what it takes.
    Refused,
}

/// Has a new thread do `work` after each `signal`; signals that come while it works are one. All
/// signals are blocked in that thread. At most one call in a process.
///
/// A child made by `fork` has the signal's default action again, as it has no such thread.
///
/// # Errors
/// If the signal is somebody else's, or there is no thread to be had: then nothing has changed.
pub(crate) fn on_signal(signal: libc::c_int, work: fn()) -> Result<(), LeftAlone> {
    if action_of(signal, None).ok_or(LeftAlone::Refused)?.sa_sigaction != libc::SIG_DFL {
        return Err(LeftAlone::Taken);
    }
    // SAFETY: the place is valid, and nobody else knows it yet.
    if unsafe { libc::sem_init(POSTED.place(), 0, 0) } != 0 {
        return Err(LeftAlone::Refused);
    }
    let builder = thread::Builder::new().name("tinyprof".to_owned());
    // A thread begins with the mask of the one that makes it: there is no moment at which it takes
    // a signal.
    with_all_signals_blocked(|| builder.spawn(move || forever(work)))
        .map_err(|_| LeftAlone::Refused)?;
    SIGNAL.store(signal, Relaxed);
    exit::in_forked_child(leave_to_the_child);
    action_of(signal, Some(&ours())).map(|_| ()).ok_or(LeftAlone::Refused)
}

fn forever(work: fn()) {
    loop {
        // SAFETY: the semaphore was initialised before this thread began, and is never destroyed.
        if unsafe { libc::sem_wait(POSTED.place()) } == 0 {
            // SAFETY: as above. What was posted meanwhile is told by the same work.
            while unsafe { libc::sem_trywait(POSTED.place()) } == 0 {}
            work();
        }
    }
}

extern "C" fn post(_signal: libc::c_int) {
    // SAFETY: the semaphore was initialised before this handler was installed; a handler may post
    // it. It fails, and changes `errno`, only where two thousand million signals are waiting
    // already.
    unsafe { libc::sem_post(POSTED.place()) };
}

unsafe extern "C" fn leave_to_the_child() {
    let signal = SIGNAL.load(Relaxed);
    let is_ours =
        action_of(signal, None).is_some_and(|action| action.sa_sigaction == ours().sa_sigaction);
    if is_ours {
        action_of(signal, Some(&default_action()));
    }
}

/// Our handler. Calls that it interrupts go on where the system can have them go on.
fn ours() -> libc::sigaction {
    let mut action = default_action();
    action.sa_sigaction = post as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    action
}

fn default_action() -> libc::sigaction {
    // SAFETY: numbers and a pointer, for which zeros are values.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = libc::SIG_DFL;
    action.sa_mask = signals::empty();
    action
}

/// What `signal` has done so far, and `new` is what it does from now on, where that is given.
fn action_of(signal: libc::c_int, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    let mut before = default_action();
    let new = new.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: both are places of an action, or null; the handler of `new` calls nothing that a
    // handler may not call.
    let failed = unsafe { libc::sigaction(signal, new, &raw mut before) } != 0;
    (!failed).then_some(before)
}
