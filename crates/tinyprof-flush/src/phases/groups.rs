//! Groups of consecutive ranks, each of which sends to its first rank, the aggregator that collects
//! and writes.

use super::chunks;
use super::tree::{self, Reduction};
use crate::communicator::{Communicator, Interrupted};

/// The groups of a run, known to every rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Groups {
    /// A number of groups whose sizes differ by at most one. They take no memory, however many
    /// ranks there are.
    Even { size: u32, groups: u32 },
    /// Groups that begin with the given ranks, the first of which is 0.
    Runs { size: u32, first_ranks: Vec<u32> },
}

/// One group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The number of this group, 0-based.
    pub(super) number: u32,
    /// The first rank, which is the aggregator.
    pub(super) first_rank: u32,
    /// The number of ranks.
    pub(super) ranks: u32,
}

impl Groups {
    /// Returns the number of groups.
    pub(super) fn count(&self) -> u32 {
        match self {
            Self::Even { groups, .. } => *groups,
            Self::Runs { first_ranks, .. } => narrow(first_ranks.len()),
        }
    }

    /// Returns the first rank of group `number`, or the number of ranks for the number after the
    /// last group.
    pub(super) fn aggregator(&self, number: u32) -> u32 {
        match self {
            Self::Even { size, groups } => {
                let first = u64::from(number) * u64::from(*size) / u64::from(*groups);
                u32::try_from(first).expect("a first rank is below the number of ranks")
            }
            Self::Runs { size, first_ranks } => {
                first_ranks.get(number as usize).copied().unwrap_or(*size)
            }
        }
    }

    /// Returns the group that `rank` is in.
    pub(super) fn group_of(&self, rank: u32) -> Group {
        let number = match self {
            Self::Even { size, groups } => {
                let number = u64::from(rank) * u64::from(*groups) / u64::from(*size);
                let number = u32::try_from(number).expect("there are no more groups than ranks");
                // Rounding may have given a number that is one too low.
                number + u32::from(self.aggregator(number + 1) <= rank)
            }
            Self::Runs { first_ranks, .. } => {
                narrow(first_ranks.partition_point(|&first| first <= rank)) - 1
            }
        };
        let first_rank = self.aggregator(number);
        Group { number, first_rank, ranks: self.aggregator(number + 1) - first_rank }
    }

    /// Returns the number of ranks in the largest group.
    pub(super) fn largest(&self) -> u32 {
        match self {
            Self::Even { size, groups } => size.div_ceil(*groups),
            Self::Runs { size, first_ranks } => {
                let ends = first_ranks.iter().skip(1).chain([size]);
                ends.zip(first_ranks).map(|(end, first)| end - first).max().unwrap_or(0)
            }
        }
    }

    /// Creates a group for each run of consecutive ranks on one host. Collective.
    ///
    /// Host names are compared along a tree: `MPI_Comm_split_type` would not return while a rank is
    /// stopped.
    pub(super) async fn of_hosts(
        communicator: &impl Communicator,
        host: &str,
        chunk_bytes: usize,
    ) -> Result<Self, Interrupted> {
        let own = Hosts { first: host.to_owned(), last: host.to_owned(), runs: vec![1] };
        let (size, rank) = (communicator.size(), communicator.rank());
        let all =
            tree::reduce(communicator, size, rank, |p| p, own, &Joined { chunk_bytes }).await?;
        let runs = all.map(|hosts| hosts.runs.iter().flat_map(|r| r.to_le_bytes()).collect());
        let runs = chunks::broadcast(communicator, runs.unwrap_or_default(), chunk_bytes).await?;
        let lengths = runs.as_chunks::<4>().0.iter().map(|length| u32::from_le_bytes(*length));
        let first_ranks = lengths.scan(0, |next, length| {
            let first = *next;
            *next += length;
            Some(first)
        });
        Ok(Self::Runs { size, first_ranks: first_ranks.collect() })
    }
}

/// Neighbouring ranks: the hosts at their ends, and the number of ranks on each host in turn.
#[derive(Clone, Debug)]
struct Hosts {
    first: String,
    last: String,
    runs: Vec<u32>,
}

