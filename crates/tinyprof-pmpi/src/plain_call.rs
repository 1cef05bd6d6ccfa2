//! Measures the overhead of a wrapped call without data, including the jump into the wrapper and
//! back, which the wrapper cannot measure itself.

use std::ffi::c_int;
use std::hint::black_box;

use tinyprof::__calls::Recorder;

use crate::abi::Handle;
use crate::callers::without_names;
use crate::entry;
use crate::library::Mpi;

/// The calls of a batch, and the batches of which the quickest counts.
const CALLS: u32 = 64;
const BATCHES: u32 = 16;
/// The multiplications between two calls, each of which needs the one before: a program computes
/// between its calls, and the processor does some of our work meanwhile.
const BETWEEN: u32 = 10;

/// Returns the ticks that a recorded call takes beside MPI's own, in 1/1,024 ticks. MPI must have
/// begun.
///
/// # Cost
/// A tenth of a millisecond.
pub(crate) fn ticks_1024(mpi: &Mpi, recorder: Recorder) -> u64 {
    type CommRank = unsafe extern "C-unwind" fn(Handle, *mut c_int) -> c_int;
    // SAFETY: the entry point has the arguments of MPI's function, of which a handle may be passed
    // as a whole register.
    let recorded = unsafe { std::mem::transmute::<*const (), CommRank>(entry::of_comm_rank()) };
    let mut rank: c_int = 0;
    let (world, place) = (mpi.abi.world, &raw mut rank);
    // SAFETY: MPI has begun, and the place is valid.
    let recorded = without_names(|| quickest(recorder, || unsafe { recorded(world, place) }));
    // SAFETY: MPI has begun, and the place is valid.
    let direct = quickest(recorder, || unsafe { mpi.comm_rank(world, place) });
    recorded.saturating_sub(direct)
}

/// Returns how long a call of `work` takes at least with the computation behind it, in 1/1,024
/// ticks.
fn quickest<T>(recorder: Recorder, work: impl Fn() -> T) -> u64 {
    let batch = |_| {
        let mut word = 1_u64;
        let begun = recorder.ticks();
        (0..CALLS).for_each(|_| {
            black_box(work());
            (0..BETWEEN).for_each(|_| word = black_box(word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        });
        recorder.ticks().wrapping_sub(begun) * 1_024 / u64::from(CALLS)
    };
    (0..BATCHES).map(batch).min().unwrap_or(0)
}
