//! The rows of results: one JSON object per line, so that runs can be added to a file and made into
//! a page later.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One flush under mpiexec. Times are the maximum over the ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlushRow {
    /// The number of ranks.
    pub ranks: u32,
    /// The number of aggregators.
    pub aggregators: u32,
    /// Visits of one rank.
    pub values: u64,
    /// Method of gathering the series: auto, padded or counts.
    pub series: String,
    /// Factor by which the last rank had more values.
    pub uneven: u32,
    /// Number of the repetition, 0-based.
    pub repetition: u32,
    /// Encoding a rank's values.
    pub encode_ns: u64,
    /// Phase 1, with the directory.
    pub synchronise_ns: u64,
    /// Phase 2.
    pub aggregate_ns: u64,
    /// Phase 3, until every rank knows the result.
    pub write_ns: u64,
    /// From the common start until the last rank returned.
    pub total_ns: u64,
    /// Size of the profile on disk.
    pub bytes: u64,
    /// Processor time of the busiest rank that is not an aggregator, polling included; 0 if every
    /// rank is one.
    pub rank_cpu_ns: u64,
    /// Processor time of the busiest aggregator.
    pub aggregator_cpu_ns: u64,
    /// Growth of the resident set of such a rank in the flush, without the event map.
    pub rank_memory_bytes: u64,
    /// Growth of the resident set of an aggregator.
    pub aggregator_memory_bytes: u64,
}

/// The cost of the parts of a flush in one process: medians of processor time, without waiting.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CostRow {
    /// Visits of one rank.
    pub values: u64,
    /// Summaries of one rank.
    pub summaries: u64,
    /// Ranks of the part.
    pub ranks: u32,
    /// Encoding one rank's values, on that rank.
    pub encode_ns: u64,
    /// Making the two messages of one rank, on that rank.
    pub messages_ns: u64,
    /// Reading the messages of all ranks, at the aggregator.
    pub read_ns: u64,
    /// Encoding the part, at the aggregator.
    pub part_ns: u64,
    /// The length of the part.
    pub bytes: u64,
}

/// The cost of a boundary at which no checkpoint is due: medians, of the slowest rank, in
/// picoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BoundaryRow {
    /// The number of ranks.
    pub ranks: u32,
    /// True if there was a checkpoint interval.
    pub interval: bool,
    /// An iteration of an unmarked loop.
    pub iteration_ps: u64,
    /// An iteration of a loop that is marked `checkpoint`.
    pub boundary_iteration_ps: u64,
    /// An execution of a root region, whose end is a boundary.
    pub execution_ps: u64,
}

/// The cost of a phase on the busiest simulated rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseRow {
    /// The name of the phase.
    pub phase: String,
    /// Time from when the last rank ended the previous phase until the last rank ended this one.
    pub ns: u64,
    /// Largest number of messages that a rank sent and received in it.
    pub messages: u64,
    /// Largest number of bytes that a rank sent and received in it.
    pub bytes: u64,
}

/// One simulated flush.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelRow {
    /// The case: the ranks agree, one rank visited another callpath, or groups are found by
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
    /// Time at which the last rank was done.
    pub total_ns: u64,
    /// The longest part.
    pub part_bytes_max: u64,
    /// All parts together.
    pub part_bytes: u64,
    /// Bytes that the busiest rank received, sent and wrote: what it must have held at some time.
    pub busiest_bytes: u64,
    /// Largest number of bytes in flight between ranks; 0 if unknown.
    pub bytes_on_the_way_max: u64,
    /// Duration of the simulation itself.
    pub wall_ns: u64,
    /// Peak memory of the simulation.
    pub peak_memory_bytes: u64,
}

/// Returns the rows of a file of JSON lines, or none if there is no such file.
///
/// # Errors
/// Fails if a line is not such a row; the text names it.
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

/// Returns the median: the mean of the two middle values if their number is even, 0 without values.
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
