//! What all threads of a rank have in common.

use tinyprof_messages::matching::{Receives, Streams};

use super::absences::Absences;
use super::carrier::Carrier;
use super::partner::STREAMS;
use super::threads::Sharing;
use crate::communicators::Twin;
use crate::library::Mpi;

/// Receives that may be open behind a wildcard.
const OPEN: usize = 1 << 11;

/// What all threads of a rank have in common.
pub(super) struct Common {
    pub(super) sent: Streams<STREAMS>,
    pub(super) receives: Receives<STREAMS, OPEN>,
    pub(super) carrier: Carrier,
    /// Those of its only thread: of several, another may be in MPI.
    pub(super) absences: Absences,
    pub(super) sharing: Sharing,
}

impl Common {
    pub(super) fn new(carrier: Carrier) -> Self {
        Self {
            sent: Streams::new(),
            receives: Receives::new(),
            carrier,
            absences: Absences::default(),
            sharing: Sharing::default(),
        }
    }

    /// Forgets the streams of a communicator that is freed, and takes its companions.
    pub(super) fn forget(&mut self, mpi: &Mpi, twin: &Twin) {
        self.carrier.forget(mpi, twin);
        self.sent.remove(twin.number);
        self.receives.remove(twin.number);
        self.sharing.remove(twin.number);
    }
}
