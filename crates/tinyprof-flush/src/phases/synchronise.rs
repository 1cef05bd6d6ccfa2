//! Phase 1: every rank gets the same dictionary of callpaths (paper, section V-A).
//!
//! One Allreduce of fixed size, with maxima and sums, shows whether all ranks already hold the same
//! set. That is the usual case, and then no name is sent. Otherwise the tables are united up a tree
//! and the union is broadcast. An Allgather, as in the paper, would need memory for all ranks'
//! names on every rank.

use tinyprof::__mpi::NotDone;
use tinyprof_format::file::{EncodedRank, OutputFormat, decode_callpaths, encode_callpaths};
use tinyprof_format::model::{CallpathTable, Precision};
use tinyprof_settings::{Aggregators, SeriesGather};

use super::groups::Groups;
use super::plan::Plan;
use super::union::Union;
use super::visit_costs::VisitCosts;
use super::workplace::{code_of, reason_of};
use super::{Measured, StepError, not_written};
use super::{chunks, tree};
use crate::communicator::{Communicator, Interrupted};

/// The results of phase 1, known to all ranks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GlobalPlan {
    /// Every callpath that any rank visited.
    pub(super) dictionary: CallpathTable,
    /// The length of the longest summary message.
    pub(super) summary_bytes: usize,
    /// The length of the longest message with series and metrics.
    pub(super) series_bytes: usize,
    /// True if series are padded to the longest, and sent with the summaries.
    pub(super) series_are_padded: bool,
    /// The groups of senders and aggregators.
    pub(super) groups: Groups,
    /// The format of the parts.
    pub(super) format: OutputFormat,
    /// The precision of the times that every rank sends.
    pub(super) precision: Precision,
    /// The number of ranks that were to round and do not.
    pub(super) overruled: u64,
    /// The costs of a visit, of all ranks.
    pub(super) visit_costs: VisitCosts,
}

/// Agrees on the dictionary, on the sizes of messages, and on the groups. Collective.
///
/// The data that leaves this rank is in the precision of the plan. If ranks differ in precision,
/// all data becomes exact: a mixed profile would be called exact without being so, and rounded
/// times cannot be restored. If a rank has nothing to bring because it failed, all ranks get the
/// reason in place of an agreement.
pub(super) async fn agree(
    communicator: &impl Communicator,
    measured: &mut Measured,
    plan: &Plan,
) -> Result<GlobalPlan, StepError> {
    let Measured { map, own, failure } = measured;
    let proposal = Maxima::of_rank(communicator, map.callpaths.fingerprint(), own, *failure, plan);
    let rounds = plan.state.precision == Precision::EightBit;
    let sums = [proposal.series_bytes, rounds.into()];
    let (maxima, sums) = communicator.all_reduce(&proposal.to_words(), &sums).await?;
    let maxima = Maxima::from_words(&maxima);
    if let Some((rank, reason)) = maxima.failure() {
        let reason = format!("rank {rank} could not put together what it has measured: {reason}");
        return Err(StepError::NoProfile(not_written(plan, &reason)));
    }
    let all_round = sums[1] == u64::from(communicator.size());
    let overruled = if all_round { 0 } else { sums[1] };
    let Maxima { mut summary_bytes, series_bytes: mut longest, .. } = maxima;
    let mut sum = sums[0];
    if overruled > 0 {
        // Exact series are longer. If all ranks have the same precision, there is no second round.
        if rounds {
            *own = EncodedRank::of_event_map(map);
        }
        let lengths = [own.summary_length() as u64, own.series_length() as u64];
        let (again, sums) = communicator.all_reduce(&lengths, &lengths[1..]).await?;
        (summary_bytes, longest, sum) = (again[0], again[1], sums[0]);
    }
    let dictionary = if maxima.has_one_fingerprint() {
        map.callpaths.clone()
    } else {
        unite(communicator, &map.callpaths, plan).await?
    };
    // The tables are equal on all ranks, so if ids collide, all ranks assign the same new ids.
    let dictionary = dictionary.with_distinct_ids();
    let fits = |bytes: u64| {
        usize::try_from(bytes).expect("the rank that has this message holds it in memory")
    };
    Ok(GlobalPlan {
        dictionary,
        summary_bytes: fits(summary_bytes),
        series_bytes: fits(longest),
        series_are_padded: is_padded(maxima.series_gather, longest, sum, communicator.size()),
        groups: groups(
            communicator,
            maxima.aggregators,
            summary_bytes,
            &map.facts.host,
            plan.message_bytes_max,
        )
        .await?,
        format: if maxima.format == CSV { OutputFormat::Csv } else { OutputFormat::Tprof },
        precision: if all_round { Precision::EightBit } else { Precision::Exact },
        overruled,
        visit_costs: maxima.visit_costs,
    })
}

