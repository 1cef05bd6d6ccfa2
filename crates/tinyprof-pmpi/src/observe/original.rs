//! The functions that calls go on to: those of the next tool that wraps MPI, or MPI's own, under
//! the names of the profiling interface.
//!
//! A library behind us in the order of search may define `MPI_Send` over `PMPI_Send`, as we do:
//! another profiler, or a balancer of load. Without us the program would call that one.

use std::ffi::CString;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release};

use super::contents;
use crate::function::FUNCTIONS;
use crate::loaded::{next_of_a_tool, symbol};
use crate::words::binding;

/// The addresses by binding and index; 0 where not looked up yet.
static ORIGINALS: [[AtomicUsize; FUNCTIONS.len()]; binding::COUNT] =
    [const { [const { AtomicUsize::new(0) }; FUNCTIONS.len()] }; binding::COUNT];

/// Returns the address of the function of C, or 0 if it was not looked up yet.
#[inline]
pub(super) fn known_of_c(index: usize) -> usize {
    ORIGINALS[binding::C as usize][index].load(Acquire)
}

/// Returns the address of a function, if this MPI has it.
pub(super) fn find(index: usize, called: u32) -> Option<usize> {
    let known = &ORIGINALS[called as usize][index];
    match known.load(Acquire) {
        0 => look_up(index, called).inspect(|&found| known.store(found, Release)),
        found => Some(found),
    }
}

/// Looks a function up. MPICH has names of its own for `mpi_f08`.
#[cold]
#[inline(never)]
fn look_up(index: usize, called: u32) -> Option<usize> {
    let name = FUNCTIONS[index].name;
    let lower = name.to_ascii_lowercase();
    let (public, names) = match called {
        binding::C => (name.to_owned(), vec![format!("P{name}")]),
        binding::FORTRAN => (format!("{lower}_"), vec![format!("p{lower}_")]),
        binding::FORTRAN_2008 => (
            format!("{lower}_f08_"),
            vec![format!("p{lower}_f08_"), format!("pmpir{}_f08_", &lower[3..])],
        ),
        _ => (
            format!("{lower}_f08ts_"),
            vec![format!("pmpir{}_f08ts_", &lower[3..]), format!("p{lower}_f08ts_")],
        ),
    };
    let names: Vec<CString> =
        names.into_iter().filter_map(|name| CString::new(name).ok()).collect();
    let own = names.iter().find_map(|name| symbol(name))?;
    let found = next_of_a_tool(&CString::new(public).ok()?, &names).unwrap_or(own);
    Some(contents::replaced(name, called, found.expose_provenance()))
}
