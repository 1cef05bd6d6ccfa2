//! Ranks that wait for messages that are sent late.

use super::finding::{Finding, FindingKind, Words};
use super::phrases::{named, where_and_how_long};
use super::root_bottleneck::is_bottleneck;
use super::rule::Rule;
use super::run::Run;
use super::waiting::{long, of_waiting};
use tinyprof_vocabulary::Pattern;

pub(crate) struct LateSenderRule;

impl Rule for LateSenderRule {
    fn kind(&self) -> FindingKind {
        FindingKind::LateSender
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        let late = long(run)
            .find(|entry| entry.pattern == Pattern::LateSender && !is_bottleneck(run, entry));
        let finding = late.map(|entry| {
            let words = Words {
                headline: format!("{} waited for late senders", named(&entry.ranks)),
                evidence: format!("{}.", where_and_how_long(run, entry)),
                advice: "Send earlier, give the senders less to do before, or compute while the message travels: \
                         MPI_Irecv first, MPI_Wait where the data is needed. `tinyprof waits` has all."
                    .to_owned(),
            };
            of_waiting(run, self.kind(), entry, words)
        });
        finding.into_iter().collect()
    }
}
