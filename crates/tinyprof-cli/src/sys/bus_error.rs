//! A guard for a mapped file that another process may shorten. Access beyond its end raises SIGBUS;
//! the handler puts a page of zeros there, and the access succeeds.

use std::ptr;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// The guarded addresses: the first, and the first behind them. Both are 0 if there are none.
static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// The length of a page.
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Set when a page of the guarded mapping was replaced.
static HAS_FAULTED: AtomicBool = AtomicBool::new(false);

/// Held by the only guarded mapping.
static TURN: Mutex<()> = Mutex::new(());

/// The guard of a mapping, which must be dropped before it is unmapped or with it.
#[derive(Debug)]
pub(super) struct Guarded {
    _turn: MutexGuard<'static, ()>,
}

impl Guarded {
    /// Guards a mapping of whole pages. Waits until no other one is guarded.
    pub(super) fn new(start: usize, bytes: usize) -> Self {
        static INSTALLED: Once = Once::new();
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        INSTALLED.call_once(install);
        HAS_FAULTED.store(false, SeqCst);
        START.store(start, SeqCst);
        END.store(start + bytes.next_multiple_of(page_bytes()), SeqCst);
        Self { _turn: turn }
    }

    /// Returns `true` if pages of the mapping were replaced.
    pub(super) fn has_faulted(&self) -> bool {
        HAS_FAULTED.load(SeqCst)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        END.store(0, SeqCst);
        START.store(0, SeqCst);
    }
}

/// Returns the length of a page, in bytes.
pub(super) fn page_bytes() -> usize {
    // SAFETY: takes a constant, and has no effect.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()).unwrap_or(4_096)
}

fn install() {
    PAGE_BYTES.store(page_bytes(), SeqCst);
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = replace;
    // SAFETY: a `sigaction` of zeros is valid: no flags, and an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_SIGINFO;
    // SAFETY: the action is complete, and the handler only makes calls that a handler may make. If
    // the system refuses, SIGBUS ends the process, as it does without a handler.
    unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) };
}

/// Puts a page of zeros where a guarded page is missing. Any other bus error ends the process, when
/// the instruction that raised it is repeated.
extern "C" fn replace(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system passes the description of a signal to a handler with `SA_SIGINFO`.
    let info = unsafe { &*info };
    // SAFETY: SIGBUS has an address. One that a process sent has another number there, which is
    // not within a mapping that is guarded, or at worst replaces a page by zeros.
    let address = unsafe { info.si_addr() }.addr();
    if (START.load(SeqCst)..END.load(SeqCst)).contains(&address) && is_replaced(address) {
        HAS_FAULTED.store(true, SeqCst);
        return;
    }
    // SAFETY: restores the default action, which a handler may do.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

fn is_replaced(address: usize) -> bool {
    let bytes = PAGE_BYTES.load(SeqCst);
    let page = ptr::with_exposed_provenance_mut(address & !(bytes - 1));
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: replaces one page of the guarded mapping by zeros; whoever accesses it asks whether
    // that has happened. `mmap` is a system call and nothing else.
    let place = unsafe { libc::mmap(page, bytes, access, flags, -1, 0) };
    place != libc::MAP_FAILED
}
