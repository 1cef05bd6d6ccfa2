//! The phases on MPI, for the bench that measures them. Not for programs: nothing here is stable.

use mpi::topology::Communicator;
use tinyprof_flush::Observer;
use tinyprof_flush::scaling_study::{Order, Written};
use tinyprof_format::model::EventMap;

use crate::sys::program_communicator;
#[cfg(without_mpi)]
use crate::without_mpi as mpi;

/// Flushes on MPI. Collective.
///
/// # Errors
/// When the profile was not written: equal on every rank, unless ranks did not come together.
pub fn flush_on_mpi(
    communicator: &impl Communicator,
    map: &EventMap,
    order: &Order,
    observer: Observer,
) -> Written {
    tinyprof_job::flush_for_study(program_communicator(communicator), map, order, observer)
}
