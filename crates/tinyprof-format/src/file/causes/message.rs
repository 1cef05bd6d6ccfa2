//! The causes of a rank on their way to an aggregator: numbers of 8 bytes.

use std::sync::Arc;

use super::{activity, cause, stored, stored_cause};
use crate::bytes::{Cursor, Malformed, Sink};
use crate::model::{Activities, CallpathId, CauseFacts, DelayCost, PathPart, RankCauses, Waited};

/// The numbers of an activity, of a cost and of a part of the path.
const ACTIVITY: usize = 4;
const COST: usize = 7;
const PART: usize = 3;

/// Returns the length of the message, in bytes.
pub(in crate::file) fn length(causes: &RankCauses) -> usize {
    let RankCauses { activities, costs, path, .. } = causes;
    let lists = activities.len() * ACTIVITY + costs.len() * COST + path.len() * PART;
    8 * (3 + lists + CauseFacts::COUNT)
}

/// Appends the message.
pub(in crate::file) fn write_message(sink: &mut Sink, causes: &RankCauses) {
    let mut words = |words: &[u64]| words.iter().for_each(|word| sink.u64(*word));
    let lengths = [causes.activities.len(), causes.costs.len(), causes.path.len()];
    words(&lengths.map(|length| length as u64));
    words(&causes.facts.named().map(|(_, number)| number));
    for (number, activity) in &*causes.activities {
        let (kind, from, to) = stored(*activity);
        words(&[*number, kind, from.to_bits(), to.to_bits()]);
    }
    for cost in &causes.costs {
        let (rank, number) = stored_cause(cost.cause);
        words(&[cost.callpath.to_bits(), rank, number]);
        words(&[cost.direct.ns, cost.direct.count, cost.propagated.ns, cost.propagated.count]);
    }
    for part in &causes.path {
        let (rank, number) = stored_cause(part.cause);
        words(&[rank, number, part.ns]);
    }
}

/// Reads a message of [`write_message`].
pub(in crate::file) fn read_message(cursor: &mut Cursor<'_>) -> Result<RankCauses, Malformed> {
    let start = cursor.clone();
    let [activities, costs, parts] = words(cursor)?;
    let facts = CauseFacts::from_numbers(words(cursor)?);
    let bad = || start.malformed("a cause or an activity is none");
    let mut known = Activities::new();
    for _ in 0..activities {
        let [number, kind, from, to] = words(cursor)?;
        let [from, to] = [from, to].map(CallpathId::from_bits);
        known.insert(number, activity((kind, from, to)).ok_or_else(bad)?);
    }
    let cost = |_| {
        let [callpath, rank, number, ns, count, more_ns, more] = words(cursor)?;
        Ok(DelayCost {
            callpath: CallpathId::from_bits(callpath),
            cause: cause(rank, number).ok_or_else(bad)?,
            direct: Waited { ns, count },
            propagated: Waited { ns: more_ns, count: more },
        })
    };
    let costs = (0..costs).map(cost).collect::<Result<_, Malformed>>()?;
    let part = |_| {
        let [rank, number, ns] = words(cursor)?;
        Ok(PathPart { cause: cause(rank, number).ok_or_else(bad)?, ns })
    };
    let path = (0..parts).map(part).collect::<Result<_, Malformed>>()?;
    Ok(RankCauses { activities: Arc::new(known), costs, path, facts })
}

fn words<const N: usize>(cursor: &mut Cursor<'_>) -> Result<[u64; N], Malformed> {
    let mut words = [0; N];
    for word in &mut words {
        *word = cursor.u64("the causes of a rank")?;
    }
    Ok(words)
}
