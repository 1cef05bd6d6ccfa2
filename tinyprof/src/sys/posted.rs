//! A signal that is awaited on a thread of our own. The handler only posts a semaphore: this is
//! allowed at any instruction, and needs no file descriptor, which a program that closes all files
//! could close.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use super::signals::with_all_signals_blocked;
use super::{exit, signals};

/// A semaphore that is initialised before its address is passed on.
struct Semaphore(UnsafeCell<MaybeUninit<libc::sem_t>>);

// SAFETY: after its initialisation it is used through the system's calls alone, which any thread
// may make.
unsafe impl Sync for Semaphore {}

/// The signal that we handle, once there is one.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

static POSTED: Semaphore = Semaphore(UnsafeCell::new(MaybeUninit::uninit()));

impl Semaphore {
    fn place(&self) -> *mut libc::sem_t {
        self.0.get().cast()
    }
}

/// The reason why a signal is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftAlone {
    /// The program handles it, or was started with the signal ignored.
    Taken,
    /// The system refused a resource.
    Refused,
}

/// Makes a new thread run `work` after each `signal`; signals that arrive while it works are merged
/// into one. All signals are blocked in that thread. At most one call per process.
///
/// In a child made by `fork` the signal has its default action again, because the child has no such
/// thread.
///
/// # Errors
/// If the signal is already handled, or no thread could be made. Nothing has then changed.
pub(crate) fn on_signal(signal: libc::c_int, work: fn()) -> Result<(), LeftAlone> {
    if action_of(signal, None).ok_or(LeftAlone::Refused)?.sa_sigaction != libc::SIG_DFL {
        return Err(LeftAlone::Taken);
    }
    // SAFETY: the place is valid, and no other thread knows it yet.
    if unsafe { libc::sem_init(POSTED.place(), 0, 0) } != 0 {
        return Err(LeftAlone::Refused);
    }
    let builder = thread::Builder::new().name("tinyprof".to_owned());
    // A thread starts with the signal mask of its creator, so there is no moment at which it takes
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
            // SAFETY: the semaphore was initialised before this thread began, and is never
            // destroyed. One run of the work serves everything posted meanwhile.
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

/// Returns the action of our handler. Calls that it interrupts are resumed where the system can do
/// that.
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

/// Sets the action of `signal` to `new`, if given, and returns the action before.
fn action_of(signal: libc::c_int, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    let mut before = default_action();
    let new = new.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: both are places of an action, or null; the handler of `new` calls nothing that a
    // handler may not call.
    let failed = unsafe { libc::sigaction(signal, new, &raw mut before) } != 0;
    (!failed).then_some(before)
}
