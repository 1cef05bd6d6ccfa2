//! The facts of waits: ranks that wait in one callpath for others in another one.

use tinyprof_format::model::CallpathIndex;
use tinyprof_vocabulary::{Pattern, RankSet};

use super::super::hint::HintScope;
use super::super::phrases::{lower, name, named};
use super::super::run::{ByRank, Run};
use super::super::values::Values;
use super::Subject;
use crate::facts::numbers::{float, ratio};
use crate::facts::totals::waits::Waiting;

pub(super) fn subjects<'a>(run: &'a Run<'_>) -> impl Iterator<Item = Subject> + 'a {
    let of = run.ranks.iter();
    of.flat_map(move |of| of.waits.iter().map(move |entry| subject(run, of, entry)))
}

fn subject(run: &Run<'_>, of: &ByRank<'_>, entry: &Waiting) -> Subject {
    let mut values = Values::default();
    values.text("pattern", entry.pattern.words());
    values.text("call", call(run, entry.callpath));
    values.text("for_call", call(run, entry.for_callpath));
    values.number("ranks_count", float(entry.ranks.len()));
    values.number("for_count", float(entry.for_ranks.len()));
    values.text("ranks", lower(&entry.ranks));
    values.text("ranks_first", named(&entry.ranks));
    values.text("for_ranks", lower(&entry.for_ranks));
    values.text("for_ranks_first", named(&entry.for_ranks));
    values.number("seconds", run.a_rank_ns(entry.waiting_ns) * 1e-9);
    values.number("all_seconds", ratio(entry.waiting_ns, 1) * 1e-9);
    values.number("share", run.part(entry.waiting_ns));
    values.number("transfer_all_seconds", ratio(entry.transfer_ns, 1) * 1e-9);
    values.number("transfer_share", run.part(entry.transfer_ns));
    values.number("order_seconds", run.a_rank_ns(entry.wrong_order_ns) * 1e-9);
    values.number("order_all_seconds", ratio(entry.wrong_order_ns, 1) * 1e-9);
    values.number("order_share", run.part(entry.wrong_order_ns));
    values.text("order_ranks_first", named(&entry.wrong_order_ranks));
    let next = of.after_barriers.iter().find(|(barrier, _)| Some(*barrier) == entry.callpath);
    values.text("next_call", next.map_or_else(String::new, |(_, next)| name(run, *next)));
    Subject {
        place: entry.callpath,
        ranks: causes(entry),
        waiting_ranks: entry.ranks.clone(),
        wrong_order_ranks: entry.wrong_order_ranks.clone(),
        ..Subject::new(HintScope::Wait, values)
    }
}

/// Returns the ranks that are the cause: a root that waits for all others is one itself.
fn causes(entry: &Waiting) -> RankSet {
    match entry.pattern {
        Pattern::EarlyReduce => entry.ranks.clone(),
        _ => entry.for_ranks.clone(),
    }
}

fn call(run: &Run<'_>, callpath: Option<CallpathIndex>) -> String {
    callpath.map_or_else(|| "an unknown call".to_owned(), |at| name(run, at))
}
