//! A rank that serves all others, and does not keep up, or has nothing to do.

use super::evidence::waiting_ranks;
use super::groups::Group;
use crate::facts::run::Run;
use crate::finding::Kind;
use tinyprof_messages::waiting::Pattern;

/// Returns the kind of a group of causes around a master, if there is one.
pub(super) fn kind(run: &Run, group: &Group) -> Option<Kind> {
    let (at, _) = group.blamed.longest()?;
    if at.pattern != Pattern::LateSender || run.used() < 3 {
        return None;
    }
    let waiting = waiting_ranks(group);
    let others = run.used().saturating_sub(1) as u64;
    let is_of_all = |count: u64| count >= 2 && 2 * count >= others;
    if group.ranks.len() == 1 && is_of_all(waiting.len()) {
        let master = group.ranks.first()?;
        return takes_any(run, master, &waiting).then_some(Kind::MasterSaturated);
    }
    if waiting.len() == 1 && is_of_all(group.ranks.len()) {
        let callpath = at.callpath?;
        return run.calls.get(&callpath)?.takes_any.then_some(Kind::MasterStarving);
    }
    None
}

/// Returns whether a rank also waits for the messages of most of those that wait for it: it answers
/// them.
fn takes_any(run: &Run, master: u32, waiting: &tinyprof_messages::graph::RankSet) -> bool {
    let answers = run.waits.all.iter().filter(|wait| wait.rank == master);
    let partners: tinyprof_messages::graph::RankSet =
        answers.map(|wait| wait.for_rank).filter(|rank| waiting.contains(*rank)).collect();
    let any = run.calls.values().any(|call| call.takes_any);
    any && 2 * partners.len() >= waiting.len()
}
