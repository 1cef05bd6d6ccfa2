//! Phase 2: the ranks of a group send what they hold to the first of them (paper, section V-B).
//!
//! Summaries are padded to the longest of the run, which makes one uniform `MPI_Gather` of what would otherwise
//! need lengths first. Series and metrics differ more, and are gathered with the lengths that the summaries have told.

use tinyprof_format::file::EncodedRank;

use super::synchronise::Agreed;
use crate::communicator::Communicator;

/// Bytes before the summary in a rank's message: the lengths of summary and series message.
const HEAD_BYTES: usize = 16;

/// A group of consecutive ranks, of which the first is the aggregator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The number of this group, 0-based.
    pub(super) number: u32,
    /// The number of groups.
    pub(super) groups: u32,
    /// The aggregator.
    pub(super) first_rank: u32,
    size: u32,
}

impl Group {
    /// The group of `rank` when `size` ranks are parted evenly, sizes differing by at most one.
    pub(super) fn of(rank: u32, size: u32, groups: u32) -> Self {
        let number = (u64::from(rank) * u64::from(groups) + u64::from(groups) - 1) / u64::from(size);
        let number = u32::try_from(number).expect("there are no more groups than ranks");
        let number = if Self::first_rank_of(number, size, groups) > rank { number - 1 } else { number };
        Self { number, groups, first_rank: Self::first_rank_of(number, size, groups), size }
    }

    fn first_rank_of(number: u32, size: u32, groups: u32) -> u32 {
        let first = u64::from(number) * u64::from(size) / u64::from(groups);
        u32::try_from(first).expect("a first rank is below the number of ranks")
    }

    /// The aggregator of group `number` of the same parting.
    pub(super) fn aggregator(&self, number: u32) -> u32 {
        Self::first_rank_of(number, self.size, self.groups)
    }
}

/// What the ranks of the caller's group hold, at the aggregator; nothing at the others. Collective.
///
/// A message that cannot be read is an error in its place: the aggregator goes on.
pub(super) async fn collect(
    communicator: &impl Communicator,
    group: &Group,
    own: &EncodedRank,
    agreed: &Agreed,
    chunk_bytes: usize,
) -> Option<Vec<Result<EncodedRank, String>>> {
    let ranks = communicator.split(group.number).await;
    let (summary, series) = (own.summary_bytes(), own.series_bytes());
    let mut message = Vec::with_capacity(HEAD_BYTES + agreed.summary_bytes);
    message.extend((summary.len() as u64).to_le_bytes());
    message.extend((series.len() as u64).to_le_bytes());
    message.extend(summary);
    message.resize(HEAD_BYTES + agreed.summary_bytes, 0);
    let messages = gather_uniform(&ranks, &message, chunk_bytes).await;
    let lengths: Vec<usize> = messages.iter().map(|m| length_at(m, 8)).collect();
    let series = collect_series(&ranks, &series, &lengths, agreed.series_bytes, chunk_bytes).await;
    (ranks.rank() == 0).then(|| {
        let both = messages.iter().zip(&series);
        both.map(|(message, series)| {
            let summary = message.get(HEAD_BYTES..HEAD_BYTES + length_at(message, 0));
            EncodedRank::from_messages(summary.unwrap_or_default(), series)
        })
        .collect()
    })
}

/// Gathers messages of one length: in one round, unless counts would exceed what MPI can count.
async fn gather_uniform(ranks: &impl Communicator, message: &[u8], chunk_bytes: usize) -> Vec<Vec<u8>> {
    let at_root = if ranks.rank() == 0 { ranks.size() as usize } else { 0 };
    let mut messages = vec![Vec::new(); at_root];
    for chunk in message.chunks(chunk_bytes) {
        let gathered = ranks.gather(chunk).await;
        for (message, part) in messages.iter_mut().zip(gathered.chunks(chunk.len())) {
            message.extend_from_slice(part);
        }
    }
    messages
}

/// Gathers the series messages in as many rounds as the longest of the run needs, at most `chunk_bytes` of each rank in
/// a round, so that counts and displacements stay below 2^31.
async fn collect_series(
    ranks: &impl Communicator,
    own: &[u8],
    lengths: &[usize],
    longest: usize,
    chunk_bytes: usize,
) -> Vec<Vec<u8>> {
    let mut collected = vec![Vec::new(); lengths.len()];
    for round in 0..longest.div_ceil(chunk_bytes) {
        let start = round * chunk_bytes;
        let part = |length: usize| length.saturating_sub(start).min(chunk_bytes);
        let mine = &own[start.min(own.len())..][..part(own.len())];
        let parts: Vec<usize> = lengths.iter().map(|&length| part(length)).collect();
        let gathered = ranks.gather_varying(mine, &parts).await;
        let mut rest = gathered.as_slice();
        for (series, &length) in collected.iter_mut().zip(&parts) {
            let (here, others) = rest.split_at(length);
            series.extend_from_slice(here);
            rest = others;
        }
    }
    collected
}

fn length_at(message: &[u8], at: usize) -> usize {
    let word = message.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    word.and_then(|length| usize::try_from(length).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_consecutive_and_even() {
        for size in 1..70 {
            for groups in 1..=size {
                let all: Vec<Group> = (0..size).map(|rank| Group::of(rank, size, groups)).collect();
                let mut sizes = vec![0; groups as usize];
                for (rank, group) in (0..).zip(&all) {
                    sizes[group.number as usize] += 1;
                    assert!(group.first_rank <= rank && group.aggregator(group.number) == group.first_rank);
                    let next = group.aggregator(group.number + 1);
                    assert!(rank < next, "rank {rank} of {size} in {groups} groups");
                }
                let (min, max) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
                assert!(*min >= 1 && max - min <= 1, "{sizes:?}");
            }
        }
    }
}
