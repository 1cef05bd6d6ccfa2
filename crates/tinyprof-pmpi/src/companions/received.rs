//! Receives that have ended: what is needed to conclude them, at once or later (`deferred`).

use tinyprof::__calls::{Recorder, Visited};

use super::common_clock::Span;
use super::held::Envelope;
use crate::communicators::Communicator;

/// A receive that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) recorder: Recorder,
    pub(crate) visited: Visited,
    pub(crate) span: Span,
    pub(crate) communicator: Option<&'static Communicator>,
    /// The rank that the program has asked for.
    pub(crate) peer: i32,
    pub(crate) envelope: Envelope,
    pub(crate) bytes: u64,
}

/// A receive that is yet to be concluded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deferred {
    pub(super) received: Received,
    pub(super) visit_units: u64,
    /// The cost after the call, in ns, if that was measured.
    pub(super) measured_ns: Option<u64>,
}
