//! The byte format in which ranks send each other statistics. A row has a fixed width, so that a
//! receiver knows the length of a message from the number of callpaths. Never stored in a profile.

use crate::facts::statistics::Statistics;
use crate::facts::statistics::rank::RankStatistics;
use crate::facts::statistics::spread::{HostId, Spread};
use crate::facts::totals::variation::Variation;
use crate::facts::usage::UsageOverRanks;

/// The head before the rows, little endian:
///
/// ```text
/// 0       4          20             28          44              52      68
/// | ranks | total_ns | total_max_ns | useful_ns | useful_max_ns | io_ns |
///
/// 68             76           84
/// | ideal_max_ns | companions |
///
/// 84               88        104      120          136        152               168
/// | followed_ranks | wall_ns | cpu_ns | threads_ns | delay_ns | useful_delay_ns |
///
/// 168             172               180                  188
/// | counted_ranks | threads_at_work | processors_allowed |
/// ```
const TIMES_BYTES: usize = 188;

/// One spread, little endian:
///
/// ```text
/// 0        16             32       40       48     52     56
/// | sum_ns | variance_ns2 | min_ns | max_ns | rank | host |
/// ```
const SPREAD_BYTES: usize = 56;

/// One row, little endian:
///
/// ```text
/// 0        8       12          68          124          132              148       156
/// | visits | ranks | inclusive | exclusive | executions | deviations_ns2 | degrees |
/// ```
const ROW_BYTES: usize = 12 + 2 * SPREAD_BYTES + 32;

impl Statistics {
    /// The length of a row in [`to_bytes`](Self::to_bytes), in bytes.
    pub const ROW_BYTES: usize = ROW_BYTES;

    /// The length of the head before the rows in [`to_bytes`](Self::to_bytes), in bytes.
    pub const HEAD_BYTES: usize = TIMES_BYTES;

    /// Returns the statistics as bytes: [`HEAD_BYTES`](Self::HEAD_BYTES), and
    /// [`ROW_BYTES`](Self::ROW_BYTES) for each row, the same on every machine.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(TIMES_BYTES + self.rows().len() * ROW_BYTES);
        let times = self.times();
        bytes.extend(times.ranks.to_le_bytes());
        bytes.extend(times.total_ns.to_le_bytes());
        bytes.extend(times.total_max_ns.to_le_bytes());
        bytes.extend(times.useful_ns.to_le_bytes());
        bytes.extend(times.useful_max_ns.to_le_bytes());
        bytes.extend(times.io_ns.to_le_bytes());
        bytes.extend(times.ideal_max_ns.to_le_bytes());
        bytes.extend(times.companions.to_le_bytes());
        bytes.extend(times.followed_ranks.to_le_bytes());
        bytes.extend(times.wall_ns.to_le_bytes());
        bytes.extend(times.cpu_ns.to_le_bytes());
        bytes.extend(times.threads_ns.to_le_bytes());
        bytes.extend(times.delay_ns.to_le_bytes());
        bytes.extend(times.useful_delay_ns.to_le_bytes());
        bytes.extend(times.counted_ranks.to_le_bytes());
        bytes.extend(times.threads_at_work.to_le_bytes());
        bytes.extend(times.processors_allowed.to_le_bytes());
        for row in self.rows() {
            bytes.extend(row.visits.to_le_bytes());
            bytes.extend(row.ranks.to_le_bytes());
            for spread in [&row.inclusive, &row.exclusive] {
                bytes.extend(spread.sum_ns.to_le_bytes());
                bytes.extend(spread.variance_ns2.to_le_bytes());
                bytes.extend(spread.min_ns.to_le_bytes());
                bytes.extend(spread.max_ns.to_le_bytes());
                bytes.extend(spread.max_rank.to_le_bytes());
                bytes.extend(spread.max_host.to_bits().to_le_bytes());
            }
            bytes.extend(row.variation.executions.to_le_bytes());
            bytes.extend(row.variation.deviations_ns2.to_le_bytes());
            bytes.extend(row.variation.degrees.to_le_bytes());
        }
        bytes
    }

    /// Returns the statistics that [`to_bytes`](Self::to_bytes) wrote; none if the bytes are
    /// invalid.
    #[must_use]
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let times = times_from(&mut bytes)?;
        let (rows, rest) = bytes.as_chunks::<ROW_BYTES>();
        if !rest.is_empty() {
            return None;
        }
        let rows = rows.iter().map(|row| row_from(row)).collect::<Option<_>>()?;
        Some(Self::from_rows(rows).with_times(times))
    }
}

