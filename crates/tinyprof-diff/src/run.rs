//! One run of a comparison.

use super::values::Amounts;

/// One run of a side.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) name: String,
    /// The program and its arguments; empty if they are not known.
    pub(super) command: String,
    /// The number of hosts; 0 if it is not known.
    pub(super) hosts: u32,
    /// The name and version of its MPI; empty if they are not known.
    pub(super) mpi: String,
    /// `true` if it was recorded who waits for whom.
    pub(super) follows_messages: bool,
    /// The number of selected ranks.
    pub(super) ranks: usize,
    pub(super) executions: u32,
    pub(super) incomplete: bool,
    /// The amounts by row of the names at the time of reading. Later callpaths are not in this run.
    pub(super) rows: Vec<Amounts>,
}
