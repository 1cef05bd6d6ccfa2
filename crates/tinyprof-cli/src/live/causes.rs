//! Why the ranks of a running job wait, from what they have recorded so far.

use std::collections::BTreeMap;

use tinyprof_format::model::{
    CallpathFile, CallpathIndex, CallpathTable, CallpathValues, EventMap, FORMAT_NAME,
    FormatVersion, InterimTimes, Losses, Manifest, PeakMemory, PhaseTimes, Precision, RankFacts,
    RunMetadata,
};
use tinyprof_report::{Totals, WaitedFor};
use tinyprof_why::{Why, WhyBuilder};

/// Returns the answer for ranks with these measurements, whose callpaths are all in the table, none
/// if nothing is known of why; and the ranks that callpaths wait for.
pub(super) fn why_of_ranks(
    callpaths: &CallpathTable,
    ranks: &[EventMap],
) -> (Option<Why>, BTreeMap<CallpathIndex, WaitedFor>) {
    let rows = callpaths.index_by_identity();
    let none = CallpathValues::default();
    let mut by_row: Vec<Vec<&CallpathValues>> = vec![vec![&none; ranks.len()]; callpaths.len()];
    for (rank, map) in ranks.iter().enumerate() {
        for (identity, values) in map.callpaths.identities().iter().zip(&map.values) {
            if let Some(row) = rows.get(identity) {
                by_row[row.row()][rank] = values;
            }
        }
    }
    let facts: Vec<RankFacts> = ranks.iter().map(|map| map.facts.clone()).collect();
    let mut totals = Totals::new(&manifest(ranks.len()), callpaths, &facts);
    let mut builder = WhyBuilder::new(callpaths, ranks.len());
    for ((index, _), values) in callpaths.iter().zip(by_row) {
        let values: Vec<CallpathValues> = values.into_iter().cloned().collect();
        totals.add(index, &values);
        builder.add(index, &values);
    }
    for (rank, facts) in (0_u32..).zip(&facts) {
        if let Some(causes) = &facts.causes {
            builder.add_causes(rank, causes);
        }
    }
    (Some(builder.finish(&totals)).filter(Why::is_known), totals.waited_for())
}

/// Returns the facts of a run that has not ended.
fn manifest(ranks: usize) -> Manifest {
    Manifest {
        format: FORMAT_NAME.to_owned(),
        version: FormatVersion::CURRENT,
        ranks: u32::try_from(ranks).unwrap_or(u32::MAX),
        executions: 0,
        callpaths: CallpathFile::default(),
        parts: Vec::new(),
        metadata: RunMetadata::default(),
        complete: false,
        incomplete_because: None,
        precision: Precision::Exact,
        salvage: None,
        peak_memory: PeakMemory::default(),
        losses: Losses::default(),
        flush: PhaseTimes::default(),
        interim_profiles: InterimTimes::default(),
        profile_id: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::waiting;

    #[test]
    fn the_ranks_of_a_running_job_say_who_is_late() {
        let why = waiting().why.expect("there are calls of MPI");
        let verdict = why.verdict();
        assert!(verdict.starts_with("Rank 0 ") && verdict.contains("MPI_Recv"), "{verdict}");
    }
}
