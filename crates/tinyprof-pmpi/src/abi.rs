//! The binary interfaces of the MPI libraries, recognised at run time.
//!
//! A handle is an `int` in MPICH and its derivatives, and a pointer elsewhere. Either way it fits
//! in a register, and the functions of this crate pass it on as one.

use std::ffi::{c_int, c_void};
use std::ops::Range;

use crate::loaded::{is_loaded, memory_around, symbol};

/// A handle of MPI, as a whole register. See [`Abi`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Handle(pub usize);

/// The families of binary interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interface {
    /// MPICH, Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
    /// Open MPI.
    OpenMpi,
    /// The standard interface (MPI 5.0, chapter 20).
    Standard,
}

/// The constants of a binary interface.
#[derive(Clone, Debug)]
pub struct Abi {
    /// The family.
    pub interface: Interface,
    /// `MPI_ANY_SOURCE`.
    pub any_source: c_int,
    /// `MPI_ANY_TAG`.
    pub any_tag: c_int,
    /// `MPI_PROC_NULL`.
    pub proc_null: c_int,
    /// `MPI_ROOT`, the rank that a root of an intercommunicator passes.
    pub root: c_int,
    /// `MPI_UNDEFINED`.
    pub undefined: c_int,
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    pub status_ignore: usize,
    /// `MPI_IN_PLACE`.
    pub in_place: usize,
    /// The bytes of an `MPI_Status`.
    pub status_bytes: usize,
    /// The offset of `MPI_SOURCE` in it.
    pub status_source: usize,
    /// The offset of `MPI_TAG` in it.
    pub status_tag: usize,
    /// The offset of `MPI_ERROR` in it.
    pub status_error: usize,
    /// `MPI_APPNUM`.
    pub app_number: c_int,
    /// `MPI_THREAD_SERIALIZED`.
    pub thread_serialised: c_int,
    /// `MPI_THREAD_MULTIPLE`.
    pub thread_multiple: c_int,
    /// `MPI_LOCK_EXCLUSIVE`.
    pub lock_exclusive: c_int,
    /// `MPI_CART`, `MPI_GRAPH` and `MPI_DIST_GRAPH`.
    pub topologies: [c_int; 3],
    /// `MPI_COMM_WORLD`.
    pub world: Handle,
    /// `MPI_COMM_SELF`.
    pub comm_self: Handle,
    /// `MPI_BYTE`.
    pub byte: Handle,
    /// `MPI_UINT64_T`, or another name of the type.
    pub word: Handle,
    /// `MPI_MAX`.
    pub max: Handle,
    /// `MPI_SUM`.
    pub sum: Handle,
    /// `MPI_NO_OP`.
    pub no_op: Handle,
    /// `MPI_DATATYPE_NULL`.
    pub datatype_null: Handle,
    /// Handles of datatypes that cannot be freed: most of MPI's own.
    pub predefined_datatypes: Range<usize>,
    /// `MPI_ERRORS_RETURN`.
    pub errors_return: Handle,
    /// `MPI_ERR_ARG`, the last error class of wrong arguments.
    pub argument_error_max: c_int,
    /// `MPI_ERR_TRUNCATE`.
    pub truncate: c_int,
    /// `MPI_ERR_IN_STATUS`.
    pub in_status: c_int,
    /// `MPI_REQUEST_NULL`.
    pub request_null: Handle,
    /// `MPI_COMM_NULL`.
    pub comm_null: Handle,
}

/// The most bytes of a status in any interface.
pub(crate) const STATUS_BYTES_MAX: usize = 32;

impl Abi {
    /// Recognises the interface of the MPI that this process has loaded.
    pub(crate) fn recognise() -> Self {
        if is_loaded(c"libmpi_abi.so.1") || is_loaded(c"libmpi_abi.so.0") {
            return Self::STANDARD;
        }
        if symbol(c"ompi_mpi_comm_world").is_some() { Self::open_mpi() } else { Self::MPICH }
    }

    /// Constants of MPICH's `mpi.h`, which its derivatives share since 2014.
    const MPICH: Self = Self {
        interface: Interface::Mpich,
        any_source: -2,
        any_tag: -1,
        proc_null: -1,
        root: -3,
        undefined: -32766,
        status_ignore: 1,
        in_place: usize::MAX,
        status_bytes: 20,
        status_source: 8,
        status_tag: 12,
        status_error: 16,
        app_number: 0x6440_000d,
        thread_serialised: 2,
        thread_multiple: 3,
        lock_exclusive: 234,
        topologies: [2, 1, 3],
        world: Handle(0x4400_0000),
        comm_self: Handle(0x4400_0001),
        byte: Handle(0x4c00_010d),
        word: Handle(0x4c00_0808),
        max: Handle(0x5800_0001),
        sum: Handle(0x5800_0003),
        no_op: Handle(0x5800_000e),
        datatype_null: Handle(0x0c00_0000),
        predefined_datatypes: 0x4c00_0000..0x5000_0000,
        errors_return: Handle(0x5400_0001),
        argument_error_max: 12,
        truncate: 14,
        in_status: 17,
        request_null: Handle(0x2c00_0000),
        comm_null: Handle(0x0400_0000),
    };

