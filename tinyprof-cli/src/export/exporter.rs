//! The interface of all exporters.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;

use tinyprof_format::model::{CallpathIndex, CallpathValues, MetricSummary, Precision, Profile};
use tinyprof_report::{Efficiency, RankStatistics, Statistics};

use crate::parameter::Parameter;

/// Notes for standard error on data that was not written, one per line.
pub(super) type Notes = Vec<String>;

/// A format of another tool.
pub(super) trait Exporter: Sync {
    /// Returns `true` if the format is text, which may go to standard output.
    fn is_text(&self) -> bool {
        true
    }

    /// Returns `true` if several profiles go into one file.
    fn takes_several(&self) -> bool {
        false
    }

    /// Returns `true` if it shows only some of many ranks, see `--max-ranks`.
    fn caps_ranks(&self) -> bool {
        false
    }

    /// Writes the profiles to `out`, which the caller flushes.
    ///
    /// # Errors
    /// If `out` cannot be written, or if the format cannot hold the profile at all.
    fn export(
        &self,
        request: &Request,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>>;
}

/// The data to export.
pub(super) struct Request {
    /// The profiles: never empty, and only one unless the exporter takes several.
    pub(super) sources: Vec<Source>,
    pub(super) max_ranks: usize,
    pub(super) parameters: Vec<Parameter>,
}

impl Request {
    /// Returns the request of a whole profile.
    #[cfg(test)]
    pub(super) fn of_profile(name: &str, profile: Profile) -> Self {
        let ranks = (0..profile.ranks.len()).collect();
        let sources = vec![Source { name: name.to_owned(), profile, ranks }];
        Self { sources, max_ranks: 64, parameters: Vec::new() }
    }

    /// Returns the profile, for exporters that take one.
    pub(super) fn source(&self) -> &Source {
        &self.sources[0]
    }
}

/// A profile, reduced to the selection.
pub(super) struct Source {
    /// The name of the profile on the screen.
    pub(super) name: String,
    pub(super) profile: Profile,
    /// The selected ranks, in order. The others have no values.
    pub(super) ranks: Vec<usize>,
}

impl Source {
    /// Returns the report's statistics of each callpath, by row.
    pub(super) fn statistics(&self) -> Statistics {
        Statistics::of_profile(&self.profile)
    }

    /// Returns the statistics that a report of this rank alone would have, by row.
    pub(super) fn of_rank(&self, rank: usize) -> Vec<RankStatistics> {
        let table = &self.profile.callpaths;
        let mut statistics = Statistics::new(table.len());
        statistics.add_rank(table, 0, "", |index| &self.profile.values(index, rank).executions);
        statistics.rows().collect()
    }

    /// Returns the known numbers of the ranks' efficiency, each from 0 to 1, by name.
    pub(super) fn efficiency(&self) -> Vec<(&'static str, f64)> {
        let Some(found) = Efficiency::of_profile(&self.profile) else { return Vec::new() };
        let numbers = [
            ("parallel", found.parallel),
            ("load_balance", Some(found.load_balance)),
            ("communication", found.communication),
            ("serialisation", found.serialisation),
            ("transfer", found.transfer),
            ("io_share", Some(found.io_share)),
        ];
        numbers.into_iter().filter_map(|(name, number)| Some((name, number?))).collect()
    }

    /// Returns whether times are exact or rounded, in the words of formats that have a field for
    /// it.
    pub(super) fn precision(&self) -> &'static str {
        self.profile.manifest.precision.name()
    }

    /// Returns the addition to a title if times are rounded.
    pub(super) fn rounded(&self) -> Option<&'static str> {
        (self.profile.manifest.precision == Precision::EightBit)
            .then_some("times rounded to 8 bits")
    }

    /// Returns the note for formats that have no place for it.
    pub(super) fn rounded_note(&self) -> Option<String> {
        self.rounded().map(|rounded| format!("not in this format: {rounded}"))
    }

    /// Returns the note for formats that have no place for messages.
    pub(super) fn messages_note(&self) -> Option<String> {
        tinyprof_report::has_messages(&self.profile)
            .then(|| "not in this format: messages".to_owned())
    }

    /// Returns the values recorded under each key at a callpath, over all ranks in order, as in the
    /// report.
    pub(super) fn metrics(&self, callpath: CallpathIndex) -> BTreeMap<&str, MetricSummary> {
        let mut totals: BTreeMap<&str, MetricSummary> = BTreeMap::new();
        for values in &self.profile.values[callpath.row()] {
            for (key, one) in metrics_of(values) {
                totals.entry(key).and_modify(|total| total.absorb(&one)).or_insert(one);
            }
        }
        totals
    }
}

/// Returns the values that one rank recorded under each key at a callpath.
pub(super) fn metrics_of(values: &CallpathValues) -> impl Iterator<Item = (&str, MetricSummary)> {
    values.metrics.iter().filter_map(|(key, metric)| {
        let total = metric.executions.iter().copied().reduce(|mut sum, next| {
            sum.absorb(&next);
            sum
        });
        total.map(|total| (key.as_str(), total))
    })
}

/// Returns `n` as a float, the number type of most formats; exact below 2^53.
#[expect(clippy::cast_precision_loss, reason = "the formats that get it have no other number")]
pub(super) fn float(n: u128) -> f64 {
    n as f64
}
