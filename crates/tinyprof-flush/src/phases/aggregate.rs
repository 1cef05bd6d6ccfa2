//! Phase 2: the ranks of a group send their data to the first of them (paper, section V-B).
//!
//! Summaries are padded to the longest of the run: one uniform gather then suffices, without
//! gathering lengths first. Series and metrics are sent along if their lengths are similar on all
//! ranks, so that padding costs little. Otherwise they are gathered separately, with the lengths
//! that the summaries contain.

use tinyprof_format::file::EncodedRank;

use super::chunks;
use super::groups::Group;
use super::synchronise::GlobalPlan;
use crate::communicator::{Communicator, Interrupted};

/// The length of the head before the summary in a rank's message: the lengths of its summary and
/// series messages.
const HEAD_BYTES: usize = 16;

/// Returns the messages of a rank: the one of equal length on all ranks, and the series if their
/// lengths differ.
fn messages(
    communicator: &impl Communicator,
    own: &EncodedRank,
    agreed: &GlobalPlan,
) -> Result<(Vec<u8>, Vec<u8>), Interrupted> {
    let mut uniform = communicator.room(agreed.uniform_bytes())?;
    let mut series =
        communicator.room(if agreed.series_are_padded { 0 } else { own.series_length() })?;
    uniform.extend((own.summary_length() as u64).to_le_bytes());
    uniform.extend((own.series_length() as u64).to_le_bytes());
    own.append_summary(&mut uniform);
    uniform.resize(HEAD_BYTES + agreed.summary_bytes, 0);
    own.append_series(if agreed.series_are_padded { &mut uniform } else { &mut series });
    uniform.resize(agreed.uniform_bytes(), 0);
    Ok((uniform, series))
}

impl GlobalPlan {
    /// Returns the length of the message that is equally long on all ranks.
    fn uniform_bytes(&self) -> usize {
        HEAD_BYTES + self.summary_bytes + if self.series_are_padded { self.series_bytes } else { 0 }
    }
}

/// The data of the ranks of a group, as received.
pub(super) struct Collected {
    /// The aggregator's own data.
    own: EncodedRank,
    /// The messages of the other ranks: those of uniform length, and those with the series.
    messages: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Collected {
    /// Decodes the messages, in the order of their ranks. A message that cannot be decoded is an
    /// error in its place.
    pub(super) fn decode(self, agreed: &GlobalPlan) -> Vec<Result<EncodedRank, String>> {
        let others = self.messages.into_iter().map(|(message, series)| {
            let summary = message.get(HEAD_BYTES..HEAD_BYTES + length_at(&message, 0));
            let start = HEAD_BYTES + agreed.summary_bytes;
            let padded = message.get(start..start + length_at(&message, 8));
            let series = if agreed.series_are_padded {
                padded.unwrap_or_default()
            } else {
                series.as_slice()
            };
            EncodedRank::from_messages(summary.unwrap_or_default(), series)
                .map_err(|error| format!("a rank's message is {error}"))
        });
        std::iter::once(Ok(self.own)).chain(others).collect()
    }
}

/// Collects the data of the ranks in the caller's group at the aggregator; returns nothing
/// elsewhere. Collective.
pub(super) async fn collect(
    communicator: &impl Communicator,
    group: &Group,
    own: EncodedRank,
    agreed: &GlobalPlan,
    chunk_bytes: usize,
) -> Result<Option<Collected>, Interrupted> {
    let ranks = communicator.subgroup(group.first_rank, group.ranks);
    let longest =
        [agreed.uniform_bytes(), if agreed.series_are_padded { 0 } else { agreed.series_bytes }];
    if ranks.rank() != 0 {
        let (uniform, series) = messages(&ranks, &own, agreed)?;
        // The messages contain all of it, and the memory may be needed until they have arrived.
        drop(own);
        chunks::gather(&ranks, uniform, &[], longest[0], chunk_bytes).await?;
        chunks::gather(&ranks, series, &[], longest[1], chunk_bytes).await?;
        return Ok(None);
    }
    // The aggregator sends nothing to itself.
    let mut lengths = vec![longest[0]; group.ranks as usize];
    lengths[0] = 0;
    let messages = chunks::gather(&ranks, Vec::new(), &lengths, longest[0], chunk_bytes).await?;
    let of_series =
        |message: &Vec<u8>| if agreed.series_are_padded { 0 } else { length_at(message, 8) };
    let lengths: Vec<usize> = messages.iter().map(of_series).collect();
    let series = chunks::gather(&ranks, Vec::new(), &lengths, longest[1], chunk_bytes).await?;
    Ok(Some(Collected { own, messages: messages.into_iter().zip(series).skip(1).collect() }))
}

fn length_at(message: &[u8], at: usize) -> usize {
    let word =
        message.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    word.and_then(|length| usize::try_from(length).ok()).unwrap_or(0)
}
