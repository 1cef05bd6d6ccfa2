//! The entry points: functions with MPI's names, which keep their arguments and the place that they
//! were called from, and go on in one function for all.
//!
//! They are written in assembler because nothing else tells the place of the call, and because one
//! body then serves all numbers of arguments. Each builds, on its stack:
//!
//! ```text
//! x86-64:   rbp | a0 .. a5 | return address | a6 ..     registers, by `call`, the caller's stack
//! aarch64:  x29 | x30 | a0 .. a7 | return address | - | a8 ..
//! ```

use std::ffi::c_int;

use crate::function::FUNCTIONS;
use crate::observe;
use crate::words::Words;

/// Handles a call of any entry point. `number` is the function's index, and its binding in the high
/// half.
unsafe extern "C-unwind" fn handle(number: u32, words: Words) -> c_int {
    let function = (number & 0xffff) as usize;
    debug_assert!(function < FUNCTIONS.len(), "the entry points are made from the table");
    // SAFETY: the entry point passes its own words, which are those of a call by the program.
    unsafe { observe::call(function, number >> 16, words) }
}

#[cfg(target_arch = "x86_64")]
macro_rules! wrapper {
    ($symbol:ident, $index:literal, $binding:ident) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C-unwind" fn $symbol() {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "push r9",
                "push r8",
                "push rcx",
                "push rdx",
                "push rsi",
                "push rdi",
                "mov rsi, rsp",
                "mov edi, {number}",
                "push rbp",
                ".cfi_def_cfa_offset 64",
                "call {handle}",
                "add rsp, 56",
                ".cfi_def_cfa_offset 8",
                "ret",
                ".cfi_endproc",
                number = const $index | binding::$binding << 16,
                handle = sym handle,
            )
        }
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! wrapper {
    ($symbol:ident, $index:literal, $binding:ident) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C-unwind" fn $symbol() {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "stp x29, x30, [sp, #-96]!",
                ".cfi_def_cfa_offset 96",
                ".cfi_offset 29, -96",
                ".cfi_offset 30, -88",
                "mov x29, sp",
                "stp x0, x1, [sp, #16]",
                "stp x2, x3, [sp, #32]",
                "stp x4, x5, [sp, #48]",
                "stp x6, x7, [sp, #64]",
                "str x30, [sp, #80]",
                "add x1, sp, #16",
                "mov w0, #{low}",
                "movk w0, #{binding}, lsl #16",
                "bl {handle}",
                "ldp x29, x30, [sp], #96",
                ".cfi_def_cfa_offset 0",
                "ret",
                ".cfi_endproc",
                low = const $index,
                binding = const binding::$binding,
                handle = sym handle,
            )
        }
    };
}

/// One function for each name in the table and each binding. They have no Rust signature: programs
/// call them through MPI's headers.
mod wrappers {
    use super::handle;
    use crate::words::binding;

    include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));
}

/// Returns the address of the entry point of `MPI_Comm_rank`.
pub(crate) fn of_comm_rank() -> *const () {
    wrappers::MPI_Comm_rank as *const ()
}
