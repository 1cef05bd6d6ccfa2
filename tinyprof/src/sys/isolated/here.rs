//! Work on the thread that asks for it, where no other one could do it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::loader::stack_left_bytes;
use super::super::signals::with_all_signals_blocked;
use super::super::undisturbed::undisturbed;
use super::NotDone;

/// The stack that work needs: the least that a worker gets.
const STACK_BYTES: usize = 1 << 20;

/// Runs `work` on this thread, that of a constructor or destructor of a library, which another one
/// would wait for.
pub(super) fn here<T>(work: impl FnOnce() -> T) -> Result<T, NotDone> {
    if stack_left_bytes() < STACK_BYTES {
        return Err(NotDone::NoThread);
    }
    let quietly = || catch_unwind(AssertUnwindSafe(work)).map_err(|_| NotDone::Panicked);
    undisturbed(|| with_all_signals_blocked(quietly))
}
