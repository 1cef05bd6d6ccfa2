//! The rows in which results are kept: one JSON object a line, so that runs can be added to a file
//! and a page made of it later.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One flush under mpiexec. Times are the maximum over ranks of what each rank saw.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlushRow {
    /// The number of ranks.
    pub ranks: u32,
    /// The number of aggregators.
    pub aggregators: u32,
    /// Visits of one rank.
    pub values: u64,
    /// How the series were gathered: auto, padded or counts.
    pub series: String,
    /// How many times as many values the last rank had.
    pub uneven: u32,
    /// Which repetition, 0-based.
    pub repetition: u32,
    /// A rank's values into bytes.
    pub encode_ns: u64,
    /// Phase 1, with the directory.
    pub synchronise_ns: u64,
    /// Phase 2.
    pub aggregate_ns: u64,
    /// Phase 3, until every rank knows the result.
    pub write_ns: u64,
    /// From the common start until the last rank returned.
    pub total_ns: u64,
    /// The profile on disk.
    pub bytes: u64,
    /// Processor time of the busiest rank that is no aggregator, polling included; 0 where every
    /// rank is one.
    pub rank_cpu_ns: u64,
    /// The same of the busiest aggregator.
    pub aggregator_cpu_ns: u64,
    /// How far the resident set of such a rank rose in the flush, the event map not included.
    pub rank_memory_bytes: u64,
    /// The same of an aggregator.
    pub aggregator_memory_bytes: u64,
}

/// What the parts of a flush cost in one process: medians of processor time, no waiting in them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CostRow {
    /// Visits of one rank.
    pub values: u64,
    /// Summaries of one rank.
    pub summaries: u64,
    /// Ranks of the part.
    pub ranks: u32,
    /// The bytes of one rank's values, on that rank.
    pub encode_ns: u64,
    /// The two messages of one rank, on that rank.
    pub messages_ns: u64,
    /// Reading the messages of all ranks, at the aggregator.
    pub read_ns: u64,
    /// The bytes of the part, at the aggregator.
    pub part_ns: u64,
    /// The length of the part.
    pub bytes: u64,
}

/// What passing a boundary costs where no checkpoint is due: medians, of the slowest rank, in
/// picoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BoundaryRow {
    /// The number of ranks.
    pub ranks: u32,
    /// Whether checkpoints were asked for.
    pub interval: bool,
    /// An iteration of a loop that is no place for checkpoints.
    pub iteration_ps: u64,
    /// An iteration of a loop that is marked as one.
    pub boundary_iteration_ps: u64,
    /// An execution of a root region, whose end is a boundary.
    pub execution_ps: u64,
}

/// What a phase cost the busiest simulated rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseRow {
    /// The name of the phase.
    pub phase: String,
    /// How much later the last rank ended it than the phase before.
    pub ns: u64,
    /// The most messages that a rank sent and received in it.
    pub messages: u64,
    /// The most bytes that a rank sent and received in it.
    pub bytes: u64,
}

/// One simulated flush.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelRow {
    /// Where the ranks agree, where one visited another callpath, or where groups are found by
    /// messages.
    pub case: String,
    /// The number of ranks.
    pub ranks: u32,
    /// The number of aggregators.
    pub aggregators: u32,
    /// Summaries of one rank.
    pub summaries: u64,
    /// The phases in their order.
    pub phases: Vec<PhaseRow>,
    /// When the last rank was done.
    pub total_ns: u64,
    /// The longest part.
    pub part_bytes_max: u64,
    /// All parts together.
    pub part_bytes: u64,
    /// What the busiest rank received, sent and wrote: what it must have held at some time.
    pub busiest_bytes: u64,
    /// The most bytes on their way between ranks; 0 where that is not known.
    pub bytes_on_the_way_max: u64,
    /// How long the simulation itself took.
    pub wall_ns: u64,
    /// The most memory of the simulation.
    pub peak_memory_bytes: u64,
}

/// The rows of a file of JSON lines; none if there is no such file.
///
/// # Errors
/// When a line is no such row: the text says which.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    text.lines()
        .zip(1..)
        .map(|(line, number)| {
            serde_json::from_str(line)
                .map_err(|error| format!("line {number} of {}: {error}", path.display()))
        })
        .collect()
}

/// The value in the middle; the mean of two where their number is even, 0 where there are none.
#[must_use]
pub fn median(values: impl IntoIterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.into_iter().collect();
    values.sort_unstable();
    let middle = values.len() / 2;
    match values.len() {
        0 => 0,
        n if n % 2 == 1 => values[middle],
        _ => values[middle - 1].midpoint(values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!((median([]), median([3]), median([9, 1]), median([5, 100, 1])), (0, 3, 5, 5));
    }
}