fn times_from(bytes: &mut &[u8]) -> Option<UsageOverRanks> {
    let times = UsageOverRanks {
        ranks: u32::from_le_bytes(take(bytes)?),
        total_ns: u128::from_le_bytes(take(bytes)?),
        total_max_ns: u64::from_le_bytes(take(bytes)?),
        useful_ns: u128::from_le_bytes(take(bytes)?),
        useful_max_ns: u64::from_le_bytes(take(bytes)?),
        io_ns: u128::from_le_bytes(take(bytes)?),
        ideal_max_ns: u64::from_le_bytes(take(bytes)?),
        companions: u64::from_le_bytes(take(bytes)?),
        followed_ranks: u32::from_le_bytes(take(bytes)?),
        wall_ns: u128::from_le_bytes(take(bytes)?),
        cpu_ns: u128::from_le_bytes(take(bytes)?),
        threads_ns: u128::from_le_bytes(take(bytes)?),
        delay_ns: u128::from_le_bytes(take(bytes)?),
        useful_delay_ns: u128::from_le_bytes(take(bytes)?),
        counted_ranks: u32::from_le_bytes(take(bytes)?),
        threads_at_work: u64::from_le_bytes(take(bytes)?),
        processors_allowed: u64::from_le_bytes(take(bytes)?),
    };
    let is_part = times.useful_max_ns <= times.total_max_ns
        && times.useful_ns <= times.total_ns
        && times.useful_delay_ns <= times.useful_ns;
    is_part.then_some(times)
}

fn row_from(mut bytes: &[u8]) -> Option<RankStatistics> {
    let visits = u64::from_le_bytes(take(&mut bytes)?);
    let ranks = u32::from_le_bytes(take(&mut bytes)?);
    let inclusive = spread_from(&mut bytes)?;
    let exclusive = spread_from(&mut bytes)?;
    let variation = Variation {
        executions: u64::from_le_bytes(take(&mut bytes)?),
        deviations_ns2: u128::from_le_bytes(take(&mut bytes)?),
        degrees: u64::from_le_bytes(take(&mut bytes)?),
    };
    let row = RankStatistics { ranks, visits, inclusive, exclusive, variation };
    (ranks > 0 || row == RankStatistics::default()).then_some(row)
}

fn spread_from(bytes: &mut &[u8]) -> Option<Spread> {
    let spread = Spread {
        sum_ns: u128::from_le_bytes(take(bytes)?),
        variance_ns2: u128::from_le_bytes(take(bytes)?),
        min_ns: u64::from_le_bytes(take(bytes)?),
        max_ns: u64::from_le_bytes(take(bytes)?),
        max_rank: u32::from_le_bytes(take(bytes)?),
        max_host: HostId::from_bits(u32::from_le_bytes(take(bytes)?)),
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
        let one = RankStatistics::of_one_rank(3, HostId::of_name("a"), 2, 20, 5);
        let times =
            UsageOverRanks { total_max_ns: 9, useful_max_ns: 9, ..UsageOverRanks::default() };
        let good = Statistics::from_rows(vec![one]).with_times(times).to_bytes();
        assert_eq!(good.len(), Statistics::HEAD_BYTES + Statistics::ROW_BYTES);
        let check = |offset: usize, byte: u8| {
            let mut bad = good.clone();
            bad[offset] = byte;
            assert_eq!(Statistics::from_bytes(&bad), None, "byte {offset} = {byte}");
        };
        check(20, 8); // more useful time than total time
        check(28, 1); // also in the sums
        let row = Statistics::HEAD_BYTES;
        check(row + 8, 0); // no rank, yet visits
        check(row + 12, 19); // a sum below the maximum
        check(row + 44, 21); // a minimum above the maximum
        assert_eq!(Statistics::from_bytes(&good[1..]), None);
        assert_eq!(Statistics::from_bytes(&[]), None);
    }
}
