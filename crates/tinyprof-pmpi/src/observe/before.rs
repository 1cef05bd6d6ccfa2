//! Facts known before a call that are needed after it.

use crate::communicators::Communicator;

/// Facts known before a call, for after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    /// The address of the status, or of the first of an array; 0 if there is none.
    pub(super) status: usize,
    /// The communicator of a matched message, until its place is given back.
    pub(super) communicator: Option<&'static Communicator>,
    /// The place in the table of the request that is completed, or the message that is received.
    pub(super) request: Option<usize>,
    /// The number of requests that the thread has kept.
    pub(super) kept: usize,
    /// True if the call has failed for some requests: their statuses say for which.
    pub(super) has_errors: bool,
}

impl Before {
    pub(super) const NOTHING: Self =
        Self { status: 0, communicator: None, request: None, kept: 0, has_errors: false };

    /// Returns it for a call that has failed for some requests.
    pub(super) fn with_errors(self) -> Self {
        Self { has_errors: true, ..self }
    }
}
