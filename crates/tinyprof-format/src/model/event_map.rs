//! The values of one rank: the paper's event map (section IV-B), as a plain value.

use std::collections::HashMap;
use std::sync::Arc;

use super::table::link;
use super::{
    CallpathId, CallpathIndex, CallpathTable, CallpathValues, Edge, EdgeKey, Losses, MessageKey,
    MetricValues, RankFacts, Region, Traffic,
};

/// The values of one rank by callpath, in canonical order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventMap {
    /// The callpaths that this rank visited.
    pub callpaths: CallpathTable,
    /// The values of each callpath, row by row of `callpaths`.
    pub values: Vec<CallpathValues>,
    /// The facts that the rank reports about itself.
    pub facts: RankFacts,
}

impl EventMap {
    /// Merges the records of a rank's threads by callpath. Records come in any order and may repeat
    /// an id. Callpaths of different regions or below different parents are kept apart. A record
    /// names its parent by id, so where two callpaths share an id, the children of both are placed
    /// below one of them.
    ///
    /// # Cost
    /// The records are taken one at a time. Callpaths that end with the same region may share it.
    /// Each then takes about 350 bytes while the map is made, and 200 in the map.
    #[must_use]
    pub fn from_records<R: Into<Arc<Region>>>(
        records: impl IntoIterator<Item = (CallpathId, Option<CallpathId>, R, CallpathValues)>,
        facts: RankFacts,
    ) -> Self {
        let mut measured = Vec::new();
        let triples = records.into_iter().map(|(id, parent, region, values)| {
            measured.push(values);
            (id, parent, region.into())
        });
        let links = link(triples);
        let (callpaths, placed) = CallpathTable::place(&links);
        drop(links);
        let values = in_rows(measured, placed, callpaths.len());
        Self { callpaths, values, facts }
    }

    /// Adds the values recorded under `key` at `callpath`. Returns false if the callpath is not in
    /// the table: its values are then dropped, and the caller must count them as lost.
    /// # Cost
    /// A scan of the table. Records that carry their metrics go through
    /// [`from_records`](Self::from_records).
    #[must_use = "values of an unknown callpath are lost and must be counted"]
    pub fn add_metric(&mut self, callpath: CallpathId, key: &str, values: MetricValues) -> bool {
        let Some(row) = self.callpaths.rows().iter().position(|c| c.id == callpath) else {
            return false;
        };
        self.values[row].metrics.entry(key.to_owned()).or_default().absorb(values);
        true
    }

    /// Adds many metrics, each of a callpath under a key. Returns the number dropped because their
    /// callpaths are not in the table.
    #[must_use = "values of an unknown callpath are lost and must be counted"]
    pub fn add_metrics(
        &mut self,
        metrics: impl IntoIterator<Item = (CallpathId, String, MetricValues)>,
    ) -> u64 {
        let metrics = metrics.into_iter().map(|(callpath, key, values)| (callpath, (key, values)));
        self.add_to_callpaths(metrics, |of_callpath, (key, values)| {
            of_callpath.metrics.entry(key).or_default().absorb(values);
        })
    }

    /// Adds the messages of many callpaths. Returns the number of records dropped because their
    /// callpaths are not in the table.
    #[must_use = "messages of an unknown callpath are lost and must be counted"]
    pub fn add_messages(
        &mut self,
        messages: impl IntoIterator<Item = (CallpathId, MessageKey, Traffic)>,
    ) -> u64 {
        let messages = messages.into_iter().map(|(callpath, key, sum)| (callpath, (key, sum)));
        self.add_to_callpaths(messages, |of_callpath, (key, traffic)| {
            of_callpath.messages.entry(key).or_default().absorb(traffic);
        })
    }

    /// Adds the edges of many callpaths. Returns the number of records dropped because their
    /// callpaths are not in the table.
    #[must_use = "edges of an unknown callpath are lost and must be counted"]
    pub fn add_edges(
        &mut self,
        edges: impl IntoIterator<Item = (CallpathId, EdgeKey, Edge)>,
    ) -> u64 {
        let edges = edges.into_iter().map(|(callpath, key, edge)| (callpath, (key, edge)));
        self.add_to_callpaths(edges, |of_callpath, (key, edge)| {
            of_callpath.edges.entry(key).or_default().absorb(&edge);
        })
    }

    /// Calls `add` with the values of each record's callpath. Returns the number of records whose
    /// callpaths are not in the table.
    fn add_to_callpaths<T>(
        &mut self,
        records: impl Iterator<Item = (CallpathId, T)>,
        add: impl Fn(&mut CallpathValues, T),
    ) -> u64 {
        // Where callpaths share an id, the first is used, as in `add_metric`.
        let rows = self.callpaths.rows().iter().enumerate().rev();
        let rows: HashMap<CallpathId, usize> =
            rows.map(|(row, callpath)| (callpath.id, row)).collect();
        let mut lost = 0;
        for (callpath, record) in records {
            match rows.get(&callpath) {
                Some(&row) => add(&mut self.values[row], record),
                None => lost += 1,
            }
        }
        lost
    }

