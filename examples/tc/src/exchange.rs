//! The exchange of tuples between ranks.

use tinyprof::{profile, record};

use crate::ranks::Ranks;
use crate::relation::Tuple;

/// Outgoing tuples, by destination rank.
#[derive(Debug)]
pub(crate) struct Outbox<const N: usize> {
    of_rank: Vec<Vec<Tuple<N>>>,
}

impl<const N: usize> Outbox<N> {
    pub(crate) fn new(ranks: usize) -> Self {
        Self { of_rank: vec![Vec::new(); ranks] }
    }

    pub(crate) fn post(&mut self, rank: usize, tuple: Tuple<N>) {
        self.of_rank[rank].push(tuple);
    }

    /// Removes duplicates, so that fewer tuples are sent than were found.
    pub(crate) fn deduplicate(&mut self) {
        for tuples in &mut self.of_rank {
            tuples.sort_unstable();
            tuples.dedup();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.of_rank.iter().map(Vec::len).sum()
    }
}

/// Sends all tuples and returns the received ones. Collective.
#[profile]
pub(crate) fn exchange<const N: usize>(ranks: &impl Ranks, outbox: Outbox<N>) -> Vec<Tuple<N>> {
    record!(tuples = outbox.len());
    let (words, counts) = pack(outbox);
    let received = alltoall(ranks, &words, &counts);
    unpack(&received)
}

#[profile]
fn pack<const N: usize>(outbox: Outbox<N>) -> (Vec<u32>, Vec<usize>) {
    let counts = outbox.of_rank.iter().map(|tuples| tuples.len() * N).collect();
    let mut words = Vec::with_capacity(outbox.len() * N);
    outbox.of_rank.into_iter().for_each(|tuples| words.extend_from_slice(tuples.as_flattened()));
    (words, counts)
}

#[profile]
fn alltoall(ranks: &impl Ranks, words: &[u32], counts: &[usize]) -> Vec<u32> {
    ranks.all_to_all(words, counts)
}

#[profile]
fn unpack<const N: usize>(words: &[u32]) -> Vec<Tuple<N>> {
    let (tuples, rest) = words.as_chunks();
    assert!(rest.is_empty(), "ranks send whole tuples");
    tuples.to_vec()
}
