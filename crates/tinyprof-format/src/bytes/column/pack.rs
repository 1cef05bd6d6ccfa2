//! Columns in the encoding of pco: how they are packed, and unpacked within bounds.

use pco::data_types::Number;
use pco::errors::PcoError;
use pco::standalone::{DecompressorItem, FileDecompressor, simple_compress};
use pco::{ChunkConfig, DeltaSpec};

use super::claims::claimed_bytes;
use crate::bytes::Malformed;

/// The count of numbers decompressed at a time: a multiple of pco's batch size.
const BATCH: usize = 1_024;

/// A number that columns may be packed of.
pub(super) trait Packable: Number + Default {}

impl<T: Number + Default> Packable for T {}

/// Packs a column. `ordered` gives the values, or numbers in the same order.
///
/// pco fails only for invalid configurations. Other encodings are then also correct, only longer.
pub(super) fn pack<T: Packable>(
    values: &[T],
    ordered: impl Iterator<Item = u64> + Clone,
) -> Option<Vec<u8>> {
    simple_compress(values, &configuration(ordered)).ok()
}

/// Returns the pco configuration for a column. `ordered` gives the values, or numbers in the same
/// order.
///
/// To choose between differences of neighbours and plain values, pco compresses samples of the
/// column in each way, which takes three to six times as long as everything else. Times of one
/// region are mostly scattered around a mean, and then differences are longer than values. One pass
/// over the column detects that. Level 4 takes half the time of the default, 8, and 1 to 4 % more
/// bytes.
pub(super) fn configuration(ordered: impl Iterator<Item = u64> + Clone) -> ChunkConfig {
    let config = ChunkConfig::default().with_compression_level(4);
    if is_progression(ordered.clone()) {
        config.with_delta_spec(DeltaSpec::TryConsecutive(1))
    } else if neighbours_resemble(ordered) {
        config
    } else {
        config.with_delta_spec(DeltaSpec::NoOp)
    }
}

/// Returns true if the difference between neighbours is constant, as for first executions of folded
/// lists. The best configuration is then known without compressing samples.
pub(super) fn is_progression(mut values: impl Iterator<Item = u64>) -> bool {
    let (Some(first), Some(second)) = (values.next(), values.next()) else { return false };
    let step = second.wrapping_sub(first);
    let mut before = second;
    values.all(|value| value.wrapping_sub(std::mem::replace(&mut before, value)) == step)
}

/// Returns true if the numbers of a column are nearer to their predecessors than to the mean,
/// counted in bits.
pub(super) fn neighbours_resemble(values: impl Iterator<Item = u64> + Clone) -> bool {
    let (count, sum) =
        values.clone().fold((0_u128, 0_u128), |(n, sum), v| (n + 1, sum + u128::from(v)));
    let mean = u64::try_from(sum / count.max(1)).unwrap_or(u64::MAX);
    let bits = |a: u64, b: u64| u64::from(u64::BITS - a.abs_diff(b).leading_zeros());
    let mut before = mean;
    let mut balance = 0_i64;
    for value in values {
        balance += bits(value, before).cast_signed() - bits(value, mean).cast_signed();
        before = value;
    }
    balance < 0
}

/// Decompresses up to `count` numbers, and returns true if there are no more. `claim` may refuse
/// the memory that pco requests. Numbers are converted in batches, while they are in the L1 cache.
pub(super) fn unpack<T: Packable, U>(
    packed: &[u8],
    count: usize,
    mut convert: impl FnMut(T) -> U,
    claim: impl Fn(usize) -> Result<(), Malformed>,
    failed: impl Fn(String) -> Malformed,
) -> Result<(Vec<U>, bool), Malformed> {
    let failed = |error: PcoError| failed(error.to_string());
    let (file, mut rest) = FileDecompressor::new(packed).map_err(&failed)?;
    let mut values = Vec::with_capacity(count);
    let mut batch = [T::default(); BATCH];
    loop {
        claim(claimed_bytes(rest, size_of::<T>()))?;
        let mut chunk = match file.chunk_decompressor::<T, _>(rest).map_err(&failed)? {
            DecompressorItem::Chunk(chunk) => chunk,
            DecompressorItem::EndOfData(_) => return Ok((values, true)),
        };
        if chunk.n() > count - values.len() {
            return Ok((values, false));
        }
        loop {
            let progress = chunk.read(&mut batch).map_err(&failed)?;
            values.extend(batch[..progress.n_processed].iter().map(|&value| convert(value)));
            if progress.finished || progress.n_processed == 0 {
                break;
            }
        }
        rest = chunk.into_src();
    }
}
