//! Passes a call on with the arguments that it was given.

use std::ffi::c_int;

use crate::words::{Words, of_argument};

/// Calls `function` with `count` arguments.
///
/// # Safety
/// `function` is the address of a C function with that many arguments, none of them a float, and
/// `words` are those of a call that meets its requirements.
#[inline(always)]
pub(crate) unsafe fn forward(function: usize, words: Words, count: u8) -> c_int {
    macro_rules! call {
        ($($index:literal)*) => {{
            type Function = unsafe extern "C-unwind" fn($(of!($index)),*) -> c_int;
            // SAFETY: the caller vouches for the function and the number of its arguments. More in
            // registers than it has do no harm.
            let function = unsafe { std::mem::transmute::<usize, Function>(function) };
            // SAFETY: the caller vouches for the function and the number of its arguments. More in
            // registers than it has do no harm; the words are those of the call.
            unsafe { function($(*words.add(of_argument($index))),*) }
        }};
    }
    macro_rules! of {
        ($index:literal) => {
            usize
        };
    }
    match count {
        0..=6 => call!(0 1 2 3 4 5),
        7 => call!(0 1 2 3 4 5 6),
        8 => call!(0 1 2 3 4 5 6 7),
        9 => call!(0 1 2 3 4 5 6 7 8),
        10 => call!(0 1 2 3 4 5 6 7 8 9),
        11 => call!(0 1 2 3 4 5 6 7 8 9 10),
        12 => call!(0 1 2 3 4 5 6 7 8 9 10 11),
        13 => call!(0 1 2 3 4 5 6 7 8 9 10 11 12),
        _ => call!(0 1 2 3 4 5 6 7 8 9 10 11 12 13),
    }
}
