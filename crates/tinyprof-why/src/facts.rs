//! What a run did, as plain values: activities, waiting, and calls, by rank.

pub(crate) mod activities;
pub(crate) mod apart;
pub(crate) mod calls;
mod gaps;
mod named;
pub(crate) mod run;
pub(crate) mod waits;
