//! The report as text: a head line, the callpath tree with its numbers, the metrics, and sentences.

pub(crate) mod closing;
mod column;
mod columns;
mod commands_line;
mod counters_line;
pub(crate) mod datum;
mod flat_regions;
mod handed_on;
pub(crate) mod head;
mod hosts_line;
mod metric_block;
pub(crate) mod mpi_line;
mod overhead_line;
pub(crate) mod samples_line;
mod selection;
pub(crate) mod text;
pub(crate) mod threads_line;
pub(crate) mod tree;
pub(crate) mod unfollowed_line;
