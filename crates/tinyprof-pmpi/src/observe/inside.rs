//! Whether a thread is inside of a call: only the outermost is recorded.

use std::ptr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof::__calls::Recorder;

use crate::words::Words;

/// The word of a thread that is inside of a call. It is no address of words.
const INSIDE: usize = 1;

/// Returns the word: 0 outside of all calls.
#[inline(always)]
pub(super) fn word(recorder: Recorder) -> usize {
    recorder.word().load(Relaxed)
}

/// Returns whether a call is open on the thread.
pub(super) fn is_inside(recorder: Recorder) -> bool {
    word(recorder) == INSIDE
}

/// Returns the words of the Fortran call that has led to this call of C, if there is one.
pub(super) fn fortran_words(recorder: Recorder) -> Option<Words> {
    let word = word(recorder);
    (word > INSIDE).then(|| ptr::with_exposed_provenance_mut(word))
}

/// The time that a call is open, or that one of Fortran leads to one of C. Dropping it ends that,
/// also when an exception of the program's language passes through.
pub(super) struct Inside(&'static AtomicUsize);

/// Begins a call.
#[inline(always)]
pub(super) fn enter(recorder: Recorder) -> Inside {
    recorder.word().store(INSIDE, Relaxed);
    Inside(recorder.word())
}

/// Begins a call of Fortran with these words, which leads to a call of C.
pub(super) fn lead_to_c(recorder: Recorder, words: Words) -> Inside {
    recorder.word().store(words.expose_provenance(), Relaxed);
    Inside(recorder.word())
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.store(0, Relaxed);
    }
}
