//! A run that is too short for its profile.

use super::finding::{Finding, FindingKind, Words};
use super::rule::Rule;
use super::run::Run;
use crate::facts::numbers::{float, whole};
use crate::words::units::time;

/// The minimum time of writing profiles as a part of the mean rank's total time.
const WRITING_PART: f64 = 0.10;

pub(crate) struct ShortRunRule;

impl Rule for ShortRunRule {
    fn kind(&self) -> FindingKind {
        FindingKind::ShortRun
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        let writing_ns = run.overhead.map_or(0.0, |cost| float(cost.writing_ns));
        let total_ns = run.a_rank_ns(run.statistics.times().total_ns);
        if run.overhead.is_none() || total_ns <= 0.0 || writing_ns < WRITING_PART * total_ns {
            return Vec::new();
        }
        let words = Words {
            headline: "The run is too short to judge the overhead".to_owned(),
            evidence: format!(
                "It took {} per rank, and writing its profile {} more.",
                time(whole(total_ns)),
                time(whole(writing_ns)),
            ),
            advice: "Measure a longer run.".to_owned(),
        };
        vec![Finding::new(self.kind(), writing_ns, words)]
    }
}