/// The words of the Allreduce: of one rank before it, and the maxima over all ranks after it.
///
/// The complement's maximum is the minimum's complement, so one operation finds both ends of a
/// fingerprint. Words of rank 0 are 0 on all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Maxima {
    fingerprint: [u64; 2],
    fingerprint_complement: [u64; 2],
    /// The length of the summary message.
    summary_bytes: u64,
    /// The length of the message with series and metrics.
    series_bytes: u64,
    /// The choice of aggregators of rank 0.
    aggregators: u64,
    /// The way in which series are gathered, of rank 0.
    series_gather: u64,
    /// The format of rank 0. On a rank that failed, its number plus one, above the reason, above
    /// the format: a failure is greater than all formats, and no format is needed then.
    format: u64,
    visit_costs: VisitCosts,
}

impl Maxima {
    /// Returns the words of this rank.
    fn of_rank(
        communicator: &impl Communicator,
        fingerprint: u128,
        own: &EncodedRank,
        failure: Option<NotDone>,
        plan: &Plan,
    ) -> Self {
        let of_rank_0 = |word: u64| if communicator.rank() == 0 { word } else { 0 };
        let fingerprint = [high(fingerprint), low(fingerprint)];
        Self {
            fingerprint,
            fingerprint_complement: fingerprint.map(|half| !half),
            summary_bytes: own.summary_length() as u64,
            series_bytes: own.series_length() as u64,
            aggregators: of_rank_0(aggregators_as_word(plan.aggregators)),
            series_gather: of_rank_0(plan.series as u64),
            format: failure.map_or(of_rank_0(format_as_word(plan.format)), |failure| {
                (u64::from(communicator.rank()) + 1) << FAILURE_BITS
                    | code_of(failure) << FORMAT_BITS
            }),
            visit_costs: VisitCosts::of(&plan.metadata),
        }
    }

    const fn to_words(self) -> [u64; 13] {
        let [high, low] = self.fingerprint;
        let [high_complement, low_complement] = self.fingerprint_complement;
        let [most, least, root_most, root_least] = self.visit_costs.to_words();
        [
            high,
            low,
            high_complement,
            low_complement,
            self.summary_bytes,
            self.series_bytes,
            self.aggregators,
            self.series_gather,
            self.format,
            most,
            least,
            root_most,
            root_least,
        ]
    }

    /// Returns the maxima over all ranks, of which there are as many as words.
    fn from_words(words: &[u64]) -> Self {
        let words: [u64; 13] = words.try_into().expect("as many words as every rank has sent");
        let [
            high,
            low,
            high_complement,
            low_complement,
            summary_bytes,
            series_bytes,
            aggregators,
            series_gather,
            format,
            of_visits @ ..,
        ] = words;
        Self {
            fingerprint: [high, low],
            fingerprint_complement: [high_complement, low_complement],
            summary_bytes,
            series_bytes,
            aggregators,
            series_gather,
            format,
            visit_costs: VisitCosts::from_words(of_visits),
        }
    }

    /// Returns whether all ranks have the same fingerprint.
    fn has_one_fingerprint(&self) -> bool {
        self.fingerprint == self.fingerprint_complement.map(|half| !half)
    }

    /// Returns the last rank that failed, and its reason, if one did.
    fn failure(&self) -> Option<(u64, &'static str)> {
        let rank = (self.format >> FAILURE_BITS).checked_sub(1)?;
        Some((rank, reason_of((self.format >> FORMAT_BITS) & CODE_MAX)))
    }
}

/// Returns whether series are padded: if that adds no more than a quarter to the bytes sent,
/// because it saves a message for each rank.
fn is_padded(wanted: u64, longest: u64, sum: u64, ranks: u32) -> bool {
    if wanted == SeriesGather::Auto as u64 {
        return u128::from(longest) * u128::from(ranks) <= u128::from(sum) + u128::from(sum / 4);
    }
    wanted == SeriesGather::Padded as u64
}

/// The layout of the format word: see [`Maxima`].
const FAILURE_BITS: u32 = 16;
const FORMAT_BITS: u32 = 8;
const CODE_MAX: u64 = 0xff;

