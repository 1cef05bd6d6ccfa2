//! The causes of waiting that a rank has recorded, as a profile stores them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tinyprof_format::model::{
    Activities, Activity, CallpathId, Cause, CauseFacts, DelayCost, EdgeKey, EdgeKind, EventMap,
    PathPart, RankCauses, Waited,
};
use tinyprof_messages::delay::{self, Block, Kept, Sizes};

/// Returns the causes that are in these words, of the rank of this event map; `None` if there are
/// none, or if they kept changing. Allocates.
///
/// # Panics
/// If there are fewer words than a recorder writes: [`Block::words`] of [`Sizes::RECORDER`].
#[must_use]
pub fn recorded_causes(words: &[AtomicU64], map: &EventMap) -> Option<RankCauses> {
    let (_, found) = Block::new(words, Sizes::RECORDER).read()?;
    Some(of_rank(&found, map))
}

/// Returns the causes of the rank of this event map as they are in the words that its segment has
/// kept; `None` if there are none. Any words may be passed. Allocates.
#[must_use]
pub fn kept_causes(words: &[u64], map: &EventMap) -> Option<RankCauses> {
    let words: Vec<AtomicU64> = words.iter().copied().map(AtomicU64::new).collect();
    let (_, found) = Kept::new(&words, Sizes::RECORDER)?.read()?;
    Some(of_rank(&found, map))
}

fn of_rank(found: &delay::RankCauses, map: &EventMap) -> RankCauses {
    let delay::DelayCosts { entries, other_direct, other_propagated } = &found.costs;
    let waited = |cost: delay::Cost| Waited { ns: cost.ns, count: cost.count };
    let costs = entries.iter().map(|entry| DelayCost {
        callpath: CallpathId::from_bits(entry.callpath),
        cause: cause(entry.cause),
        direct: waited(entry.direct),
        propagated: waited(entry.propagated),
    });
    let path = found.path.iter().map(|part| PathPart { cause: cause(part.cause), ns: part.ns });
    let facts = CauseFacts {
        ended_ns: found.path.iter().fold(0, |sum, part| sum.saturating_add(part.ns)),
        other_direct_ns: other_direct.ns,
        other_direct_count: other_direct.count,
        other_propagated_ns: other_propagated.ns,
        other_propagated_count: other_propagated.count,
        unread: found.losses.unread,
        late: found.losses.late,
        forgotten: found.losses.forgotten,
        short_ns: found.losses.short_ns,
        unfollowed_ns: found.losses.unfollowed_ns,
    };
    let activities = Arc::new(activities(map));
    RankCauses { activities, costs: costs.collect(), path: path.collect(), facts }
}

fn cause(found: delay::Cause) -> Cause {
    match (found, found.rank()) {
        (_, Some(rank)) => Cause::Activity { rank, number: found.activity().number() },
        (delay::Cause::UNEXPLAINED, None) => Cause::Unexplained,
        (_, None) => Cause::Other,
    }
}

/// Returns the activities of a rank: its calls, and the gaps between them.
fn activities(map: &EventMap) -> Activities {
    let mut all = Activities::new();
    let mut add = |activity: Activity| {
        all.insert(activity.number(), activity);
    };
    for (callpath, values) in map.callpaths.rows().iter().zip(&map.values) {
        let to = callpath.id;
        for key in values.edges.keys().filter(|key| key.kind == EdgeKind::Flow) {
            add(Activity::Gap { from: key.from, to });
        }
        if !values.edges.is_empty() {
            add(Activity::Call(to));
            add(Activity::Gap { from: to, to: EdgeKey::UNKNOWN });
        }
    }
    add(Activity::Gap { from: EdgeKey::UNKNOWN, to: EdgeKey::UNKNOWN });
    all
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{CallpathValues, Edge, RankFacts, Region, SiteId};

    use super::*;

    /// Returns the words that a rank with this block keeps.
    fn kept_words(block: &[AtomicU64]) -> Vec<u64> {
        let words: Vec<AtomicU64> =
            (0..Kept::words(&Sizes::RECORDER)).map(|_| AtomicU64::new(0)).collect();
        let kept = Kept::new(&words, Sizes::RECORDER).expect("there are enough words");
        Block::new(block, Sizes::RECORDER).keep(&kept);
        words.into_iter().map(AtomicU64::into_inner).collect()
    }

    #[test]
    fn what_a_rank_has_recorded_names_its_calls_and_gaps() {
        let site = SiteId::from_bits(5);
        let call = CallpathId::root(site);
        let flow = EdgeKey { kind: EdgeKind::Flow, partner: 0, from: call };
        let edges = [(flow, Edge::of_one_instance(7))].into();
        let values = CallpathValues { edges, ..CallpathValues::default() };
        let record = (call, None, Region::named(site, "MPI_Recv"), values);
        let map = EventMap::from_records([record], RankFacts::default());
        let count = Block::words(&Sizes::RECORDER);
        let words: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
        assert_eq!(recorded_causes(&words, &map), None, "nobody has begun");
        let (mut ledger, _) = Block::new(&words, Sizes::RECORDER).begin(2);
        let gap = Activity::Gap { from: call, to: call };
        ledger.add(delay::Activity::from_number(gap.number()), 90, 90);
        let found = recorded_causes(&words, &map).expect("there are some");
        assert_eq!(found.facts.ended_ns, 90);
        assert_eq!(kept_causes(&kept_words(&words), &map).as_ref(), Some(&found));
        assert_eq!(kept_causes(&[0; 9], &map), None, "too few words");
        let [part] = found.path[..] else { panic!("{found:?}") };
        assert_eq!((part.cause.rank(), found.activity(part.cause)), (Some(2), Some(gap)));
    }
}
