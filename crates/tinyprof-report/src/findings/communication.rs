//! A run that spends much of its time in communication.

use super::EFFICIENCY_MIN;
use super::finding::{Certainty, Finding, FindingKind, Words};
use super::phrases::{mostly, name};
use super::rule::Rule;
use super::run::Run;
use crate::facts::numbers::{float, ratio, whole};
use crate::facts::statistics::regions::Region;
use crate::facts::usage::Activity;
use crate::words::units::{percent_cell, time};

/// The minimum difference between the slowest and the fastest rank in a communicating region, as a
/// part of the slowest rank's time, that is called waiting.
const WAITING_PART: f64 = 0.25;

pub(crate) struct CommunicationRule;

impl Rule for CommunicationRule {
    fn kind(&self) -> FindingKind {
        FindingKind::Communication
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        communication(run).into_iter().collect()
    }
}

fn communication(run: &Run<'_>) -> Option<Finding> {
    let found = run.efficiency?;
    let (parallel, communication) = found.parallel.zip(found.communication)?;
    let times = run.statistics.times();
    let sum_ns = times.total_ns.saturating_sub(times.useful_ns).saturating_sub(times.io_ns);
    let is_low = communication < EFFICIENCY_MIN
        || (parallel < EFFICIENCY_MIN && communication <= found.load_balance);
    if !is_low || sum_ns < times.io_ns {
        return None;
    }
    let regions = run.regions_of(Activity::Communication);
    let first = regions.first()?;
    let lost_ns = (1.0 - communication) * float(times.total_max_ns);
    let words = words(run, &regions, first, sum_ns);
    let finding = Finding::new(FindingKind::Communication, lost_ns, words).at(first.callpath);
    Some(finding.with_certainty(Certainty::AtMost))
}

/// Returns the sentences on communication that takes `sum_ns` on all ranks together.
fn words(run: &Run<'_>, regions: &[Region<'_>], first: &Region<'_>, sum_ns: u128) -> Words {
    let total_ns = run.statistics.times().total_ns;
    let advice = if first.is_mpi {
        "`tinyprof mpi` shows sizes and partners; send fewer and larger messages, or compute while they travel."
    } else {
        "Send fewer and larger messages, or compute while they travel."
    };
    Words {
        headline: format!(
            "Communication takes {} of the time, {}",
            percent_cell(ratio(sum_ns, total_ns)),
            mostly(run, regions),
        ),
        evidence: format!(
            "A rank communicates for {} of {} on average.{}",
            time(whole(run.a_rank_ns(sum_ns))),
            time(whole(run.a_rank_ns(total_ns))),
            waiting(run, first),
        ),
        advice: advice.to_owned(),
    }
}

/// Returns a sentence on ranks that wait for each other in a region, if the times of ranks differ
/// by so much.
fn waiting(run: &Run<'_>, region: &Region<'_>) -> String {
    let spread = run.row(region.callpath).exclusive;
    let (min, max) = (float(spread.min_ns), float(spread.max_ns));
    if max - min < WAITING_PART * max {
        return String::new();
    }
    format!(
        " In {} it takes {} on one rank and {} on rank {}: the difference is waiting.",
        name(run, region.callpath),
        time(whole(min)),
        time(whole(max)),
        spread.max_rank,
    )
}