const CSV: u64 = 1;

fn format_as_word(wanted: OutputFormat) -> u64 {
    match wanted {
        OutputFormat::Tprof => 0,
        OutputFormat::Csv => CSV,
    }
}

const PER_NODE: u64 = u64::MAX;

fn aggregators_as_word(wanted: Aggregators) -> u64 {
    match wanted {
        Aggregators::Count(count) => u64::from(count),
        Aggregators::PerNode => PER_NODE,
        // `Auto`, and whatever this crate does not know.
        _ => 0,
    }
}

async fn groups(
    communicator: &impl Communicator,
    wanted: u64,
    summary_bytes: u64,
    host: &str,
    chunk_bytes: usize,
) -> Result<Groups, Interrupted> {
    let size = communicator.size();
    Ok(match wanted {
        0 => Groups::Even { size, groups: automatic(size, summary_bytes) },
        PER_NODE => Groups::of_hosts(communicator, host, chunk_bytes).await?,
        count => Groups::Even { size, groups: u32::try_from(count).unwrap_or(u32::MAX).min(size) },
    })
}

/// Returns the number of aggregators for `size` ranks whose longest summary message has
/// `summary_bytes`.
///
/// An aggregator encodes the summaries of all its ranks, and they wait for it. With long lists that
/// is most of the flush, so more aggregators are faster. With many ranks there are enough
/// aggregators anyway, and a small number of files matters more.
fn automatic(size: u32, summary_bytes: u64) -> u32 {
    let of_all = u128::from(summary_bytes) * u128::from(size);
    let for_summaries =
        u32::try_from(of_all.div_ceil(SUMMARY_BYTES_OF_AN_AGGREGATOR)).unwrap_or(u32::MAX);
    size.div_ceil(16).max(for_summaries.min(AGGREGATORS_FOR_SUMMARIES)).min(size)
}

/// The summary bytes per aggregator, encoded in some ten milliseconds.
const SUMMARY_BYTES_OF_AN_AGGREGATOR: u128 = 2 << 20;

/// The largest number of aggregators that long lists alone justify.
const AGGREGATORS_FOR_SUMMARIES: u32 = 64;

async fn unite(
    communicator: &impl Communicator,
    own: &CallpathTable,
    plan: &Plan,
) -> Result<CallpathTable, Interrupted> {
    let chunk_bytes = plan.message_bytes_max;
    let (size, rank) = (communicator.size(), communicator.rank());
    let union =
        tree::reduce(communicator, size, rank, |p| p, own.clone(), &Union { chunk_bytes }).await?;
    let bytes = union.as_ref().map(encode_callpaths).unwrap_or_default();
    let bytes = chunks::broadcast(communicator, bytes, chunk_bytes).await?;
    // Rank 0 has just encoded them, so they decode; if they do not, its own table is used.
    Ok(union.unwrap_or_else(|| decode_callpaths(&bytes).unwrap_or_default()))
}

const fn high(wide: u128) -> u64 {
    (wide >> 64) as u64
}

#[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
const fn low(wide: u128) -> u64 {
    wide as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_have_more_aggregators_but_never_very_many() {
        let mib = 1 << 20;
        assert_eq!(automatic(2, mib), 1, "short lists: one to sixteen");
        assert_eq!(automatic(33, 1000), 3);
        assert_eq!(automatic(2, mib + 1), 2, "a group of 2 MiB at most");
        assert_eq!(automatic(16, mib), 8);
        assert_eq!(automatic(3, 100 * mib), 3, "no more than ranks");
        assert_eq!(automatic(1000, 100 * mib), 64);
        assert_eq!(automatic(2000, 100 * mib), 125, "one to sixteen is more");
        assert_eq!(automatic(u32::MAX, u64::MAX), 1 << 28);
    }

    #[test]
    fn series_are_padded_where_that_sends_little_more() {
        let auto = SeriesGather::Auto as u64;
        assert!(is_padded(auto, 100, 400, 4), "equal lengths");
        assert!(is_padded(auto, 125, 400, 4), "a quarter more");
        assert!(!is_padded(auto, 126, 400, 4));
        assert!(is_padded(auto, 0, 0, 4), "nothing to pad");
        assert!(!is_padded(auto, u64::MAX, u64::MAX, u32::MAX), "no overflow");
        assert!(is_padded(SeriesGather::Padded as u64, 400, 400, 4));
        assert!(!is_padded(SeriesGather::Counts as u64, 100, 400, 4));
    }
}
