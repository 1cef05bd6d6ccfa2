//! Waiting for ranks of other hosts that could not tell what they did: sums over the run tell why,
//! as far as they can.

use super::Blame;
use super::backtrack::of_some;
use super::lookups::Left;
use crate::facts::activities::Activities;
use crate::facts::waits::{Wait, Waits};

/// Waiting of a rank in a call for another one, of which it knows no activity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unread {
    pub(super) rank: u32,
    pub(super) at: tinyprof_format::model::CallpathIndex,
    pub(super) of: u32,
    pub(super) ns: u64,
}

/// Adds the causes of this waiting, and of that of senders whose receivers were late on other
/// hosts, as far as nothing else explains it.
pub(super) fn add(
    blame: &mut Blame,
    left: &mut Left,
    unread: &[Unread],
    activities: &Activities,
    waits: &Waits,
) {
    let heard = waits.all.iter().filter(|wait| wait.is_heard);
    let heard = heard.filter_map(|wait| {
        let (rank, of, ns) = (wait.rank, wait.for_rank, wait.ns);
        Some(Unread { rank, at: wait.at?, of, ns })
    });
    let mut some = Vec::new();
    for Unread { rank, at, of, ns } in unread.iter().copied().chain(heard) {
        let Some((left_ns, pattern)) = left.of(rank, at) else { continue };
        let part_ns = crate::ns(ns.into()).min(*left_ns);
        *left_ns -= part_ns;
        let whole = tinyprof_report::cells::whole(part_ns);
        let ns = u64::try_from(whole).unwrap_or(u64::MAX);
        let (at, from, count, is_heard) = (Some(at), None, 1, false);
        some.push(Wait { rank, at, for_rank: of, from, pattern, ns, count, is_heard });
    }
    if some.is_empty() {
        return;
    }
    let found = of_some(activities, waits, &some);
    for (cause, blamed) in found.causes {
        *blame.estimated.entry(cause).or_default() += blamed.ns();
        blame.causes.entry(cause).or_default().absorb(&blamed);
    }
    blame.unexplained.absorb(&found.unexplained);
    blame.estimated_ns = some.iter().map(|wait| crate::ns(wait.ns.into())).sum();
}
