//! Non-blocking reductions of one number, through MPI's own functions: rsmpi's requests borrow their buffers, and cannot
//! be kept from one boundary to another.

use std::ffi::c_int;

use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::{Communicator, SimpleCommunicator};

use super::agreement::Maxima;

/// As many reductions as an attempt has.
const PENDING_MAX: usize = 2;

/// Reductions over all ranks of a communicator of their own.
pub(super) struct MpiMaxima {
    communicator: SimpleCommunicator,
    /// What we pass, and what comes of it. MPI reads and writes them while the reduction is pending.
    buffers: Box<[[u64; 2]; PENDING_MAX]>,
    requests: [ffi::MPI_Request; PENDING_MAX],
    /// The reductions that were begun, and those whose results were given.
    begun: usize,
    given: usize,
    /// MPI has refused one: nothing completes any more.
    broken: bool,
}

impl MpiMaxima {
    /// Reductions over `program`'s ranks. Collective over it.
    pub(super) fn over(program: &impl Communicator) -> Self {
        // SAFETY: the null request is a constant of the MPI library.
        let none = unsafe { ffi::RSMPI_REQUEST_NULL };
        Self {
            communicator: program.duplicate(),
            buffers: Box::new([[0; 2]; PENDING_MAX]),
            requests: [none; PENDING_MAX],
            begun: 0,
            given: 0,
            broken: false,
        }
    }

    /// Whether MPI has refused one of them.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }
}

impl Maxima for MpiMaxima {
    fn begin(&mut self, value: u64) {
        debug_assert!(self.begun - self.given < PENDING_MAX, "an attempt has two reductions");
        let slot = self.begun % PENDING_MAX;
        self.begun += 1;
        let [own, maximum] = &mut self.buffers[slot];
        *own = value;
        // SAFETY: the buffers are on the heap, where they stay until the request is complete: `drop` leaks them else.
        // The slot is free, as at most `PENDING_MAX` are pending. The communicator is alive, and so is MPI.
        let code = unsafe {
            ffi::MPI_Iallreduce(
                (&raw const *own).cast(),
                (&raw mut *maximum).cast(),
                1,
                ffi::RSMPI_UINT64_T,
                ffi::RSMPI_MAX,
                self.communicator.as_raw(),
                &raw mut self.requests[slot],
            )
        };
        self.broken |= code != 0;
    }

    fn complete(&mut self) -> Option<u64> {
        if self.broken || self.given == self.begun {
            return None;
        }
        let slot = self.given % PENDING_MAX;
        let mut is_complete: c_int = 0;
        // SAFETY: the request was made by `begin`; its buffers are alive.
        let code = unsafe {
            ffi::MPI_Test(&raw mut self.requests[slot], &raw mut is_complete, ffi::RSMPI_STATUS_IGNORE)
        };
        self.broken |= code != 0;
        if self.broken || is_complete == 0 {
            return None;
        }
        self.given += 1;
        Some(self.buffers[slot][1])
    }
}

impl Drop for MpiMaxima {
    fn drop(&mut self) {
        if self.begun != self.given {
            // MPI has no way to take a collective back: the buffers of one that is pending must outlive it.
            Box::leak(std::mem::replace(&mut self.buffers, Box::new([[0; 2]; PENDING_MAX])));
        }
    }
}
