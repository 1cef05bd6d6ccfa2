//! `MPI_Type_get_contents` under Open MPI.
//!
//! Open MPI 4.1 looks, behind the datatypes that it has returned, also at the places of the array
//! that it has left as they were. In a legal program they hold whatever the stack holds, which with
//! us is something else than without us: so they are given a datatype first.

use std::ffi::c_int;
use std::slice;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release};

use crate::abi::{Handle, Interface};
use crate::library::mpi;
use crate::words::binding;

/// The name of the function.
const NAME: &str = "MPI_Type_get_contents";

/// The address of the function that the call goes on to.
static ORIGINAL: AtomicUsize = AtomicUsize::new(0);

type Contents = unsafe extern "C-unwind" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    *mut c_int,
    *mut isize,
    *mut Handle,
) -> c_int;

/// Returns where calls of the function `name` go on to, which is at `found`.
pub(super) fn replaced(name: &str, called: u32, found: usize) -> usize {
    if name != NAME || called != binding::C || mpi().abi.interface != Interface::OpenMpi {
        return found;
    }
    ORIGINAL.store(found, Release);
    let contents: Contents = contents;
    contents as usize
}

/// Puts `MPI_DATATYPE_NULL` into all places for datatypes, which the call may change; calls MPI.
///
/// # Safety
/// As for MPI's function.
unsafe extern "C-unwind" fn contents(
    datatype: Handle,
    max_integers: c_int,
    max_addresses: c_int,
    max_datatypes: c_int,
    integers: *mut c_int,
    addresses: *mut isize,
    datatypes: *mut Handle,
) -> c_int {
    let places = usize::try_from(max_datatypes).unwrap_or(0);
    if places > 0 && !datatypes.is_null() {
        // SAFETY: the program gives room for that many (MPI 4.0, section 5.1.13), and a handle may
        // have any bits.
        unsafe { slice::from_raw_parts_mut(datatypes, places) }.fill(mpi().abi.datatype_null);
    }
    // SAFETY: `replaced` has stored the address of the function before anybody has that of this.
    let original = unsafe { std::mem::transmute::<usize, Contents>(ORIGINAL.load(Acquire)) };
    // SAFETY: as the caller says.
    unsafe {
        original(
            datatype,
            max_integers,
            max_addresses,
            max_datatypes,
            integers,
            addresses,
            datatypes,
        )
    }
}
