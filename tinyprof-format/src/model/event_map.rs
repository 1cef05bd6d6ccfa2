//! What one rank holds: the paper's event map (section IV-B), as a plain value.

use super::{CallpathId, CallpathTable, CallpathValues, Losses, RankFacts, Region};

/// Callpath -> values of one rank, in canonical order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventMap {
    /// The callpaths that this rank visited.
    pub callpaths: CallpathTable,
    /// The values of each callpath, row by row of `callpaths`.
    pub values: Vec<CallpathValues>,
    /// What the rank says of itself.
    pub facts: RankFacts,
}

impl EventMap {
    /// Merges the records of a rank's threads by callpath. Records come in any order and may repeat an id.
    #[must_use]
    pub fn from_records(
        records: impl IntoIterator<Item = (CallpathId, Option<CallpathId>, Region, CallpathValues)>,
        facts: RankFacts,
    ) -> Self {
        let mut triples = Vec::new();
        let mut measured = Vec::new();
        for (id, parent, region, values) in records {
            triples.push((id, parent, region));
            measured.push((id, values));
        }
        let callpaths = CallpathTable::from_parents(triples);
        let index = callpaths.index_by_id();
        let mut values = vec![CallpathValues::default(); callpaths.len()];
        for (id, measured) in measured {
            if let Some(at) = index.get(&id) {
                values[at.row()].absorb(measured);
            }
        }
        Self { callpaths, values, facts }
    }

    /// The number of executions: one more than the last that any callpath was visited in.
    #[must_use]
    pub fn executions(&self) -> u32 {
        let ends = self.values.iter().filter_map(|v| v.executions.last());
        ends.map(|e| e.execution.saturating_add(e.executions)).max().unwrap_or(0)
    }

    /// What was lost, with what was folded.
    #[must_use]
    pub fn losses(&self) -> Losses {
        let buckets = self.values.iter().flat_map(|v| &v.series);
        let summaries = self.values.iter().flat_map(|v| &v.executions);
        Losses {
            series_buckets_folded: buckets.filter(|b| b.visits > 1).count() as u64,
            executions_folded: summaries.filter(|e| e.executions > 1).count() as u64,
            ..self.facts.losses
        }
    }
}
