//! The sizes of datatypes.
//!
//! MPI is asked about datatypes that it has accepted in a call, where the standard says that they
//! count: what a call ignores may be anything. A companion goes before its message, so that there
//! MPI has not accepted anything yet.

use crate::abi::Handle;
use crate::errors::Quiet;
use crate::handles;
use crate::library::Mpi;
use crate::thread;

/// Returns the bytes of data in one element of a datatype that MPI has accepted; 0 if it does not
/// know.
///
/// # Cost
/// A look-up; a call of MPI for a datatype that this thread has not used lately.
#[inline]
pub(crate) fn bytes(mpi: &Mpi, datatype: Handle) -> u64 {
    known(datatype, || ask(mpi, datatype))
}

/// Returns the bytes of data in `count` elements of a datatype that MPI has accepted. A call that
/// passes no elements may pass no datatype.
#[inline]
pub(crate) fn bytes_of_several(mpi: &Mpi, count: u64, datatype: Handle) -> u64 {
    if count == 0 { 0 } else { count.saturating_mul(bytes(mpi, datatype)) }
}

/// As [`bytes_of_several`], for a datatype that the program is about to pass to MPI.
#[inline]
pub(crate) fn bytes_to_pass_on(mpi: &Mpi, count: u64, datatype: Handle) -> u64 {
    if count == 0 {
        return 0;
    }
    let ask_quietly = || {
        let errors = Quiet::of_all(mpi);
        let bytes = ask(mpi, datatype);
        errors.end(mpi);
        bytes
    };
    count.saturating_mul(known(datatype, ask_quietly))
}

#[inline]
fn known(datatype: Handle, ask: impl FnOnce() -> Option<u64>) -> u64 {
    let generation = handles::generation();
    let mixed = datatype.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let datatypes = &thread::current().datatypes;
    let entry = &datatypes[mixed % datatypes.len()];
    let (known, from, bytes) = entry.get();
    if known == datatype && from == generation {
        return bytes;
    }
    // An error is not remembered: the handle may soon be that of a datatype.
    let Some(bytes) = ask() else { return 0 };
    entry.set((datatype, generation, bytes));
    bytes
}

#[cold]
#[inline(never)]
fn ask(mpi: &Mpi, datatype: Handle) -> Option<u64> {
    if datatype == mpi.abi.datatype_null || datatype == Handle(0) {
        return None;
    }
    let mut size = 0;
    // SAFETY: the program passes the datatype to MPI in the call under way; the place is valid.
    let code = unsafe { mpi.type_size_x(datatype, &raw mut size) };
    if code == 0 { u64::try_from(size).ok() } else { None }
}
