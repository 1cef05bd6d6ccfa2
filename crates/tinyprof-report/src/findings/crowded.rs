//! Ranks that wait for a processor.

use super::finding::{Finding, FindingKind, Words};
use super::rule::Rule;
use super::run::Run;
use crate::facts::numbers::{ratio, whole};
use crate::facts::occupancy::Occupancy;
use crate::words::units::{percent_cell, time};

/// The minimum part of the time in which ranks could run, but have no processor: what the system's
/// own work takes is less.
pub(crate) const CROWDED_PART: f64 = 0.05;

pub(crate) struct CrowdedRule;

impl Rule for CrowdedRule {
    fn kind(&self) -> FindingKind {
        FindingKind::Crowded
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        crowded(run).into_iter().collect()
    }
}

/// Returns the finding if the delay was measured: how many ranks and CPUs there are proves nothing,
/// as ranks may sleep, or be kept to some of the CPUs.
fn crowded(run: &Run<'_>) -> Option<Finding> {
    let times = run.statistics.times();
    let share = times.delay_share().filter(|&share| share >= CROWDED_PART)?;
    let is_crowded = |of: &Occupancy| of.is_crowded();
    let occupancy = run.occupancy.filter(is_crowded);
    let reason = match occupancy {
        Some(Occupancy { ranks, cpus }) => format!(": {ranks} share the {cpus} CPUs of a host"),
        None => String::new(),
    };
    let a_rank = |sum_ns: u128| ratio(sum_ns, times.followed_ranks.max(1).into());
    let useful = match times.useful_delay_ns {
        0 => String::new(),
        ns => format!(" At least {} of it was computation.", time(whole(a_rank(ns)))),
    };
    let words = Words {
        headline: format!("Ranks wait for a CPU {} of the time{reason}", percent_cell(share)),
        evidence: format!(
            "A rank was ready to run, but had no CPU, for {} of {} on average.{useful}",
            time(whole(a_rank(times.delay_ns))),
            time(whole(a_rank(times.threads_ns))),
        ),
        advice: match occupancy {
            Some(Occupancy { cpus, .. }) => {
                format!("Start at most {cpus} ranks a host, and nothing beside them.")
            }
            None => "Look which CPUs the ranks are bound to, and what else runs there.".to_owned(),
        },
    };
    Some(Finding::new(FindingKind::Crowded, a_rank(times.delay_ns), words))
}
