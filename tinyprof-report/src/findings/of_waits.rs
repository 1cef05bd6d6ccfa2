//! Hints on waiting: late senders, order, roots, and barriers that wait twice.

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;

use crate::facts::numbers::ratio;
use crate::facts::totals::waits::Waiting;
use crate::words::names::cut;
use crate::words::units::{percent_cell, time};

use super::of_ranks::Ranks;
use super::{Hint, HintKind, WAITING_PART};

/// The maximum width of a set of ranks in a sentence, in columns.
const RANKS_COLUMNS: usize = 24;

impl Ranks<'_> {
    /// Returns the hints on waiting. `entries` are sorted, the longest first; `after_barriers` are
    /// barriers, each with an operation right behind it in which all ranks wait for each other.
    pub(super) fn of_waits(
        &self,
        entries: &[Waiting],
        after_barriers: &[(CallpathIndex, CallpathIndex)],
    ) -> Vec<Hint> {
        let is_long = |entry: &&Waiting| self.part(entry.waiting_ns) >= WAITING_PART;
        let long = || entries.iter().filter(is_long);
        let sent = long().filter(|entry| entry.pattern == Pattern::LateSender);
        let (bottlenecks, late): (Vec<&Waiting>, Vec<&Waiting>) =
            sent.partition(|entry| self.is_bottleneck(entry));
        let root = long().find(|entry| {
            matches!(entry.pattern, Pattern::LateBroadcast | Pattern::EarlyReduce)
                || bottlenecks.first().is_some_and(|first| first == entry)
        });
        let mut found = Vec::new();
        found.extend(late.first().map(|entry| self.late_sender(entry)));
        let in_order = |entry: &&Waiting| self.part(entry.wrong_order_ns) >= WAITING_PART;
        let wrong = entries.iter().filter(in_order).max_by_key(|entry| entry.wrong_order_ns);
        found.extend(wrong.map(|entry| self.wrong_order(entry)));
        found.extend(root.map(|entry| self.root(entry)));
        found.extend(after_barriers.iter().find_map(|(barrier, next)| {
            let entry = entries.iter().find(|entry| {
                entry.pattern == Pattern::WaitAtBarrier && entry.callpath == Some(*barrier)
            })?;
            let both_ns = entry.waiting_ns.saturating_add(entry.transfer_ns);
            (self.part(both_ns) >= WAITING_PART).then(|| self.barrier(entry, *barrier, *next))
        }));
        found
    }

    /// Returns a time as a part of that of all ranks.
    fn part(&self, ns: u128) -> f64 {
        let total_ns = self.total_ns();
        if total_ns > 0.0 { ratio(ns, 1) / total_ns } else { 0.0 }
    }

    /// Returns whether at least half of the other ranks wait for a single one.
    fn is_bottleneck(&self, entry: &Waiting) -> bool {
        let others = u64::from(self.count().saturating_sub(1));
        entry.for_ranks.len() == 1 && entry.ranks.len() >= 2.max(others.div_ceil(2))
    }

    fn late_sender(&self, entry: &Waiting) -> Hint {
        Hint {
            headline: format!("{} waited for late senders", ranks(entry)),
            advice: "Send earlier, give the senders less to do before, or compute while the message travels: \
                     MPI_Irecv first, MPI_Wait where the data is needed. `tinyprof waits` has all."
                .to_owned(),
            ..self.waiting(HintKind::LateSender, entry)
        }
    }

    fn wrong_order(&self, entry: &Waiting) -> Hint {
        Hint {
            headline: format!("{} received in the wrong order", named(&entry.wrong_order_ranks)),
            evidence: format!(
                "{}; during {} of that, messages that were sent earlier could have been received.",
                self.where_and_how_long(entry),
                time(entry.wrong_order_ns),
            ),
            lost_ns: ratio(entry.wrong_order_ns, self.count().max(1).into()),
            advice: "Receive them as they come: with MPI_Waitany, or from MPI_ANY_SOURCE."
                .to_owned(),
            ..self.waiting(HintKind::WrongOrder, entry)
        }
    }

    fn root(&self, entry: &Waiting) -> Hint {
        let is_early = entry.pattern == Pattern::EarlyReduce;
        let root = if is_early { &entry.ranks } else { &entry.for_ranks };
        let root = cut(&root.to_string(), RANKS_COLUMNS);
        let headline = if is_early {
            format!("Rank {root} waited for all others as their root")
        } else {
            format!("Rank {root} is a bottleneck: {} waited for it", ranks(entry).to_lowercase())
        };
        let advice = if is_early {
            "Collect the data later or less often, or let the root do something useful meanwhile: \
             MPI_Ireduce, MPI_Igather."
        } else {
            "Give the root less to do before it sends, or divide its work among the ranks."
        };
        let rank = if is_early { entry.ranks.first() } else { entry.for_ranks.first() };
        Hint {
            rank,
            headline,
            advice: advice.to_owned(),
            ..self.waiting(HintKind::RootBottleneck, entry)
        }
    }

    fn barrier(&self, entry: &Waiting, barrier: CallpathIndex, next: CallpathIndex) -> Hint {
        let (first, second) = (self.name(barrier), self.name(next));
        Hint {
            headline: format!("{first} is right before {second}, which waits for all ranks itself"),
            evidence: format!(
                "In the barrier ranks wait {}, and take {} more for the barrier alone.",
                time(entry.waiting_ns),
                time(entry.transfer_ns)
            ),
            advice: format!(
                "Leave the barrier out, unless it separates the measurement of {second}."
            ),
            ..self.waiting(HintKind::BarrierFirst, entry)
        }
    }

    /// Returns a hint without a headline and advice.
    fn waiting(&self, kind: HintKind, entry: &Waiting) -> Hint {
        Hint {
            kind,
            callpath: entry.callpath,
            rank: None,
            iteration: None,
            lost_ns: ratio(entry.waiting_ns, self.count().max(1).into()),
            headline: String::new(),
            evidence: format!("{}.", self.where_and_how_long(entry)),
            advice: String::new(),
        }
    }

    fn where_and_how_long(&self, entry: &Waiting) -> String {
        let name = |callpath: Option<CallpathIndex>| {
            callpath.map_or_else(|| "an unknown call".to_owned(), |at| self.name(at))
        };
        let whom = cut(&entry.for_ranks.to_string(), RANKS_COLUMNS);
        let noun = if entry.for_ranks.len() == 1 { "rank" } else { "ranks" };
        format!(
            "In {} they wait {}, {} of the time of all ranks, for {noun} {whom} in {}",
            name(entry.callpath),
            time(entry.waiting_ns),
            percent_cell(self.part(entry.waiting_ns)),
            name(entry.for_callpath),
        )
    }
}

/// Returns the ranks that wait, for the beginning of a sentence.
fn ranks(entry: &Waiting) -> String {
    named(&entry.ranks)
}

fn named(ranks: &RankSet) -> String {
    let noun = if ranks.len() == 1 { "Rank" } else { "Ranks" };
    format!("{noun} {}", cut(&ranks.to_string(), RANKS_COLUMNS))
}
