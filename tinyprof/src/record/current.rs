//! Where the arena of the current thread is, or why it has none: as a plain pointer.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::sys::thread_word;

thread_local! {
    static CURRENT: Cell<*const ()> = const { Cell::new(ptr::null()) };
}

/// The greatest value that is no arena, but says why there is none.
pub(super) const LAST_MARK: usize = 3;

/// The bit of an arena that is set aside, as measuring is switched off in it: no address has it.
/// One comparison then tells both that there is no arena, and that it measures nothing.
pub(super) const SET_ASIDE: usize = 1 << (usize::BITS - 1);
/// True if the arena is set aside for wrappers of MPI's functions, too.
static SETS_ASIDE_FOR_CALLS: AtomicBool = AtomicBool::new(false);

/// Returns the arena or state of the calling thread.
#[inline]
pub(super) fn get() -> *const () {
    CURRENT.get()
}

/// Returns the address of an arena that may be set aside.
#[inline]
pub(super) fn without_mark(current: *const ()) -> *const () {
    current.map_addr(|address| address & !SET_ASIDE)
}

/// Changes the arena or state of the calling thread. An arena may be set aside.
pub(super) fn set(current: *const (), is_set_aside: bool) {
    let current = without_mark(current);
    let is_arena = current.addr() > LAST_MARK;
    let aside = if is_arena && is_set_aside { SET_ASIDE } else { 0 };
    CURRENT.set(current.map_addr(|address| address | aside));
    let aside = if SETS_ASIDE_FOR_CALLS.load(Relaxed) { aside } else { 0 };
    thread_word::set(if is_arena { current.expose_provenance() | aside } else { 0 });
}

/// Sets an arena aside, or no longer, if it is that of the calling thread.
pub(super) fn set_aside(arena: *const (), is_set_aside: bool) {
    if without_mark(get()) == arena {
        set(arena, is_set_aside);
    }
}

/// Has the thread's word bear the mark of an arena that is set aside as well, or no longer.
pub(super) fn set_aside_for_calls(is_set_aside: bool) {
    SETS_ASIDE_FOR_CALLS.store(is_set_aside, Relaxed);
    set(get(), get().addr() & SET_ASIDE != 0);
}
