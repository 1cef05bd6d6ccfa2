//! Calls while measuring is switched off: they go on to MPI without being looked at. Only those
//! that the table of requests or objects has to know of do what they always do.

use std::ffi::c_int;

use tinyprof::__calls::Recorder;

use super::{call_unusual, call_usual, inside, is_usual, original};
use crate::forward::forward;
use crate::function::{Counts, FUNCTIONS, Form, Function, Looks};
use crate::session;
use crate::words::Words;

/// Whether all that a call of each function leaves behind is counted for its visit.
static LEAVES_NOTHING: [bool; FUNCTIONS.len()] = {
    let mut all = [false; FUNCTIONS.len()];
    let mut index = 0;
    while index < all.len() {
        all[index] = leaves_nothing(&FUNCTIONS[index]);
        index += 1;
    }
    all
};

/// Handles a call of a thread whose recorder is set aside, or that has none.
///
/// # Safety
/// As for [`call`](super::call).
#[inline(never)]
pub(super) unsafe fn call(index: usize, called: u32, words: Words) -> c_int {
    let function = &FUNCTIONS[index];
    let original = original::known_of_c(index);
    let recorder = match Recorder::set_aside() {
        Some(recorder) if is_usual(function, called, original) && inside::word(recorder) == 0 => {
            recorder
        }
        // SAFETY: as the caller says.
        _ => return unsafe { call_unusual(index, called, words) },
    };
    if !LEAVES_NOTHING[index] || !session::records_calls_alone() || recorder.has_news() {
        // SAFETY: as the caller says, and the original is the function of this name.
        return unsafe { call_as_always(recorder, index, words, original) };
    }
    let inside = inside::enter(recorder);
    // SAFETY: the original is the function of this name, and the words are those of its call.
    let code = unsafe { forward(original, words, function.arguments) };
    drop(inside);
    code
}

/// Handles a call that tables have to know of, or that has to look for a command. Out of line, so
/// that the others save no registers for it.
///
/// # Safety
/// As for [`call_usual`].
#[inline(never)]
unsafe fn call_as_always(recorder: Recorder, index: usize, words: Words, original: usize) -> c_int {
    // SAFETY: as the caller says.
    unsafe { call_usual(recorder, index, words, original) }
}

/// Returns whether all that a call leaves behind is counted for its visit.
const fn leaves_nothing(function: &Function) -> bool {
    let counts = matches!(
        function.counts,
        Counts::Nothing
            | Counts::Sent
            | Counts::Received
            | Counts::Exchanged
            | Counts::Accessed(_)
            | Counts::Collective(_, Form::Once)
            | Counts::FileRead
            | Counts::FileWritten
    );
    counts && matches!(function.looks, Looks::Never | Looks::After | Looks::AtStatus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tables_know_of_is_looked_at_always() {
        let leaves_nothing = |name: &str| {
            let function = FUNCTIONS.iter().find(|function| function.name == name);
            leaves_nothing(function.expect("in the table"))
        };
        for name in ["Send", "Isend", "Recv", "Sendrecv", "Allreduce", "Ibcast", "Put", "Comm_rank"]
        {
            assert!(leaves_nothing(&format!("MPI_{name}")), "{name}");
        }
        let others = ["Irecv", "Wait", "Testall", "Mprobe", "Send_init", "Start", "Bcast_init"];
        let freeing = ["Comm_free", "Request_free", "Cancel", "Comm_create_keyval"];
        for name in others.into_iter().chain(freeing) {
            assert!(!leaves_nothing(&format!("MPI_{name}")), "{name}");
        }
    }
}
