//! What is known of a run, as plain values: no units, no text.

pub(crate) mod by_callpath;
pub(crate) mod counters;
pub(crate) mod numbers;
pub(crate) mod occupancy;
pub(crate) mod overhead;
pub(crate) mod sampled_place;
pub(crate) mod sort_key;
pub(crate) mod statistics;
pub(crate) mod threads;
pub(crate) mod totals;
pub(crate) mod usage;
