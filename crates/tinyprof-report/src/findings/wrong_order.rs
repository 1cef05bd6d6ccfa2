//! Ranks that wait for messages in another order than that in which they are sent.

use super::finding::{Finding, FindingKind, Words};
use super::phrases::{named, where_and_how_long};
use super::rule::Rule;
use super::run::Run;
use super::waiting::{WAITING_PART, all, of_waiting};
use crate::words::units::time;

pub(crate) struct WrongOrderRule;

impl Rule for WrongOrderRule {
    fn kind(&self) -> FindingKind {
        FindingKind::WrongOrder
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        let in_order = all(run).filter(|entry| run.part(entry.wrong_order_ns) >= WAITING_PART);
        let finding = in_order.max_by_key(|entry| entry.wrong_order_ns).map(|entry| {
            let words = Words {
                headline: format!(
                    "{} received in the wrong order",
                    named(&entry.wrong_order_ranks)
                ),
                evidence: format!(
                    "{}; during {} of that, messages that were sent earlier could have been received.",
                    where_and_how_long(run, entry),
                    time(entry.wrong_order_ns),
                ),
                advice: "Receive them as they come: with MPI_Waitany, or from MPI_ANY_SOURCE."
                    .to_owned(),
            };
            Finding {
                lost_ns: run.a_rank_ns(entry.wrong_order_ns),
                ranks: entry.wrong_order_ranks.clone(),
                ..of_waiting(run, self.kind(), entry, words)
            }
        });
        finding.into_iter().collect()
    }
}
