//! The choice of the findings that are reported.

use std::iter;

use super::finding::{Finding, FindingKind, Words};
use super::hint::{Hint, HintScope};
use super::phrases::by_samples;
use super::run::Run;
use super::subjects::{self, Subject};
use super::table::HINTS;
use super::values::Values;
use crate::facts::sampled_place::SampledPlace;

/// The maximum number of findings. Further ones are rarely worth a look before these are fixed.
pub const FINDINGS_MAX: usize = 3;

/// The kinds of findings about what ranks compute.
const OF_COMPUTATION: [FindingKind; 5] = [
    FindingKind::Straggler,
    FindingKind::Imbalance,
    FindingKind::LoadBalance,
    FindingKind::Growth,
    FindingKind::SlowFirst,
];

/// The part of an uneven distribution of work that a single rank or region must explain to be
/// reported in place of it.
const EXPLAINED_PART: f64 = 0.5;

/// Returns the findings in a run: at most [`FINDINGS_MAX`], the costliest first.
///
/// Of each kind there is only the costliest: a region and the regions around it often show one and
/// the same effect, so one finding represents them all.
///
/// # Cost
/// Linear in callpaths, or callpaths x ranks where these are known, plus sorting each region's
/// ranks.
pub(crate) fn findings(run: &Run<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for of_hint in by_hint(run) {
        for finding in of_hint {
            match found.iter_mut().find(|known| explains(known, &finding)) {
                Some(cause) => cause.explains.push(finding.kind),
                None => found.push(finding),
            }
        }
    }
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
        let words = format!(" {}", by_samples(place));
        finding.words.evidence.push_str(&words);
    }
}

/// Returns what each rule finds; of ranks, only the slowest.
fn by_hint(run: &Run<'_>) -> Vec<Vec<Finding>> {
    let whole = subjects::whole(run);
    let facts = whole.values.clone();
    let mut found: Vec<Vec<Finding>> = vec![Vec::new(); HINTS.len()];
    for subject in iter::once(whole).chain(subjects::others(run)) {
        let of_scope = HINTS.iter().zip(&mut found).filter(|(hint, _)| hint.scope == subject.scope);
        for (hint, found) in of_scope.filter(|(hint, _)| hint.holds(&facts, &subject.values)) {
            let seconds = hint.gain(&facts, &subject.values);
            found.extend(seconds.map(|seconds| finding(hint, seconds, &facts, &subject)));
        }
    }
    for (_, found) in HINTS.iter().zip(&mut found).filter(|(hint, _)| hint.scope == HintScope::Rank)
    {
        found.sort_by(|a, b| b.lost_ns.total_cmp(&a.lost_ns));
        found.truncate(1);
    }
    found
}

fn finding(hint: &Hint, seconds: f64, run: &Values, subject: &Subject) -> Finding {
    let values = &subject.values;
    let words = Words {
        headline: (hint.headline)(run, values),
        evidence: (hint.evidence)(run, values),
        advice: (hint.advice)(run, values),
    };
    Finding {
        kind: hint.kind,
        lost_ns: seconds * 1e9,
        certainty: hint.certainty,
        place: subject.place_of(hint.kind),
        ranks: subject.ranks_of(hint.kind),
        waiting_ranks: subject.waiting_ranks.clone(),
        iteration: subject.iteration_of(hint.kind),
        explains: Vec::new(),
        sampled: None,
        words,
    }
}

/// Returns whether a finding is the cause of a later one, which is then left out.
fn explains(own: &Finding, other: &Finding) -> bool {
    let is_of_work = matches!(own.kind, FindingKind::Straggler | FindingKind::Imbalance);
    match other.kind {
        // The effect of a slow rank on each region is reported once.
        FindingKind::Imbalance => own.kind == FindingKind::Straggler && own.ranks == other.ranks,
        FindingKind::LoadBalance => is_of_work && own.lost_ns >= EXPLAINED_PART * other.lost_ns,
        _ => false,
    }
}
