//! The sizes of datatypes.

use crate::abi::Handle;
use crate::handles;
use crate::library::Mpi;
use crate::thread;

/// Returns the bytes of data in one element of a datatype; 0 if MPI does not know.
///
/// # Cost
/// A look-up; a call of MPI for a datatype that this thread has not used lately.
#[inline]
pub(crate) fn bytes(mpi: &Mpi, datatype: Handle) -> u64 {
    let generation = handles::generation();
    let mixed = datatype.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let datatypes = &thread::current().datatypes;
    let entry = &datatypes[mixed % datatypes.len()];
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