    /// MPI 5.0, appendix A.
    const STANDARD: Self = Self {
        interface: Interface::Standard,
        any_source: -1,
        any_tag: -2,
        proc_null: -3,
        root: -4,
        undefined: -32766,
        status_ignore: 0,
        in_place: 1,
        status_bytes: 32,
        status_source: 0,
        status_tag: 4,
        status_error: 8,
        app_number: 505,
        thread_serialised: 2048,
        thread_multiple: 4096,
        lock_exclusive: 301,
        topologies: [211, 212, 213],
        world: Handle(0x101),
        comm_self: Handle(0x102),
        byte: Handle(0x247),
        word: Handle(0x259),
        max: Handle(0x23),
        sum: Handle(0x21),
        no_op: Handle(0x3d),
        datatype_null: Handle(0x200),
        predefined_datatypes: 0x200..0x300,
        errors_return: Handle(0x143),
        argument_error_max: 13,
        truncate: 15,
        in_status: 18,
        request_null: Handle(0x180),
        comm_null: Handle(0x100),
    };

    /// In Open MPI, a predefined handle is the address of an object of the library.
    fn open_mpi() -> Self {
        let handle = |name| Handle(symbol(name).map_or(0, |place: *mut c_void| place.addr()));
        Self {
            interface: Interface::OpenMpi,
            any_source: -1,
            any_tag: -1,
            proc_null: -2,
            root: -4,
            undefined: -32766,
            status_ignore: 0,
            in_place: 1,
            status_bytes: 24,
            status_source: 0,
            status_tag: 4,
            status_error: 8,
            app_number: 4,
            thread_serialised: 2,
            thread_multiple: 3,
            lock_exclusive: 1,
            topologies: [1, 2, 3],
            world: handle(c"ompi_mpi_comm_world"),
            comm_self: handle(c"ompi_mpi_comm_self"),
            byte: handle(c"ompi_mpi_byte"),
            word: handle(c"ompi_mpi_uint64_t"),
            max: handle(c"ompi_mpi_op_max"),
            sum: handle(c"ompi_mpi_op_sum"),
            no_op: handle(c"ompi_mpi_op_no_op"),
            datatype_null: handle(c"ompi_mpi_datatype_null"),
            predefined_datatypes: memory_around(handle(c"ompi_mpi_byte").0),
            errors_return: handle(c"ompi_mpi_errors_return"),
            argument_error_max: 13,
            truncate: 15,
            in_status: 18,
            request_null: handle(c"ompi_request_null"),
            comm_null: handle(c"ompi_mpi_comm_null"),
        }
    }

    /// Returns the handle that a register or a word of memory holds. MPICH's handles fill half of
    /// it, and the other half is anything.
    #[inline]
    pub(crate) fn handle(&self, word: usize) -> Handle {
        Handle(if self.interface == Interface::Mpich { word & 0xffff_ffff } else { word })
    }

    /// Returns the bytes of the message that a status describes, where its layout is known: both
    /// have kept it for more than ten years, as programs are compiled with it.
    #[inline]
    pub(crate) fn bytes_in(&self, status: usize) -> Option<u64> {
        let word = |at: usize| {
            let place = std::ptr::with_exposed_provenance::<u8>(status).wrapping_add(at);
            // SAFETY: the status has that many bytes, and MPI has written it.
            unsafe { place.cast::<u64>().read_unaligned() }
        };
        match self.interface {
            // Low half of the count; then one bit for a cancelled message, and the rest of the
            // count.
            Interface::Mpich => {
                let word = word(0);
                Some(word & 0xffff_ffff | (word >> 33) << 32)
            }
            Interface::OpenMpi => Some(word(16)),
            Interface::Standard => None,
        }
    }

    /// Returns source and tag of the message that the status at an address describes.
    #[inline]
    pub(crate) fn envelope_in(&self, status: usize) -> (c_int, c_int) {
        (int_at(status, self.status_source), int_at(status, self.status_tag))
    }

    /// Returns the error code in the status at an address, which a call has set that returned
    /// `MPI_ERR_IN_STATUS`.
    pub(crate) fn error_in(&self, status: usize) -> c_int {
        int_at(status, self.status_error)
    }

    /// Returns the bytes of a handle in an array.
    #[inline]
    pub(crate) fn handle_bytes(&self) -> usize {
        if self.interface == Interface::Mpich { 4 } else { 8 }
    }
}

/// Returns the `int` that is this many bytes behind the beginning of a status.
#[inline]
fn int_at(status: usize, at: usize) -> c_int {
    let place = std::ptr::with_exposed_provenance::<u8>(status).wrapping_add(at);
    // SAFETY: the address is that of a status which MPI has written, and the interface says where
    // in it its numbers are.
    unsafe { place.cast::<c_int>().read_unaligned() }
}

/// Room for an `MPI_Status` of any interface.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(8))]
pub struct Status([u8; STATUS_BYTES_MAX]);

impl Status {
    /// Returns `MPI_SOURCE`, after MPI has written the status.
    #[must_use]
    pub fn source(&self, abi: &Abi) -> c_int {
        self.int(abi.status_source)
    }

    /// Returns `MPI_TAG`, after MPI has written the status.
    #[must_use]
    pub fn tag(&self, abi: &Abi) -> c_int {
        self.int(abi.status_tag)
    }

    fn int(&self, at: usize) -> c_int {
        self.0.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |n| c_int::from_ne_bytes(*n))
    }
}
