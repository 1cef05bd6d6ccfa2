//! A barrier before an operation in which all ranks wait for each other.

use tinyprof_format::model::CallpathIndex;
use tinyprof_vocabulary::Pattern;

use super::finding::{Finding, FindingKind, Words};
use super::phrases::name;
use super::rule::Rule;
use super::run::Run;
use super::waiting::{WAITING_PART, all, of_waiting};
use crate::words::units::time;

pub(crate) struct BarrierFirstRule;

impl Rule for BarrierFirstRule {
    fn kind(&self) -> FindingKind {
        FindingKind::BarrierFirst
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        let Some(of) = &run.ranks else { return Vec::new() };
        let found = of.after_barriers.iter().find_map(|(first, next)| barrier(run, *first, *next));
        found.into_iter().collect()
    }
}

fn barrier(run: &Run<'_>, barrier: CallpathIndex, next: CallpathIndex) -> Option<Finding> {
    let entry = all(run)
        .find(|entry| entry.pattern == Pattern::WaitAtBarrier && entry.callpath == Some(barrier))?;
    let both_ns = entry.waiting_ns.saturating_add(entry.transfer_ns);
    if run.part(both_ns) < WAITING_PART {
        return None;
    }
    let (first, second) = (name(run, barrier), name(run, next));
    let words = Words {
        headline: format!("{first} is right before {second}, which waits for all ranks itself"),
        evidence: format!(
            "In the barrier ranks wait {}, and take {} more for the barrier alone.",
            time(entry.waiting_ns),
            time(entry.transfer_ns)
        ),
        advice: format!("Leave the barrier out, unless it separates the measurement of {second}."),
    };
    Some(of_waiting(run, FindingKind::BarrierFirst, entry, words))
}
