//! The place of a call in the user's own code: behind bindings and stubs that do no more than call
//! MPI.
//!
//! Most large codes call MPI through a file of stubs, one for each function, so that the place of
//! the call itself says nothing. So the first call from a place looks at the function that made it
//! ([`symbols`]); if that is a wrapper, the place is that of *its* call, and so on. How to get from
//! a frame to the one that called it is in the tables that compilers make for exceptions and
//! debuggers ([`unwinding`]): no frame pointers are assumed. What was found out is kept for each
//! place ([`kept`]), so that later calls read two or three words of the stack.

mod kept;
mod object;
mod symbols;
mod unwinding;

use std::sync::{Mutex, OnceLock, PoisonError};

use tinyprof_settings::Wrappers;

use crate::function::FUNCTIONS;
use crate::words::{FRAME_POINTER, FROM_STACK, RETURN_ADDRESS, Words};
use kept::Kept;
use object::Object;
use symbols::Symbols;
use unwinding::{Frame, Rule};

/// The most wrappers around each other that are looked through.
const DEPTH_MAX: usize = 8;

static KEPT: Kept = Kept::new();
/// Finding out takes files and memory: one thread at a time.
static SYMBOLS: Mutex<Symbols> = Mutex::new(Symbols::new());
static WRAPPERS: OnceLock<Wrappers> = OnceLock::new();

/// Sets which functions are wrappers beside those that are known by their names. To be called
/// before the first call that is recorded.
pub fn set_wrappers(wrappers: Wrappers) {
    // The first setting stays: calls may have gone by it.
    WRAPPERS.get_or_init(|| wrappers);
}

/// Returns the place of a call of the function at `index` in the user's own code: what the call
/// returns to, or what the wrapper around it returns to.
///
/// # Cost
/// The first time at a place it reads the symbols of the object that made the call, which takes up
/// to milliseconds. Later a few nanoseconds, and as many for each wrapper.
///
/// # Safety
/// `words` are those that an entry point has built for a call that is under way.
#[inline(never)]
pub(crate) unsafe fn place(index: usize, words: Words) -> usize {
    // SAFETY: as the caller says.
    let mut frame = unsafe { frame(words) };
    for _ in 0..DEPTH_MAX {
        let key = frame.pc as u64 ^ (index as u64 + 1) << 48;
        let rule = KEPT.find(key).unwrap_or_else(|| find_out(key, index, &frame));
        // SAFETY: the rule is that of the place, and the frame is open.
        let caller = rule.and_then(|rule| unsafe { rule.caller_of(&frame) });
        match caller {
            Some(caller) => frame = caller,
            None => break,
        }
    }
    frame.pc
}

/// Returns the frame of the function that has made a call.
///
/// # Safety
/// As for [`place`].
unsafe fn frame(words: Words) -> Frame {
    Frame {
        // SAFETY: the entry point has stored the place there.
        pc: unsafe { *words.wrapping_add(RETURN_ADDRESS) },
        sp: words.wrapping_add(FROM_STACK).addr(),
        // SAFETY: the entry point has stored the register there.
        fp: unsafe { *words.wrapping_offset(FRAME_POINTER) },
    }
}

/// Finds out whether the function of a frame is a wrapper, and how to get out of it.
#[cold]
#[inline(never)]
fn find_out(key: u64, index: usize, frame: &Frame) -> Option<Rule> {
    let mut symbols = SYMBOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let rule = rule_of_wrapper(&mut symbols, index, frame);
    KEPT.keep(key, rule);
    rule
}

fn rule_of_wrapper(symbols: &mut Symbols, index: usize, frame: &Frame) -> Option<Rule> {
    if tinyprof::__mpi::is_sandboxed() {
        return None;
    }
    // The call is the instruction before the one that it returns to.
    let address = frame.pc.checked_sub(1)?;
    let object = Object::of(address)?;
    let name = symbols.name(&object, address)?;
    let wrappers = WRAPPERS.get_or_init(Wrappers::default);
    if !wrappers.is_wrapper(&name, FUNCTIONS[index].name) {
        return None;
    }
    let rule = Rule::find(&object, address)?;
    let caller = rule.checked_caller_of(frame)?;
    Object::of(caller.pc.checked_sub(1)?).map(|_| rule)
}
