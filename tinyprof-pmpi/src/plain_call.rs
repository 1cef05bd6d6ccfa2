//! What a call costs of which nothing travels, as the program sees it: also the way to the wrapper
//! and back, which that cannot measure itself.

use std::ffi::c_int;
use std::hint::black_box;

use tinyprof::__calls::Recorder;

use crate::abi::Handle;
use crate::entry;
use crate::library::Mpi;

/// The calls of a batch, and the batches of which the quickest counts.
const CALLS: u32 = 200;
const BATCHES: u32 = 30;

/// Returns the ticks that a recorded call takes beside MPI's own, in 1/1,024 ticks. MPI must have
/// begun.
///
/// # Cost
/// Half a millisecond.
pub(crate) fn ticks_1024(mpi: &Mpi, recorder: Recorder) -> u64 {
    type CommRank = unsafe extern "C-unwind" fn(Handle, *mut c_int) -> c_int;
    // SAFETY: the entry point has the arguments of MPI's function, of which a handle may be passed
    // as a whole register.
    let recorded = unsafe { std::mem::transmute::<*const (), CommRank>(entry::of_comm_rank()) };
    let mut rank: c_int = 0;
    let (world, place) = (mpi.abi.world, &raw mut rank);
    // SAFETY: MPI has begun, and the place is valid.
    let recorded = quickest(recorder, || unsafe { recorded(world, place) });
    // SAFETY: as above.
    let direct = quickest(recorder, || unsafe { mpi.comm_rank(world, place) });
    recorded.saturating_sub(direct)
}

/// Returns how long a call of `work` takes at least, in 1/1,024 ticks.
fn quickest<T>(recorder: Recorder, work: impl Fn() -> T) -> u64 {
    let batch = |_| {
        let begun = recorder.ticks();
        (0..CALLS).for_each(|_| {
            black_box(work());
        });
        recorder.ticks().wrapping_sub(begun) * 1_024 / u64::from(CALLS)
    };
    (0..BATCHES).map(batch).min().unwrap_or(0)
}
