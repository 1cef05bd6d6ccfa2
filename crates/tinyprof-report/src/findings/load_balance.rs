//! A run whose work is distributed unevenly over ranks.

use super::EFFICIENCY_MIN;
use super::finding::{Certainty, Finding, FindingKind, Words};
use super::phrases::on_host;
use super::rule::Rule;
use super::run::Run;
use crate::facts::numbers::{float, whole};
use crate::words::units::{percent_cell, time};

/// The part of an uneven distribution that a single rank or region must explain to be reported in
/// place of it.
const EXPLAINED_PART: f64 = 0.5;

pub(crate) struct LoadBalanceRule;

impl Rule for LoadBalanceRule {
    fn kind(&self) -> FindingKind {
        FindingKind::LoadBalance
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        load_balance(run).into_iter().collect()
    }
}

fn load_balance(run: &Run<'_>) -> Option<Finding> {
    let found = run.efficiency?;
    let is_low = found.load_balance < EFFICIENCY_MIN
        || found.parallel.zip(found.communication).is_some_and(|(parallel, communication)| {
            parallel < EFFICIENCY_MIN && found.load_balance < communication
        });
    if !is_low {
        return None;
    }
    let times = run.statistics.times();
    let (max_ns, mean_ns) = (float(times.useful_max_ns), run.a_rank_ns(times.useful_ns));
    let busiest = run.busiest();
    let name = busiest.map_or_else(
        || "one rank".to_owned(),
        |(rank, host)| format!("rank {rank}{}", on_host(run, host)),
    );
    let words = Words {
        headline: format!(
            "Work is distributed unevenly: load balance {}, {name} has the most",
            percent_cell(found.load_balance),
        ),
        evidence: format!(
            "It computes for {} there and {} per rank on average; the others may wait {}.",
            time(whole(max_ns)),
            time(whole(mean_ns)),
            time(whole(max_ns - mean_ns)),
        ),
        advice: "Give that rank less work, or use fewer ranks.".to_owned(),
    };
    let finding = Finding::new(FindingKind::LoadBalance, max_ns - mean_ns, words);
    let finding = finding.because_of(busiest.map(|(rank, _)| rank));
    Some(finding.with_certainty(Certainty::Estimated))
}

/// Returns whether a slow rank or an imbalanced region explains an uneven distribution of work:
/// that is where to look.
pub(crate) fn explains_imbalance_of_work(own: &Finding, other: &Finding) -> bool {
    other.kind == FindingKind::LoadBalance && own.lost_ns >= EXPLAINED_PART * other.lost_ns
}
