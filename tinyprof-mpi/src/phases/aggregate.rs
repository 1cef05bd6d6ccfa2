//! Phase 2: the ranks of a group send what they hold to the first of them (paper, section V-B).
//!
//! Summaries are padded to the longest of the run, which makes one uniform gather of what would otherwise need
//! lengths first. Series and metrics go with them where they are of much the same length on all ranks, so that
//! padding costs little; else they are gathered with the lengths that the summaries have told.

use tinyprof_format::file::EncodedRank;

use super::groups::Group;
use super::synchronise::Agreed;
use crate::communicator::{Communicator, Interrupted};

/// Bytes before the summary in a rank's message: the lengths of summary and series message.
const HEAD_BYTES: usize = 16;

/// What a rank has to send.
struct Messages {
    uniform: Vec<u8>,
    series: Vec<u8>,
}

impl Messages {
    fn of(own: &EncodedRank, agreed: &Agreed) -> Self {
        let (summary, mut series) = (own.summary_bytes(), own.series_bytes());
        let mut uniform = Vec::with_capacity(agreed.uniform_bytes());
        uniform.extend((summary.len() as u64).to_le_bytes());
        uniform.extend((series.len() as u64).to_le_bytes());
        uniform.extend(summary);
        uniform.resize(HEAD_BYTES + agreed.summary_bytes, 0);
        if agreed.series_are_padded {
            uniform.append(&mut series);
            uniform.resize(agreed.uniform_bytes(), 0);
        }
        Self { uniform, series }
    }
}

impl Agreed {
    /// The length of the message that is of one length on all ranks.
    fn uniform_bytes(&self) -> usize {
        HEAD_BYTES + self.summary_bytes + if self.series_are_padded { self.series_bytes } else { 0 }
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
) -> Result<Option<Vec<Result<EncodedRank, String>>>, Interrupted> {
    let ranks = communicator.subgroup(group.first_rank, group.ranks);
    let own = Messages::of(own, agreed);
    let messages = gather_uniform(&ranks, &own.uniform, chunk_bytes).await?;
    let series: Vec<Vec<u8>> = if agreed.series_are_padded {
        let start = HEAD_BYTES + agreed.summary_bytes;
        messages.iter().map(|m| m.get(start..start + length_at(m, 8)).unwrap_or_default().to_vec()).collect()
    } else {
        let lengths: Vec<usize> = messages.iter().map(|m| length_at(m, 8)).collect();
        collect_series(&ranks, &own.series, &lengths, agreed.series_bytes, chunk_bytes).await?
    };
    Ok((ranks.rank() == 0).then(|| {
        let both = messages.iter().zip(&series);
        both.map(|(message, series)| {
            let summary = message.get(HEAD_BYTES..HEAD_BYTES + length_at(message, 0));
            EncodedRank::from_messages(summary.unwrap_or_default(), series)
        })
        .collect()
    }))
}

/// Gathers messages of one length: in one round, unless counts would exceed what MPI can count.
async fn gather_uniform(
    ranks: &impl Communicator,
    message: &[u8],
    chunk_bytes: usize,
) -> Result<Vec<Vec<u8>>, Interrupted> {
    let at_root = if ranks.rank() == 0 { ranks.size() as usize } else { 0 };
    let mut messages = vec![Vec::new(); at_root];
    for chunk in message.chunks(chunk_bytes) {
        let gathered = ranks.gather(chunk).await?;
        for (message, part) in messages.iter_mut().zip(gathered.chunks(chunk.len())) {
            message.extend_from_slice(part);
        }
    }
    Ok(messages)
}

/// Gathers the series messages in as many rounds as the longest of the run needs, at most `chunk_bytes` of each
/// rank in a round, so that counts and displacements stay below 2^31.
async fn collect_series(
    ranks: &impl Communicator,
    own: &[u8],
    lengths: &[usize],
    longest: usize,
    chunk_bytes: usize,
) -> Result<Vec<Vec<u8>>, Interrupted> {
    let mut collected = vec![Vec::new(); lengths.len()];
    for round in 0..longest.div_ceil(chunk_bytes) {
        let start = round * chunk_bytes;
        let part = |length: usize| length.saturating_sub(start).min(chunk_bytes);
        let mine = &own[start.min(own.len())..][..part(own.len())];
        let parts: Vec<usize> = lengths.iter().map(|&length| part(length)).collect();
        let gathered = ranks.gather_varying(mine, &parts).await?;
        let mut rest = gathered.as_slice();
        for (series, &length) in collected.iter_mut().zip(&parts) {
            let (here, others) = rest.split_at(length);
            series.extend_from_slice(here);
            rest = others;
        }
    }
    Ok(collected)
}

fn length_at(message: &[u8], at: usize) -> usize {
    let word = message.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    word.and_then(|length| usize::try_from(length).ok()).unwrap_or(0)
}
