//! The sizes of datatypes.
//!
//! MPI is asked about a datatype that it has just accepted in a call, where the standard says that
//! it counts: what a call ignores may be anything. Before the call it is asked about its own
//! datatypes alone, as an error would call an error handler of the program.

use crate::abi::Handle;
use crate::handles;
use crate::library::Mpi;
use crate::thread;

/// The generation of datatypes that cannot be freed.
const EVER: u32 = 0;

/// Returns the bytes of data in one element of a datatype that MPI has accepted; 0 if it does not
/// know.
///
/// # Cost
/// A look-up; a call of MPI for a datatype that this thread has not used lately.
#[inline]
pub(crate) fn bytes(mpi: &Mpi, datatype: Handle) -> u64 {
    known(datatype).unwrap_or_else(|| ask(mpi, datatype))
}

/// Returns the bytes of data in `count` elements of a datatype that MPI has accepted. A call that
/// passes no elements may pass no datatype.
#[inline]
pub(crate) fn bytes_of_several(mpi: &Mpi, count: u64, datatype: Handle) -> u64 {
    if count == 0 { 0 } else { count.saturating_mul(bytes(mpi, datatype)) }
}

/// Returns the bytes in one element of a datatype that MPI has not accepted yet: if it is one of
/// MPI's own, or this thread has used it lately.
#[inline]
pub(crate) fn bytes_before(mpi: &Mpi, datatype: Handle) -> Option<u64> {
    let is_predefined = || mpi.abi.predefined_datatypes.contains(&datatype.0);
    known(datatype).or_else(|| is_predefined().then(|| ask(mpi, datatype)))
}

#[inline]
fn known(datatype: Handle) -> Option<u64> {
    let (known, from, bytes) = thread::current().datatypes[place(datatype)].get();
    (known == datatype && (from == EVER || from == handles::generation())).then_some(bytes)
}

#[inline]
fn place(datatype: Handle) -> usize {
    (datatype.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % thread::DATATYPES
}

#[cold]
#[inline(never)]
fn ask(mpi: &Mpi, datatype: Handle) -> u64 {
    if datatype == mpi.abi.datatype_null || datatype == Handle(0) {
        return 0;
    }
    let mut size = 0;
    // SAFETY: MPI has accepted the datatype in the call under way, or it is MPI's own; the place is
    // valid.
    let code = unsafe { mpi.type_size_x(datatype, &raw mut size) };
    let bytes = if code == 0 { u64::try_from(size).unwrap_or(0) } else { 0 };
    let is_predefined = mpi.abi.predefined_datatypes.contains(&datatype.0);
    let generation = if is_predefined { EVER } else { handles::generation() };
    thread::current().datatypes[place(datatype)].set((datatype, generation, bytes));
    bytes
}
