//! Work of ours on a thread of the program, which may be in a state that our code does not expect.
//!
//! * Somebody may have asked the thread to end (`pthread_cancel`). The next file that is opened or
//!   closed would then end it in the middle of our work, and Rust ends the whole process if its
//!   frames are left in that way.
//! * The program may want signals for errors of floating-point numbers (`feenableexcept`,
//!   `-ffpe-trap`). Rust's compiler takes it that nobody does: it may divide before it knows
//!   whether that is by zero. The program may also round otherwise, or look at the flags later.

use std::ffi::c_int;
use std::ptr;

unsafe extern "C" {
    /// Provided by the C library, but not by the crate `libc`.
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

const CANCEL_DISABLE: c_int = 1;

/// Runs `work` as if the thread were one of ours: it is not cancelled meanwhile, and errors of
/// floating-point numbers are no signals.
pub fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    let _floats = Floats::usual();
    let _cancellation = NotCancelled::begin();
    work()
}

/// Gives this thread, which is ours, the usual arithmetic: it has inherited that of the thread that
/// has made it.
pub(super) fn calculate_as_usual() {
    registers::set(registers::USUAL);
}

/// A guard during whose lifetime the thread is not cancelled.
struct NotCancelled {
    before: Option<c_int>,
}

impl NotCancelled {
    fn begin() -> Self {
        let mut before = 0;
        // SAFETY: the place is valid.
        let refused = unsafe { pthread_setcancelstate(CANCEL_DISABLE, &raw mut before) };
        Self { before: (refused == 0).then_some(before) }
    }
}

impl Drop for NotCancelled {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // The thread does not end here: that needs a call that may wait.
            // SAFETY: the state that it had; the old one may be ignored.
            unsafe { pthread_setcancelstate(before, ptr::null_mut()) };
        }
    }
}

/// A guard during whose lifetime the thread calculates as Rust expects. Afterwards it does so as
/// before, and no flag has changed.
struct Floats {
    before: registers::State,
}

impl Floats {
    fn usual() -> Self {
        let before = registers::state();
        registers::set(registers::USUAL);
        Self { before }
    }
}

impl Drop for Floats {
    fn drop(&mut self) {
        registers::set(self.before);
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod registers {
    use std::arch::asm;

    pub(super) type State = u32;

    /// No signals, rounding to the nearest, no flags.
    pub(super) const USUAL: State = 0x1f80;

    pub(super) fn state() -> State {
        let mut state = 0;
        // SAFETY: writes the register to a valid place.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut state, options(nostack, preserves_flags)) };
        state
    }

    pub(super) fn set(state: State) {
        let place = &raw const state;
        // SAFETY: the usual state, or one that the thread had. What is compiled here calculates
        // nothing meanwhile whose result depends on it.
        unsafe { asm!("ldmxcsr [{}]", in(reg) place, options(nostack, preserves_flags)) };
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod registers {
    use std::arch::asm;

    /// The registers of control and of flags.
    pub(super) type State = [u64; 2];

    /// No signals, rounding to the nearest, no flags.
    pub(super) const USUAL: State = [0, 0];

    pub(super) fn state() -> State {
        let (control, flags);
        // SAFETY: reads two registers of the thread.
        unsafe {
            asm!("mrs {}, fpcr", "mrs {}, fpsr", out(reg) control, out(reg) flags, options(nostack));
        }
        [control, flags]
    }

    pub(super) fn set([control, flags]: State) {
        // SAFETY: the usual state, or one that the thread had. What is compiled here calculates
        // nothing meanwhile whose result depends on it.
        unsafe {
            asm!("msr fpcr, {}", "msr fpsr, {}", in(reg) control, in(reg) flags, options(nostack));
        }
    }
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
mod registers {
    pub(super) type State = ();

    pub(super) const USUAL: State = ();

    pub(super) fn state() -> State {}

    pub(super) fn set(_: State) {}
}
