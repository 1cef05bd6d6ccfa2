//! The bytes in which ranks send each other statistics: a fixed width a row, so that a receiver knows the
//! length of a message from the number of callpaths. Never stored in a profile.

use super::{RankStatistics, Spread, Statistics};

/// One spread, little endian:
///
/// ```text
/// 0        16             32       40       48     52
/// | sum_ns | variance_ns2 | min_ns | max_ns | rank |
/// ```
const SPREAD_BYTES: usize = 52;

/// One row, little endian:
///
/// ```text
/// 0        8       12          64          116
/// | visits | ranks | inclusive | exclusive |
/// ```
const ROW_BYTES: usize = 12 + 2 * SPREAD_BYTES;

impl Statistics {
    /// The length of a row in [`to_bytes`](Self::to_bytes), in bytes.
    pub const ROW_BYTES: usize = ROW_BYTES;

    /// The rows as bytes: [`ROW_BYTES`](Self::ROW_BYTES) each, the same on every machine.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.rows().len() * ROW_BYTES);
        for row in self.rows() {
            bytes.extend(row.visits.to_le_bytes());
            bytes.extend(row.ranks.to_le_bytes());
            for spread in [&row.inclusive, &row.exclusive] {
                bytes.extend(spread.sum_ns.to_le_bytes());
                bytes.extend(spread.variance_ns2.to_le_bytes());
                bytes.extend(spread.min_ns.to_le_bytes());
                bytes.extend(spread.max_ns.to_le_bytes());
                bytes.extend(spread.max_rank.to_le_bytes());
            }
        }
        bytes
    }

    /// The statistics that [`to_bytes`](Self::to_bytes) wrote; none if the bytes cannot be such.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (rows, rest) = bytes.as_chunks::<ROW_BYTES>();
        if !rest.is_empty() {
            return None;
        }
        rows.iter().map(|row| row_from(row)).collect::<Option<_>>().map(Self::from_rows)
    }
}

fn row_from(mut bytes: &[u8]) -> Option<RankStatistics> {
    let visits = u64::from_le_bytes(take(&mut bytes)?);
    let ranks = u32::from_le_bytes(take(&mut bytes)?);
    let inclusive = spread_from(&mut bytes)?;
    let exclusive = spread_from(&mut bytes)?;
    let row = RankStatistics { ranks, visits, inclusive, exclusive };
    (ranks > 0 || row == RankStatistics::default()).then_some(row)
}

fn spread_from(bytes: &mut &[u8]) -> Option<Spread> {
    let spread = Spread {
        sum_ns: u128::from_le_bytes(take(bytes)?),
        variance_ns2: u128::from_le_bytes(take(bytes)?),
        min_ns: u64::from_le_bytes(take(bytes)?),
        max_ns: u64::from_le_bytes(take(bytes)?),
        max_rank: u32::from_le_bytes(take(bytes)?),
    };
    (spread.min_ns <= spread.max_ns && u128::from(spread.max_ns) <= spread.sum_ns).then_some(spread)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_contradict_themselves_are_refused() {
        let good = Statistics::from_rows(vec![RankStatistics::of_one_rank(3, 2, 20, 5)]).to_bytes();
        assert_eq!(good.len(), Statistics::ROW_BYTES);
        let check = |offset: usize, byte: u8| {
            let mut bad = good.clone();
            bad[offset] = byte;
            assert_eq!(Statistics::from_bytes(&bad), None, "byte {offset} = {byte}");
        };
        check(8, 0); // no rank, yet visits
        check(12, 19); // a sum below the maximum
        check(44, 21); // a minimum above the maximum
        assert_eq!(Statistics::from_bytes(&good[1..]), None);
        assert_eq!(Statistics::from_bytes(&[]), Some(Statistics::default()));
    }
}