struct Joined {
    chunk_bytes: usize,
}

impl Reduction for Joined {
    type Value = Hosts;

    async fn hand_over(
        &self,
        to: &impl Communicator,
        rank: u32,
        value: Hosts,
    ) -> Result<(), Interrupted> {
        let mut message = (value.first.len() as u64).to_le_bytes().to_vec();
        message.extend((value.last.len() as u64).to_le_bytes());
        message.extend(value.first.as_bytes());
        message.extend(value.last.as_bytes());
        message.extend(value.runs.iter().flat_map(|run| run.to_le_bytes()));
        chunks::send(to, rank, &message, self.chunk_bytes).await
    }

    async fn absorb(
        &self,
        from: &impl Communicator,
        rank: u32,
        value: &mut Hosts,
    ) -> Result<(), Interrupted> {
        let message = chunks::receive(from, rank, self.chunk_bytes).await?;
        let Some(later) = decode(&message) else {
            // Groups only affect speed: the profile is correct with any of them.
            return Ok(());
        };
        let mut runs = later.runs.into_iter();
        if later.first == value.last
            && let (Some(ours), Some(theirs)) = (value.runs.last_mut(), runs.next())
        {
            *ours += theirs;
        }
        value.runs.extend(runs);
        value.last = later.last;
        Ok(())
    }
}

fn decode(message: &[u8]) -> Option<Hosts> {
    let (first, rest) = message.split_first_chunk()?;
    let (last, rest) = rest.split_first_chunk()?;
    let length = |bytes: &[u8; 8]| usize::try_from(u64::from_le_bytes(*bytes)).ok();
    let (first, rest) = rest.split_at_checked(length(first)?)?;
    let (last, runs) = rest.split_at_checked(length(last)?)?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let runs = runs.as_chunks::<4>().0.iter().map(|run| u32::from_le_bytes(*run)).collect();
    Some(Hosts { first: text(first)?, last: text(last)?, runs })
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("there are no more groups than ranks")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::virtual_ranks;

    #[track_caller]
    fn check_covers(groups: &Groups, size: u32) -> Vec<u32> {
        let mut sizes = vec![0; groups.count() as usize];
        for rank in 0..size {
            let group = groups.group_of(rank);
            sizes[group.number as usize] += 1;
            assert!(
                group.first_rank <= rank && rank < group.first_rank + group.ranks,
                "{groups:?} {rank}"
            );
            assert_eq!(group.first_rank, groups.aggregator(group.number));
        }
        for rank in 0..size {
            let group = groups.group_of(rank);
            assert_eq!(sizes[group.number as usize], group.ranks);
        }
        assert_eq!(sizes.iter().max(), Some(&groups.largest()));
        sizes
    }

    #[test]
    fn groups_are_consecutive_and_even() {
        for size in 1..70 {
            for groups in 1..=size {
                let sizes = check_covers(&Groups::Even { size, groups }, size);
                let (min, max) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
                assert!(*min >= 1 && max - min <= 1, "{sizes:?}");
            }
        }
    }

    #[test]
    fn a_group_is_a_run_of_ranks_on_one_host() {
        let cases: [(&[&str], &[u32]); 6] = [
            (&["a"], &[1]),
            (&["a", "a", "b", "b", "b"], &[2, 3]),
            (&["a", "b", "a", "b"], &[1, 1, 1, 1]),
            (&["a"; 37], &[37]),
            (&["a", "", "", "größe", "größe", "größe", "a"], &[1, 2, 3, 1]),
            (&["b", "a", "a", "a", "a", "a", "a", "c", "c"], &[1, 6, 2]),
        ];
        for (hosts, expected) in cases {
            let size = u32::try_from(hosts.len()).unwrap();
            for limit in [1, 1000] {
                let all = virtual_ranks::run(size, |c| async move {
                    Groups::of_hosts(&c, hosts[c.rank() as usize], limit).await.unwrap()
                });
                assert!(all.iter().all(|groups| *groups == all[0]), "the same on every rank");
                assert_eq!(check_covers(&all[0], size), expected, "{hosts:?}");
            }
        }
    }
}
