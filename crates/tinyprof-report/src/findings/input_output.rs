//! A run that spends much of its time reading and writing.

use super::EFFICIENCY_MIN;
use super::finding::{Finding, FindingKind, Words};
use super::phrases::mostly;
use super::rule::Rule;
use super::run::Run;
use crate::facts::numbers::whole;
use crate::facts::usage::Activity;
use crate::words::units::{percent_cell, time};

/// The minimum time of input and output as a part of the total time.
const INPUT_OUTPUT_PART: f64 = 0.20;

pub(crate) struct InputOutputRule;

impl Rule for InputOutputRule {
    fn kind(&self) -> FindingKind {
        FindingKind::InputOutput
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        input_output(run).into_iter().collect()
    }
}

fn input_output(run: &Run<'_>) -> Option<Finding> {
    let found = run.efficiency?;
    let times = run.statistics.times();
    let others_ns = times.total_ns.saturating_sub(times.useful_ns).saturating_sub(times.io_ns);
    let explains_loss =
        found.parallel.is_some_and(|parallel| parallel < EFFICIENCY_MIN) && times.io_ns > others_ns;
    if found.io_share < INPUT_OUTPUT_PART && !explains_loss {
        return None;
    }
    let regions = run.regions_of(Activity::InputOutput);
    let place = regions.first()?.callpath;
    let words = Words {
        headline: format!(
            "Input and output take {} of the time, {}",
            percent_cell(found.io_share),
            mostly(run, &regions),
        ),
        evidence: format!(
            "A rank reads and writes for {} of {} on average.",
            time(whole(run.a_rank_ns(times.io_ns))),
            time(whole(run.a_rank_ns(times.total_ns))),
        ),
        advice: "Write less often, in larger pieces, or from fewer ranks.".to_owned(),
    };
    let lost_ns = run.a_rank_ns(times.io_ns);
    Some(Finding::new(FindingKind::InputOutput, lost_ns, words).at(place))
}
