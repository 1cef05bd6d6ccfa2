//! The functions of MPI that the profiler itself calls, under their `PMPI_` names.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};

use crate::abi::{Abi, Handle};
use crate::loaded::symbol;

/// The MPI library of this process, with the constants of its binary interface.
#[derive(Debug)]
pub struct Mpi {
    /// The binary interface.
    pub abi: Abi,
}

/// Returns the MPI library of this process. It must be loaded by now.
pub fn mpi() -> &'static Mpi {
    static MPI: OnceLock<Mpi> = OnceLock::new();
    MPI.get_or_init(|| Mpi { abi: Abi::recognise() })
}

/// The code of a function that this MPI does not have. It is no code of MPI.
const NO_SUCH_FUNCTION: c_int = c_int::MAX;

macro_rules! functions {
    ($($(#[$doc:meta])* $function:ident = $symbol:literal ($($argument:ident: $kind:ty),*);)*) => {
        #[expect(
            clippy::too_many_arguments,
            reason = "the signatures are those of MPI's functions"
        )]
        impl Mpi {
            $(
                $(#[$doc])*
                ///
                /// # Safety
                /// As MPI demands of the function: MPI is initialised and not finalised, handles
                /// are live, and pointers are valid for as long as MPI uses them.
                pub unsafe fn $function(&self, $($argument: $kind),*) -> c_int {
                    static FOUND: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
                    let mut found = FOUND.load(Acquire);
                    if found.is_null() {
                        let Some(address) = symbol($symbol) else { return NO_SUCH_FUNCTION };
                        FOUND.store(address, Release);
                        found = address;
                    }
                    // SAFETY: the symbol is MPI's function of that name, whose arguments are these;
                    // an `int` may be passed as the low half of a register.
                    let function = unsafe {
                        std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C-unwind" fn($($kind),*) -> c_int,
                        >(found)
                    };
                    // SAFETY: the caller meets the function's requirements.
                    unsafe { function($($argument),*) }
                }
            )*
        }
    };
}

functions! {
    /// `MPI_Initialized`. May be called at any time.
    initialized = c"PMPI_Initialized" (flag: *mut c_int);
    /// `MPI_Finalized`. May be called at any time.
    finalized = c"PMPI_Finalized" (flag: *mut c_int);
    /// `MPI_Query_thread`.
    query_thread = c"PMPI_Query_thread" (provided: *mut c_int);
    /// `MPI_Get_library_version`. May be called at any time.
    library_version = c"PMPI_Get_library_version" (text: *mut c_char, length: *mut c_int);
    /// `MPI_Error_string`.
    error_string = c"PMPI_Error_string" (code: c_int, text: *mut c_char, length: *mut c_int);
    /// `MPI_Error_class`.
    error_class = c"PMPI_Error_class" (code: c_int, class: *mut c_int);
    /// `MPI_Comm_rank`.
    comm_rank = c"PMPI_Comm_rank" (comm: Handle, rank: *mut c_int);
    /// `MPI_Comm_size`.
    comm_size = c"PMPI_Comm_size" (comm: Handle, size: *mut c_int);
    /// `MPI_Comm_remote_size`.
    comm_remote_size = c"PMPI_Comm_remote_size" (comm: Handle, size: *mut c_int);
    /// `MPI_Comm_test_inter`.
    comm_test_inter = c"PMPI_Comm_test_inter" (comm: Handle, flag: *mut c_int);
    /// `MPI_Comm_dup`. Collective.
    comm_dup = c"PMPI_Comm_dup" (comm: Handle, duplicate: *mut Handle);
    /// `MPI_Comm_idup`. Collective.
    comm_idup = c"PMPI_Comm_idup" (comm: Handle, duplicate: *mut Handle, request: *mut Handle);
    /// `MPI_Comm_split`. Collective.
    comm_split = c"PMPI_Comm_split" (comm: Handle, color: c_int, key: c_int, new: *mut Handle);
    /// `MPI_Comm_free`. Collective.
    comm_free = c"PMPI_Comm_free" (comm: *mut Handle);
    /// `MPI_Comm_get_errhandler`.
    comm_get_errhandler = c"PMPI_Comm_get_errhandler" (comm: Handle, handler: *mut Handle);
    /// `MPI_Errhandler_free`.
    errhandler_free = c"PMPI_Errhandler_free" (handler: *mut Handle);
    /// `MPI_Comm_set_errhandler`.
    comm_set_errhandler = c"PMPI_Comm_set_errhandler" (comm: Handle, handler: Handle);
    /// `MPI_Comm_get_attr`.
    comm_get_attr = c"PMPI_Comm_get_attr" (
        comm: Handle, key: c_int, value: *mut c_void, is_set: *mut c_int
    );
    /// `MPI_Comm_group`.
    comm_group = c"PMPI_Comm_group" (comm: Handle, group: *mut Handle);
    /// `MPI_Comm_remote_group`.
    comm_remote_group = c"PMPI_Comm_remote_group" (comm: Handle, group: *mut Handle);
    /// `MPI_Group_free`.
    group_free = c"PMPI_Group_free" (group: *mut Handle);
    /// `MPI_Group_size`.
    group_size = c"PMPI_Group_size" (group: Handle, size: *mut c_int);
    /// `MPI_Group_translate_ranks`.
    group_translate_ranks = c"PMPI_Group_translate_ranks" (
        group: Handle, count: c_int, ranks: *const c_int, other: Handle, translated: *mut c_int
    );
    /// `MPI_Dist_graph_neighbors_count`.
    dist_graph_neighbors_count = c"PMPI_Dist_graph_neighbors_count" (
        comm: Handle, sources: *mut c_int, destinations: *mut c_int, is_weighted: *mut c_int
    );
    /// `MPI_Topo_test`.
    topo_test = c"PMPI_Topo_test" (comm: Handle, kind: *mut c_int);
    /// `MPI_Cartdim_get`.
    cartdim_get = c"PMPI_Cartdim_get" (comm: Handle, dimensions: *mut c_int);
    /// `MPI_Graph_neighbors_count`.
    graph_neighbors_count = c"PMPI_Graph_neighbors_count" (
        comm: Handle, rank: c_int, neighbors: *mut c_int
    );
    /// `MPI_Graph_neighbors`.
    graph_neighbors = c"PMPI_Graph_neighbors" (
        comm: Handle, rank: c_int, count: c_int, neighbors: *mut c_int
    );
    /// `MPI_Dist_graph_neighbors`.
    dist_graph_neighbors = c"PMPI_Dist_graph_neighbors" (
        comm: Handle, sources: c_int, from: *mut c_int, from_weights: *mut c_int,
        destinations: c_int, to: *mut c_int, to_weights: *mut c_int
    );
    /// `MPI_Cart_shift`.
    cart_shift = c"PMPI_Cart_shift" (
        comm: Handle, direction: c_int, by: c_int, source: *mut c_int, destination: *mut c_int
    );
    /// `MPI_Test_cancelled`.
    test_cancelled = c"PMPI_Test_cancelled" (status: *const c_void, flag: *mut c_int);
    /// `MPI_Type_size_x`.
    type_size_x = c"PMPI_Type_size_x" (datatype: Handle, bytes: *mut i64);
    /// `MPI_Get_elements_x`.
    get_elements_x = c"PMPI_Get_elements_x" (
        status: *const c_void, datatype: Handle, elements: *mut i64
    );
    /// `MPI_Test`.
    test = c"PMPI_Test" (request: *mut Handle, flag: *mut c_int, status: *mut c_void);
    /// `MPI_Iprobe`.
    iprobe = c"PMPI_Iprobe" (
        source: c_int, tag: c_int, comm: Handle, flag: *mut c_int, status: *mut c_void
    );
    /// `MPI_Isend`.
    isend = c"PMPI_Isend" (
        buffer: *const c_void, count: c_int, datatype: Handle, to: c_int, tag: c_int, comm: Handle,
        request: *mut Handle
    );
    /// `MPI_Issend`.
    issend = c"PMPI_Issend" (
        buffer: *const c_void, count: c_int, datatype: Handle, to: c_int, tag: c_int, comm: Handle,
        request: *mut Handle
    );
    /// `MPI_Irecv`.
    irecv = c"PMPI_Irecv" (
        buffer: *mut c_void, count: c_int, datatype: Handle, from: c_int, tag: c_int, comm: Handle,
        request: *mut Handle
    );
    /// `MPI_Send`.
    send = c"PMPI_Send" (
        buffer: *const c_void, count: c_int, datatype: Handle, to: c_int, tag: c_int, comm: Handle
    );
    /// `MPI_Recv`.
    recv = c"PMPI_Recv" (
        buffer: *mut c_void, count: c_int, datatype: Handle, from: c_int, tag: c_int, comm: Handle,
        status: *mut c_void
    );
    /// `MPI_Request_get_status`.
    request_get_status = c"PMPI_Request_get_status" (
        request: Handle, flag: *mut c_int, status: *mut c_void
    );
    /// `MPI_Barrier`. Collective.
    barrier = c"PMPI_Barrier" (comm: Handle);
    /// `MPI_Allgather`. Collective.
    allgather = c"PMPI_Allgather" (
        from: *const c_void, count: c_int, datatype: Handle, to: *mut c_void, each: c_int,
        datatype_to: Handle, comm: Handle
    );
    /// `MPI_Allreduce`. Collective.
    allreduce = c"PMPI_Allreduce" (
        from: *const c_void, to: *mut c_void, count: c_int, datatype: Handle, operator: Handle,
        comm: Handle
    );
    /// `MPI_Reduce`. Collective.
    reduce = c"PMPI_Reduce" (
        from: *const c_void, to: *mut c_void, count: c_int, datatype: Handle, operator: Handle,
        root: c_int, comm: Handle
    );
    /// `MPI_Scan`. Collective.
    scan = c"PMPI_Scan" (
        from: *const c_void, to: *mut c_void, count: c_int, datatype: Handle, operator: Handle,
        comm: Handle
    );
    /// `MPI_Bcast`. Collective.
    bcast = c"PMPI_Bcast" (
        buffer: *mut c_void, count: c_int, datatype: Handle, root: c_int, comm: Handle
    );
    /// `MPI_Iallreduce`. Collective.
    iallreduce = c"PMPI_Iallreduce" (
        from: *const c_void, to: *mut c_void, count: c_int, datatype: Handle, operator: Handle,
        comm: Handle, request: *mut Handle
    );
    /// `MPI_Ibcast`. Collective.
    ibcast = c"PMPI_Ibcast" (
        buffer: *mut c_void, count: c_int, datatype: Handle, root: c_int, comm: Handle,
        request: *mut Handle
    );
}

impl Mpi {
    /// Returns whether MPI may be called: it is initialised and not finalised.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        let (mut initialised, mut finalised): (c_int, c_int) = (0, 0);
        // SAFETY: may be called at any time (MPI 4.0, section 11.4.1), and the place is valid.
        let code = unsafe { self.initialized(&raw mut initialised) };
        // SAFETY: may be called at any time (MPI 4.0, section 11.4.1), and the place is valid.
        let code = code | unsafe { self.finalized(&raw mut finalised) };
        code == 0 && initialised != 0 && finalised == 0
    }

    /// Returns the level of thread support that MPI provides; none if it does not answer. MPI must
    /// be initialised and not finalised.
    #[must_use]
    pub fn thread_level(&self) -> Option<c_int> {
        let mut provided = 0;
        // SAFETY: as the caller says, and the place is valid.
        let code = unsafe { self.query_thread(&raw mut provided) };
        (code == 0).then_some(provided)
    }

    /// Returns whether a call with this error code may have got as far as to communicate: what was
    /// wrong is not one of its arguments.
    pub(crate) fn has_communicated(&self, code: c_int) -> bool {
        self.class_of(code).is_some_and(|class| class > self.abi.argument_error_max)
    }

    /// Returns the class of an error code that MPI has returned.
    pub(crate) fn class_of(&self, code: c_int) -> Option<c_int> {
        let mut class = 0;
        // SAFETY: MPI has returned the code, and the place is valid.
        let answer = unsafe { self.error_class(code, &raw mut class) };
        (answer == 0).then_some(class)
    }

    /// Returns a Fortran handle as one of C. `convert` is MPI's function for its kind, such as
    /// `PMPI_Comm_f2c`, whose address is kept in `found`.
    pub(crate) fn of_fortran(
        &self,
        fortran: c_int,
        convert: &CStr,
        found: &AtomicPtr<c_void>,
    ) -> Option<Handle> {
        let mut function = found.load(Acquire);
        if function.is_null() {
            function = symbol(convert)?;
            found.store(function, Release);
        }
        // SAFETY: the symbol is a conversion from Fortran's integers, which returns a handle.
        let function = unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn(c_int) -> usize>(
                function,
            )
        };
        // SAFETY: the program passes the integer to MPI as a handle of this kind.
        Some(Handle(unsafe { function(fortran) }))
    }
}
