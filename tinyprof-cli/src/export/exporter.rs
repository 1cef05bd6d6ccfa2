//! What every exporter is told and must do.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;

use tinyprof_format::model::{CallpathIndex, CallpathValues, MetricSummary, Precision, Profile};
use tinyprof_format::report::{RankStatistics, Statistics};

use crate::parameter::Parameter;

/// What was not written, a line each, for standard error.
pub(super) type Notes = Vec<String>;

/// A format of other tools.
pub(super) trait Exporter: Sync {
    /// Whether it is text, which standard output may get.
    fn is_text(&self) -> bool {
        true
    }

    /// Whether several profiles go into one file.
    fn takes_several(&self) -> bool {
        false
    }

    /// Whether it shows some of many ranks only, see `--max-ranks`.
    fn caps_ranks(&self) -> bool {
        false
    }

    /// Writes the profiles to `out`, which the caller flushes.
    ///
    /// # Errors
    /// When `out` cannot be written, or when the format cannot hold the profile at all.
    fn export(
        &self,
        request: &Request,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>>;
}

/// What is to be exported.
pub(super) struct Request {
    /// Never empty; one, unless the exporter takes several.
    pub(super) sources: Vec<Source>,
    pub(super) max_ranks: usize,
    pub(super) parameters: Vec<Parameter>,
}

impl Request {
    /// The profile of exporters that take one.
    pub(super) fn source(&self) -> &Source {
        &self.sources[0]
    }
}

/// A profile with what the selection has left of it.
pub(super) struct Source {
    /// What the profile is called on the screen.
    pub(super) name: String,
    pub(super) profile: Profile,
    /// The ranks that were selected, in order. The others have no values.
    pub(super) ranks: Vec<usize>,
}

impl Source {
    /// What the report says of each callpath, row by row.
    pub(super) fn statistics(&self) -> Statistics {
        Statistics::of_profile(&self.profile)
    }

    /// What the report would say of each callpath if there were this rank only, row by row.
    pub(super) fn of_rank(&self, rank: usize) -> Vec<RankStatistics> {
        let table = &self.profile.callpaths;
        let mut statistics = Statistics::new(table.len());
        statistics.add_rank(table, 0, "", |index| &self.profile.values(index, rank).executions);
        statistics.rows().collect()
    }

    /// Whether times are as they were measured, as formats with a place for it say it.
    pub(super) fn precision(&self) -> &'static str {
        self.profile.manifest.precision.name()
    }

    /// What a title says of times that are rounded.
    pub(super) fn rounded(&self) -> Option<&'static str> {
        (self.profile.manifest.precision == Precision::EightBit)
            .then_some("times rounded to 8 bits")
    }

    /// The note of a format that cannot say so.
    pub(super) fn rounded_note(&self) -> Option<String> {
        self.rounded().map(|rounded| format!("not in this format: {rounded}"))
    }

    /// What was recorded under each key at a callpath, over all ranks in their order, as in the
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

/// What one rank recorded under each key at a callpath.
pub(super) fn metrics_of(values: &CallpathValues) -> impl Iterator<Item = (&str, MetricSummary)> {
    values.metrics.iter().filter_map(|(key, metric)| {
        let total = metric.executions.iter().copied().reduce(|mut sum, next| {
            sum.absorb(&next);
            sum
        });
        total.map(|total| (key.as_str(), total))
    })
}

/// `n` as the number that most formats have; exact below 2^53.
#[expect(clippy::cast_precision_loss, reason = "the formats that get it have no other number")]
pub(super) fn float(n: u128) -> f64 {
    n as f64
}