    /// Returns the number of executions: one more than the last in which any callpath was visited.
    #[must_use]
    pub fn executions(&self) -> u32 {
        let ends = self.values.iter().filter_map(|v| v.executions.last());
        ends.map(|e| e.execution.saturating_add(e.executions)).max().unwrap_or(0)
    }

    /// Returns everything that was lost, including what was folded.
    #[must_use]
    pub fn losses(&self) -> Losses {
        let metrics = || self.values.iter().flat_map(|v| v.metrics.values());
        let buckets = self.values.iter().flat_map(|v| &v.series).map(|b| b.visits);
        let buckets = buckets.chain(metrics().flat_map(|m| &m.series).map(|b| b.values));
        let spans = self.values.iter().flat_map(|v| &v.executions).map(|e| e.executions);
        let spans = spans.chain(metrics().flat_map(|m| &m.executions).map(|e| e.executions));
        Losses {
            series_buckets_folded: buckets.filter(|&visits| visits > 1).count() as u64,
            executions_folded: spans.filter(|&executions| executions > 1).count() as u64,
            ..self.facts.losses
        }
    }
}

/// Moves values in place to the rows of their callpaths. The values of several records of a
/// callpath are added in their order; values without a row are dropped.
fn in_rows(
    mut values: Vec<CallpathValues>,
    mut placed: Vec<Option<CallpathIndex>>,
    rows: usize,
) -> Vec<CallpathValues> {
    let mut first: Vec<Option<CallpathIndex>> = vec![None; rows];
    for position in 0..placed.len() {
        let measured = std::mem::take(&mut values[position]);
        let Some(row) = placed[position] else { continue };
        let at = first[row.row()].get_or_insert(CallpathIndex::new(position)).row();
        values[at].absorb(measured);
        if at != position {
            placed[position] = None;
        }
    }
    // Each exchange moves the values of one callpath to their row.
    for position in 0..placed.len() {
        while let Some(row) =
            placed[position].map(CallpathIndex::row).filter(|&row| row != position)
        {
            values.swap(position, row);
            placed.swap(position, row);
        }
    }
    values.truncate(rows);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MetricBucket, MetricSummary, Mode, SiteId};

    #[test]
    fn a_metric_needs_a_callpath_and_what_it_folded_is_counted() {
        let site = SiteId::from_bits(1);
        let region = Region { mode: Mode::Each, ..Region::named(site, "main") };
        let main = CallpathId::root(site);
        let record = (main, None, region, CallpathValues::default());
        let mut map = EventMap::from_records([record], RankFacts::default());
        let folded = MetricValues {
            executions: vec![MetricSummary {
                executions: 2,
                ..MetricSummary::of_one_value(0, 3.0)
            }],
            series: vec![MetricBucket { values: 2, ..MetricBucket::of_one_value(0, 3.0) }],
        };
        assert!(map.add_metric(main, "mem", folded.clone()));
        assert!(map.add_metric(main, "mem", folded.clone()));
        assert!(!map.add_metric(main.child(site), "mem", folded));
        assert_eq!(map.values[0].metrics["mem"].sum().to_bits(), 6.0_f64.to_bits());
        let losses = Losses { series_buckets_folded: 2, executions_folded: 1, ..Losses::default() };
        assert_eq!(map.losses(), losses);
    }

    #[test]
    fn records_of_one_id_but_different_regions_or_parents_are_kept_apart() {
        let region = |site: u64| Region::named(SiteId::from_bits(site), format!("r{site}"));
        let id = CallpathId::from_bits;
        let record = |own, parent: Option<u64>, site, ns| {
            let visited = crate::model::ExecutionSummary::of_one_visit(0, ns);
            let values = CallpathValues { executions: vec![visited], ..CallpathValues::default() };
            (id(own), parent.map(id), region(site), values)
        };
        let thread = |ns| {
            [
                record(1, None, 1, ns),
                record(1, None, 2, 10 * ns),
                record(3, None, 3, 100 * ns),
                record(2, Some(1), 4, 1000 * ns),
                record(2, Some(3), 4, 10_000 * ns),
            ]
        };
        let map = EventMap::from_records([thread(1), thread(2)].concat(), RankFacts::default());
        let sums = map
            .callpaths
            .iter()
            .map(|(at, _)| (map.callpaths.path(at), map.values[at.row()].inclusive_ns()));
        let mut sums: Vec<_> = sums.collect();
        sums.sort();
        let expected = [("r1", 3), ("r1<r4", 3000), ("r2", 30), ("r3", 300), ("r3<r4", 30_000)];
        assert_eq!(sums, expected.map(|(path, ns)| (path.to_owned(), ns)));
    }
}
