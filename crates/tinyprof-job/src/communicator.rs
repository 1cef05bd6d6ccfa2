//! The ranks' network on MPI, where no operation waits for other ranks longer than a deadline.

mod mpi_communicator;
mod patience;
mod question;
mod roll_call;

use tinyprof_flush::Observer;
use tinyprof_flush::scaling_study::{self, Order, Written};
use tinyprof_format::model::EventMap;
use tinyprof_settings::DEADLINE_DEFAULT;

use crate::sys::ProgramCommunicator;
pub(crate) use mpi_communicator::{MpiCommunicator, run_to_end};
pub(crate) use question::{duplicate_of_world, max_of_world};

/// Flushes on MPI, for the benches. Collective over `program`.
///
/// # Errors
/// As [`scaling_study::flush`].
pub fn flush_for_study(
    program: ProgramCommunicator,
    map: &EventMap,
    order: &Order,
    observer: Observer,
) -> Written {
    let communicator = MpiCommunicator::duplicate_of(program);
    communicator.begin_flush(DEADLINE_DEFAULT);
    let written = run_to_end(scaling_study::flush(&communicator, map, order, observer));
    communicator.end_flush();
    written
}
