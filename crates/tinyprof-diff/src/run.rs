//! One run of a comparison.

use super::values::Amounts;

/// One run of a side.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) name: String,
    /// The number of selected ranks.
    pub(super) ranks: usize,
    pub(super) executions: u32,
    pub(super) incomplete: bool,
    /// The amounts by row of the names at the time of reading. Later callpaths are not in this run.
    pub(super) rows: Vec<Amounts>,
}
