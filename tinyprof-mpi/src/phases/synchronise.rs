//! Phase 1: every rank gets the same dictionary of callpaths (paper, section V-A).
//!
//! One fixed-size Allreduce tells whether all ranks hold the same set already. That is the usual case, and then
//! no name is sent. Otherwise the tables are united up a tree and the union is broadcast: an Allgather, as in
//! the paper, would cost memory for all ranks' names on every rank.

use tinyprof_format::file::{EncodedRank, decode_callpaths, encode_callpaths};
use tinyprof_format::model::{CallpathTable, EventMap};

use super::tree;
use crate::communicator::Communicator;

/// What all ranks know after phase 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Agreed {
    /// Every callpath that any rank visited.
    pub(super) dictionary: CallpathTable,
    /// The longest summary message.
    pub(super) summary_bytes: usize,
    /// The longest message with series and metrics.
    pub(super) series_bytes: usize,
    /// The number of aggregators, at least 1 and at most the number of ranks.
    pub(super) aggregators: u32,
}

/// Agrees on the dictionary and on the sizes of messages. Collective.
pub(super) async fn agree(
    communicator: &impl Communicator,
    map: &EventMap,
    own: &EncodedRank,
    aggregators: Option<u32>,
) -> Agreed {
    let fingerprint = map.callpaths.fingerprint();
    let halves = [high(fingerprint), low(fingerprint)];
    let wanted = if communicator.rank() == 0 { aggregators.unwrap_or(0) } else { 0 };
    let reduced = communicator
        .all_max(&[
            halves[0],
            halves[1],
            // The complement's maximum is the minimum's complement: one operation finds both ends.
            !halves[0],
            !halves[1],
            own.summary_length() as u64,
            own.series_length() as u64,
            u64::from(wanted),
        ])
        .await;
    let agreed = reduced[0] == !reduced[2] && reduced[1] == !reduced[3];
    let dictionary = if agreed { map.callpaths.clone() } else { unite(communicator, &map.callpaths).await };
    let size = communicator.size();
    let wanted = u32::try_from(reduced[6]).unwrap_or(u32::MAX);
    let fits =
        |bytes: u64| usize::try_from(bytes).expect("the rank that has this message holds it in memory");
    Agreed {
        dictionary,
        summary_bytes: fits(reduced[4]),
        series_bytes: fits(reduced[5]),
        aggregators: if wanted == 0 { size.div_ceil(16) } else { wanted.min(size) },
    }
}

async fn unite(communicator: &impl Communicator, own: &CallpathTable) -> CallpathTable {
    let everyone = |position| position;
    let union =
        tree::reduce(communicator, communicator.size(), communicator.rank(), everyone, own.clone(), &Union)
            .await;
    let bytes = communicator.broadcast(union.as_ref().map(encode_callpaths).unwrap_or_default()).await;
    // Rank 0 has just encoded them, so they decode; its own table serves where they do not.
    union.unwrap_or_else(|| decode_callpaths(&bytes).unwrap_or_default())
}

struct Union;

impl tree::Reduction for Union {
    type Value = CallpathTable;

    fn encode(&self, value: &CallpathTable) -> Vec<u8> {
        encode_callpaths(value)
    }

    fn absorb(&self, value: &mut CallpathTable, later: &[u8]) {
        if let Ok(theirs) = decode_callpaths(later) {
            *value = value.union(&theirs);
        }
    }
}

const fn high(wide: u128) -> u64 {
    (wide >> 64) as u64
}

#[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
const fn low(wide: u128) -> u64 {
    wide as u64
}
