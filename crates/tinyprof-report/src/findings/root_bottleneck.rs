//! A rank for which many others wait, or a root that waits for all.

use tinyprof_vocabulary::Pattern;

use super::finding::{Finding, FindingKind, Words};
use super::phrases::{named, ranks, where_and_how_long};
use super::rule::Rule;
use super::run::Run;
use super::waiting::{long, of_waiting};
use crate::facts::totals::waits::Waiting;

pub(crate) struct RootBottleneckRule;

impl Rule for RootBottleneckRule {
    fn kind(&self) -> FindingKind {
        FindingKind::RootBottleneck
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        let is_root = |entry: &Waiting| match entry.pattern {
            Pattern::LateBroadcast | Pattern::EarlyReduce => true,
            Pattern::LateSender => is_bottleneck(run, entry),
            _ => false,
        };
        let finding = long(run).find(|entry| is_root(entry)).map(|entry| root(run, entry));
        finding.into_iter().collect()
    }
}

/// Returns whether at least half of the other ranks wait for a single one.
pub(crate) fn is_bottleneck(run: &Run<'_>, entry: &Waiting) -> bool {
    let others = u64::from(run.count().saturating_sub(1));
    entry.for_ranks.len() == 1 && entry.ranks.len() >= 2.max(others.div_ceil(2))
}

fn root(run: &Run<'_>, entry: &Waiting) -> Finding {
    let is_early = entry.pattern == Pattern::EarlyReduce;
    let of_root = if is_early { &entry.ranks } else { &entry.for_ranks };
    let root = ranks(of_root);
    let (headline, advice) = if is_early {
        (
            format!("Rank {root} waited for all others as their root"),
            "Collect the data later or less often, or let the root do something useful meanwhile: \
             MPI_Ireduce, MPI_Igather.",
        )
    } else {
        let who = named(&entry.ranks).to_lowercase();
        (
            format!("Rank {root} is a bottleneck: {who} waited for it"),
            "Give the root less to do before it sends, or divide its work among the ranks.",
        )
    };
    let evidence = format!("{}.", where_and_how_long(run, entry));
    let words = Words { headline, evidence, advice: advice.to_owned() };
    let found = of_waiting(run, FindingKind::RootBottleneck, entry, words);
    Finding { ranks: of_root.clone(), ..found }
}
