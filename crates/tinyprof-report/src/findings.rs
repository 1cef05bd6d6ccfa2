//! Notable findings in a run: one file each, and the choice of those that are reported.

mod barrier_first;
mod communication;
mod crowded;
mod finding;
mod growth;
mod imbalance;
mod input_output;
mod late_sender;
mod load_balance;
mod phrases;
mod root_bottleneck;
mod rule;
mod run;
mod short_run;
mod slow_first;
mod straggler;
mod too_small;
mod waiting;
mod wrong_order;

use crate::facts::sampled_place::SampledPlace;
pub use finding::{Certainty, Finding, FindingKind, Words};
pub(crate) use rule::Rule;
pub(crate) use run::{Facts, Run};

/// The maximum number of findings. Further ones are rarely worth a look before these are fixed.
pub const FINDINGS_MAX: usize = 3;

/// The efficiency below which its cause is reported: parallel efficiency, or a factor of it.
pub(crate) const EFFICIENCY_MIN: f64 = 0.80;

/// All rules. A rule can explain the findings of those after it.
const RULES: [&dyn Rule; 14] = [
    &straggler::StragglerRule,
    &too_small::TooSmallRule,
    &imbalance::ImbalanceRule,
    &growth::GrowthRule,
    &slow_first::SlowFirstRule,
    &communication::CommunicationRule,
    &load_balance::LoadBalanceRule,
    &input_output::InputOutputRule,
    &crowded::CrowdedRule,
    &short_run::ShortRunRule,
    &late_sender::LateSenderRule,
    &wrong_order::WrongOrderRule,
    &root_bottleneck::RootBottleneckRule,
    &barrier_first::BarrierFirstRule,
];

/// The kinds of findings about what ranks compute.
const OF_COMPUTATION: [FindingKind; 5] = [
    FindingKind::Straggler,
    FindingKind::Imbalance,
    FindingKind::LoadBalance,
    FindingKind::Growth,
    FindingKind::SlowFirst,
];

/// Adds to a finding about what ranks compute in which function and line that is, if the program
/// was sampled.
fn add_samples(run: &Run<'_>, finding: &mut Finding) {
    let Some(of) = run.ranks.as_ref().filter(|_| OF_COMPUTATION.contains(&finding.kind)) else {
        return;
    };
    let all = || (0..u32::try_from(of.totals.ranks().len()).unwrap_or(u32::MAX)).collect();
    let ranks = if finding.ranks.is_empty() { all() } else { finding.ranks.clone() };
    finding.sampled = SampledPlace::of(of.totals, &ranks, finding.place);
    if let Some(place) = &finding.sampled {
        let words = format!(" {}", phrases::by_samples(place));
        finding.words.evidence.push_str(&words);
    }
}

/// Returns the findings in a run: at most [`FINDINGS_MAX`], the costliest first.
///
/// Of each kind there is only the costliest: a region and the regions around it often show one and
/// the same effect, so one finding represents them all.
///
/// # Cost
/// Linear in callpaths, or callpaths x ranks where these are known, plus sorting each region's
/// ranks.
pub(crate) fn findings(run: &Run<'_>) -> Vec<Finding> {
    let mut found: Vec<(&dyn Rule, Finding)> = Vec::new();
    for rule in RULES {
        for finding in rule.find(run) {
            debug_assert_eq!(finding.kind, rule.kind(), "a rule has one kind of findings");
            let explained = found.iter_mut().find(|(cause, known)| cause.explains(known, &finding));
            match explained {
                Some((_, cause)) => cause.explains.push(finding.kind),
                None => found.push((rule, finding)),
            }
        }
    }
    let mut found: Vec<Finding> = found.into_iter().map(|(_, finding)| finding).collect();
    // Without a processor everything takes longer, so that comes before what it explains.
    let is_first = |finding: &Finding| finding.kind == FindingKind::Crowded;
    found.sort_by(|a, b| is_first(b).cmp(&is_first(a)).then(b.lost_ns.total_cmp(&a.lost_ns)));
    let mut kinds = Vec::new();
    found.retain(|finding| {
        let is_new = !kinds.contains(&finding.kind);
        kinds.push(finding.kind);
        is_new
    });
    found.truncate(FINDINGS_MAX);
    found.iter_mut().for_each(|finding| add_samples(run, finding));
    found
}
