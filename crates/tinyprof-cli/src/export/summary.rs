//! The numbers of each callpath over all ranks, as in the report, from one pass over a profile.

use std::collections::BTreeMap;
use std::error::Error;

use tinyprof_format::model::{CallpathValues, MetricSummary};
use tinyprof_report::{Efficiency, Statistics, Totals, Transfers};

use super::exporter::{Source, metrics_of};

/// The sums of each callpath of a profile over all ranks.
pub(super) struct Summary {
    pub(super) totals: Totals,
    /// The statistics of times, by row.
    pub(super) statistics: Statistics,
    /// The messages and other transfers, by row, of callpaths that have any.
    pub(super) transfers: BTreeMap<usize, Transfers>,
    /// The values under each key, by row, of callpaths that have any.
    pub(super) metrics: BTreeMap<usize, BTreeMap<String, MetricSummary>>,
    /// The number of varying metrics: one for each key, rank and callpath.
    pub(super) metric_records: usize,
}

impl Summary {
    /// Returns the summary of a profile, by a pass over all callpaths.
    ///
    /// # Errors
    /// If the profile cannot be read.
    pub(super) fn of(source: &Source<'_>) -> Result<Self, Box<dyn Error>> {
        let mut totals = Totals::new(source.manifest(), source.callpaths(), source.facts());
        let (mut transfers, mut metrics) = (BTreeMap::new(), BTreeMap::new());
        let mut metric_records = 0;
        source.each(|index, values| {
            totals.add(index, values);
            if values.iter().any(|values| !values.messages.is_empty()) {
                transfers.insert(index.row(), Transfers::of_ranks(values));
            }
            let records: usize = values.iter().map(|values| values.metrics.len()).sum();
            if records > 0 {
                metric_records += records;
                metrics.insert(index.row(), over_ranks(values));
            }
            Ok(())
        })?;
        let statistics = Statistics::of_totals(&totals);
        Ok(Self { totals, statistics, transfers, metrics, metric_records })
    }

    /// Returns true if any callpath has messages or other transfers.
    pub(super) fn has_messages(&self) -> bool {
        !self.transfers.is_empty()
    }

    /// Returns the note for formats that have no place for messages.
    pub(super) fn messages_note(&self) -> Option<String> {
        self.has_messages().then(|| "not in this format: messages".to_owned())
    }

    /// Returns the note for formats that have no place for varying metrics.
    pub(super) fn metrics_note(&self) -> Option<String> {
        let records = self.metric_records;
        (records > 0).then(|| format!("not in this format: varying metrics ({records})"))
    }

    /// Returns the known numbers of the ranks' efficiency, each from 0 to 1, by name.
    pub(super) fn efficiency(&self) -> Vec<(&'static str, f64)> {
        let Some(found) = Efficiency::of_statistics(self.totals.callpaths(), &self.statistics)
        else {
            return Vec::new();
        };
        let numbers = [
            ("parallel", found.parallel),
            ("load_balance", Some(found.load_balance)),
            ("communication", found.communication),
            ("serialisation", found.serialisation),
            ("transfer", found.transfer),
            ("processors", found.processors),
            ("io_share", Some(found.io_share)),
        ];
        numbers.into_iter().filter_map(|(name, number)| Some((name, number?))).collect()
    }
}

/// Returns the values recorded under each key at a callpath, over all ranks in order.
fn over_ranks(ranks: &[CallpathValues]) -> BTreeMap<String, MetricSummary> {
    let mut totals: BTreeMap<String, MetricSummary> = BTreeMap::new();
    for (key, one) in ranks.iter().flat_map(metrics_of) {
        match totals.get_mut(key) {
            Some(total) => total.absorb(&one),
            None => drop(totals.insert(key.to_owned(), one)),
        }
    }
    totals
}
