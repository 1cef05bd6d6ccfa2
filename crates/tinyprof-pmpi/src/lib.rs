//! Every MPI function of the program as a region, in any language, under any MPI.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! The functions of this crate have the names of MPI's own (`MPI_Send`, `mpi_send_`,
//! `mpi_send_f08_`) and take precedence over them: in a Rust program because they are part of the
//! executable, in any other program because the library is preloaded. Each records the call and
//! passes it on, with the arguments that it was given (MPI 4.0, section 15.2, the profiling
//! interface).
//!
//! The crate includes no header of MPI and is not linked to it: functions are found by name when
//! they are first called, and the binary interface is recognised at run time. So one library serves
//! MPICH and its derivatives, Open MPI, and the standard interface of MPI 5.
//!
//! # What is recorded
//!
//! The calls between MPI's initialisation and its finalisation, as the [`Session`] says. A call is
//! a visit of the region of its function, below the innermost open region. Outside of all regions,
//! and in programs that have none, calls are told apart by the place in the program that they come
//! from. Calls that MPI makes of its own functions are part of the outermost one.
//!
//! # What it never does
//!
//! It takes no lock and allocates no heap memory in the steady state. It changes no buffer, no
//! result and no object of the program. It never passes MPI a handle that is not an argument of the
//! call under way, and that MPI has not accepted or the program is not about to pass on. Where the
//! program ignores a status, MPI writes it to a place of ours. `MPI_Pcontrol(0)` stops the
//! recording of calls, `MPI_Pcontrol(1)` resumes it (MPI 4.0, section 15.2.4).

mod abi;
mod arguments;
mod callers;
mod communicators;
mod companions;
mod datatypes;
mod entry;
mod forward;
mod function;
mod handles;
mod library;
mod loaded;
mod observe;
mod plain_call;
mod requests;
mod session;
mod table;
mod thread;
mod weak;
mod words;

pub use abi::{Abi, Handle, Interface, Status};
pub use callers::{set_callers, set_wrappers};
pub use companions::{Agreed, Wish};
pub use library::{Mpi, mpi};
pub use session::{Session, may_have_attributes, register, watch_collectives};

/// Returns the maximum of each word over all ranks of the world, or `None` if MPI returns an error.
///
/// Words are below 2^63, or complements of such. Collective over the world, and blocking: to be
/// called right after MPI has begun, when all ranks are known to call it.
#[must_use]
pub fn maxima_of_world<const N: usize>(own: &[u64; N]) -> Option<[u64; N]> {
    companions::maxima_of_world(mpi(), own)
}

/// Completes what is known of the clocks of several hosts, at level `messages`. Collective over the
/// world, and blocking: to be called when all ranks are known to have come to the end.
pub fn compare_clocks_again() {
    companions::has_ended(mpi());
    companions::compare_again(mpi());
    companions::store_facts();
}

/// Agrees with all ranks of the world on whether messages are observed, and begins to do so.
/// Collective over the world, right after MPI has begun; all ranks must be known to call it.
#[must_use]
pub fn agree_on_messages(wish: Wish) -> Agreed {
    companions::agree_on_messages(wish, plain_call::ticks_1024)
}
