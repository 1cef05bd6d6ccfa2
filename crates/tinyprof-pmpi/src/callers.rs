//! The place of a call in the user's own code: behind bindings and stubs that do no more than call
//! MPI.
//!
//! Most large codes call MPI through a file of stubs, one for each function, so that the place of
//! the call itself says nothing. So the first call from a place looks at the function that made it
//! ([`symbols`]); if that is a wrapper, the place is that of *its* call, and so on. How to get from
//! a frame to the one that called it is in the tables that compilers make for exceptions and
//! debuggers ([`unwinding`]): no frame pointers are assumed. What was found out is kept for each
//! place ([`kept`]), so that later calls read two or three words of the stack.
//!
//! Where the user asks for it, the functions around that place tell calls apart, too ([`chains`]).
//!
//! Calls that an interpreter of Python makes are at the line of the script that it executes
//! ([`python`]).

mod chains;
mod kept;
mod object;
mod python;
mod symbols;
mod unwinding;

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, OnceLock, PoisonError};

use tinyprof::__calls::{CallPlace, starting};
use tinyprof_settings::Wrappers;

use crate::function::FUNCTIONS;
use crate::words::{FRAME_POINTER, FROM_STACK, RETURN_ADDRESS, Words};
pub use chains::set_callers;
use kept::{Kept, Maker};
use object::Object;
use symbols::Symbols;
use unwinding::{Frame, Rule};

/// The most wrappers around each other that are looked through.
const DEPTH_MAX: usize = 8;

static KEPT: Kept = Kept::new();
/// Finding out takes files and memory: one thread at a time.
static SYMBOLS: Mutex<Symbols> = Mutex::new(Symbols::new());
static WRAPPERS: OnceLock<Wrappers> = OnceLock::new();

/// True while the calls are our own: their places need no names.
static IS_WITHOUT_NAMES: AtomicBool = AtomicBool::new(false);

/// Makes calls whose places are taken as they are.
pub(crate) fn without_names<T>(work: impl FnOnce() -> T) -> T {
    IS_WITHOUT_NAMES.store(true, Relaxed);
    let done = work();
    IS_WITHOUT_NAMES.store(false, Relaxed);
    done
}

/// Sets which functions are wrappers beside those that are known by their names. To be called
/// before the first call that is recorded.
pub fn set_wrappers(wrappers: Wrappers) {
    // The first setting stays: calls may have gone by it.
    WRAPPERS.get_or_init(|| wrappers);
}

fn wrappers() -> &'static Wrappers {
    WRAPPERS.get_or_init(Wrappers::default)
}

/// Returns the place of a call of the function at `index` in the user's own code: what the call
/// returns to, or what the wrapper around it returns to, or the line of a script.
///
/// # Cost
/// The first time at a place it reads the symbols of the object that made the call, which takes up
/// to milliseconds. Later a few nanoseconds, and as many for each wrapper and each caller.
///
/// # Safety
/// `words` are those that an entry point has built for a call that is under way.
#[inline(never)]
pub(crate) unsafe fn place(index: usize, words: Words) -> CallPlace {
    // SAFETY: as the caller says.
    let mut frame = unsafe { frame(words) };
    for _ in 0..DEPTH_MAX {
        let key = frame.pc as u64 ^ (index as u64 + 1) << 48;
        let caller = match KEPT.find(key).unwrap_or_else(|| find_out(key, index, &frame)) {
            Maker::Own => None,
            // SAFETY: the rule is that of the place, and the frame is open.
            Maker::Wrapper(rule) => unsafe { rule.caller_of(&frame) },
            Maker::Python => {
                let line = python::line(index);
                return line.map_or(CallPlace::Interpreter(frame.pc), CallPlace::Script);
            }
        };
        match caller {
            Some(caller) => frame = caller,
            None => break,
        }
    }
    // SAFETY: the frame is open.
    unsafe { chains::place(frame) }
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

/// Finds out who has made a call, and how to get out of a wrapper.
#[cold]
#[inline(never)]
fn find_out(key: u64, index: usize, frame: &Frame) -> Maker {
    let maker = starting(|| {
        let mut symbols = SYMBOLS.lock().unwrap_or_else(PoisonError::into_inner);
        maker(&mut symbols, index, frame).unwrap_or(Maker::Own)
    });
    KEPT.keep(key, maker);
    maker
}

fn maker(symbols: &mut Symbols, index: usize, frame: &Frame) -> Option<Maker> {
    if tinyprof::__mpi::is_sandboxed() || IS_WITHOUT_NAMES.load(Relaxed) {
        return None;
    }
    // The call is the instruction before the one that it returns to.
    let address = frame.pc.checked_sub(1)?;
    let object = Object::of(address)?;
    if python::is_part(&object.path, address) {
        return Some(Maker::Python);
    }
    let name = symbols.name(&object, address)?;
    if !wrappers().is_wrapper(&name, FUNCTIONS[index].name) {
        return None;
    }
    let rule = Rule::find(&object, address)?;
    let caller = rule.checked_caller_of(frame)?;
    Object::of(caller.pc.checked_sub(1)?).map(|_| Maker::Wrapper(rule))
}
