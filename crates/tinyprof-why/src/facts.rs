//! What a run did, as plain values: activities, waiting, and calls, by rank.

pub(crate) mod activities;
pub(crate) mod calls;
pub(crate) mod run;
pub(crate) mod waits;
