//! A host with more ranks than CPUs.

use super::finding::{Certainty, Finding, FindingKind, Words};
use super::rule::Rule;
use super::run::Run;
use crate::facts::occupancy::Occupancy;
use crate::words::units::percent_cell;

/// The minimum number of ranks on a host for each of its CPUs that is too many. Slightly more ranks
/// than CPUs may be on purpose.
const CROWDED_PART: f64 = 1.25;

pub(crate) struct CrowdedRule;

impl Rule for CrowdedRule {
    fn kind(&self) -> FindingKind {
        FindingKind::Crowded
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        run.occupancy.and_then(|occupancy| crowded(run, occupancy)).into_iter().collect()
    }
}

fn crowded(run: &Run<'_>, Occupancy { ranks, cpus }: Occupancy) -> Option<Finding> {
    if f64::from(ranks) < CROWDED_PART * f64::from(cpus) {
        return None;
    }
    let waiting = 1.0 - f64::from(cpus) / f64::from(ranks);
    let words = Words {
        headline: format!("{ranks} ranks share the {cpus} CPUs of a host"),
        evidence: format!(
            "They take turns, so up to {} of every time is waiting for a CPU.",
            percent_cell(waiting),
        ),
        advice: format!("Start at most {cpus} ranks a host to measure the program itself."),
    };
    let lost_ns = waiting * run.a_rank_ns(run.statistics.times().total_ns);
    let finding = Finding::new(FindingKind::Crowded, lost_ns, words);
    Some(finding.with_certainty(Certainty::AtMost))
}
