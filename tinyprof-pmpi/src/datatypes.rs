//! The sizes of datatypes.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::abi::Handle;
use crate::library::Mpi;
use crate::thread::Thread;

/// Grows when a datatype is freed, because its handle may then name another one. Starts at 1, which
/// no empty entry has.
static GENERATION: AtomicU32 = AtomicU32::new(1);

/// Returns the bytes of data in one element of a datatype; 0 if MPI does not know.
///
/// # Cost
/// A look-up; a call of MPI for a datatype that this thread has not used lately.
#[inline]
pub(crate) fn bytes(mpi: &Mpi, thread: &Thread, datatype: Handle) -> u64 {
    let generation = GENERATION.load(Relaxed);
    let mixed = datatype.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let entry = &thread.datatypes[mixed % thread.datatypes.len()];
    let (known, from, bytes) = entry.get();
    if known == datatype && from == generation {
        return bytes;
    }
    let mut size = 0;
    // SAFETY: the program passes the datatype to MPI in the call under way; the place is valid.
    let code = unsafe { mpi.type_size_x(datatype, &raw mut size) };
    let bytes = if code == 0 { u64::try_from(size).unwrap_or(0) } else { 0 };
    entry.set((datatype, generation, bytes));
    bytes
}

/// Forgets all sizes, before a datatype is freed.
pub(crate) fn forget() {
    GENERATION.fetch_add(1, Relaxed);
}
