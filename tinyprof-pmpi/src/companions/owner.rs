//! Which thread the state belongs to, where threads may call MPI at the same time: the first that
//! asks.

use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use tinyprof::__calls::Recorder;

use super::common_clock::now_ns;
use crate::library::Mpi;

/// True if threads may call MPI at the same time.
static IS_MULTIPLE: AtomicBool = AtomicBool::new(false);
/// Then, the thread that the state belongs to, by the address of its word; 0: nobody yet.
static OWNER: AtomicUsize = AtomicUsize::new(0);
/// True if several threads have sent or received.
static HAS_SEVERAL: AtomicBool = AtomicBool::new(false);
/// True while the thread that the state belongs to sends or receives.
static IS_IN_CALL: AtomicBool = AtomicBool::new(false);
/// True if that thread has finished the call in which another one has found it.
static IS_SETTLED: AtomicBool = AtomicBool::new(false);
/// Messages received by several threads.
static UNCLEAR: AtomicU64 = AtomicU64::new(0);
/// The longest time that a call may take to bring a message on its way.
const SETTLING_NS: u64 = 10_000_000;

/// Finds out whether threads may call MPI at the same time.
pub(super) fn begin(mpi: &Mpi) {
    let is_multiple = mpi.thread_level().is_none_or(|level| level >= mpi.abi.thread_multiple);
    IS_MULTIPLE.store(is_multiple, Relaxed);
}

/// Returns whether threads may call MPI at the same time.
pub(super) fn is_multiple() -> bool {
    IS_MULTIPLE.load(Relaxed)
}

/// Forgets the owner.
pub(super) fn forget() {
    OWNER.store(0, Relaxed);
}

/// Returns whether this thread may use the state now.
#[inline]
pub(super) fn may_use(recorder: Recorder) -> bool {
    !IS_MULTIPLE.load(Relaxed) || owns(recorder)
}

/// Returns whether several threads have sent or received.
#[inline]
pub(super) fn has_several() -> bool {
    HAS_SEVERAL.load(Relaxed)
}

/// Returns the number of messages that several threads have received.
pub(super) fn unclear() -> u64 {
    UNCLEAR.load(Relaxed)
}

/// Counts a received message whose companion cannot be told, as several threads receive.
pub(crate) fn count_unclear() {
    UNCLEAR.fetch_add(1, Relaxed);
}

/// Begins a call that sends or receives, where threads may do so at the same time. Returns whether
/// [`end_of_several`] has to be called after it.
///
/// A second thread ends the matching of companions, for good. It lets the first finish the call
/// that it is in, if that does not take long: a message that has a number must be on its way before
/// another one is, which has none.
#[inline]
pub(crate) fn begin_of_several(recorder: Recorder) -> bool {
    if !IS_MULTIPLE.load(Relaxed) {
        return false;
    }
    if owns(recorder) {
        IS_IN_CALL.store(true, SeqCst);
        return true;
    }
    HAS_SEVERAL.store(true, SeqCst);
    if !IS_SETTLED.load(Relaxed) {
        let begun_ns = now_ns(recorder);
        while IS_IN_CALL.load(SeqCst) && now_ns(recorder).saturating_sub(begun_ns) < SETTLING_NS {
            std::thread::yield_now();
        }
        IS_SETTLED.store(true, Relaxed);
    }
    false
}

/// Ends a call of the thread that the state belongs to.
#[inline]
pub(crate) fn end_of_several() {
    IS_IN_CALL.store(false, SeqCst);
}

/// Returns whether the state belongs to this thread, which is the first that asks.
fn owns(recorder: Recorder) -> bool {
    let thread = ptr::from_ref(recorder.word()).addr();
    match OWNER.load(Relaxed) {
        0 => OWNER.compare_exchange(0, thread, AcqRel, Relaxed).is_ok(),
        owner => owner == thread,
    }
}
