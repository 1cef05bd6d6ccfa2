//! Collectives built from point-to-point messages along trees, for wires that can only send and
//! receive.
//!
//! They are used by virtual ranks, and by the study on a simulated network, where the library's own
//! collectives are linear or polling loops. No rank sends more than log P messages in any of them
//! except a gather, whose root receives one from each member.

use std::rc::Rc;
use std::task::Poll;

use super::{Communicator, Interrupted, Interruption};

/// A carrier of messages between the ranks of a world.
pub trait Wire {
    /// Returns the rank of the caller, 0-based.
    fn rank(&self) -> u32;

    /// Returns the number of ranks, at least 1.
    fn size(&self) -> u32;

    /// Sends to one rank. Messages between the same two ranks arrive in order.
    fn send(&self, to: u32, bytes: &[u8]);

    /// Returns the next message from one rank. Returns `None` if it has not arrived yet; the caller
    /// is then polled again when it has. A wire that can block does so instead.
    fn receive(&self, from: u32) -> Option<Vec<u8>>;

    /// Returns whether a rank that waits for a message is to be interrupted, as by a deadline.
    fn is_late(&self) -> bool {
        false
    }
}

/// A range of consecutive ranks on a wire.
pub(crate) struct ByHand<W> {
    wire: Rc<W>,
    first: u32,
    rank: u32,
    size: u32,
}

impl<W: Wire> ByHand<W> {
    /// Creates a communicator of all ranks of `wire`.
    pub(crate) fn new(wire: W) -> Self {
        let (rank, size) = (wire.rank(), wire.size());
        Self { wire: Rc::new(wire), first: 0, rank, size }
    }

    fn put(&self, to: u32, bytes: &[u8]) {
        assert!(to < self.size, "rank {to} is not one of {}", self.size);
        self.wire.send(self.first + to, bytes);
    }

    /// Reduces words to rank 0 along a binomial tree. `unite` adds the words of later ranks to the
    /// caller's own.
    async fn reduce(
        &self,
        mut words: Vec<u64>,
        unite: impl Fn(&mut [u64], &[u64]),
    ) -> Result<Vec<u64>, Interrupted> {
        let mut distance = 1;
        while distance < self.size {
            if self.rank & distance != 0 {
                self.put(self.rank - distance, &to_bytes(&words));
                break;
            }
            if let Some(from) = self.rank.checked_add(distance).filter(|&from| from < self.size) {
                let later = self.receive(from, words.len() * 8).await?;
                unite(&mut words, &to_words(&later));
            }
            distance *= 2;
        }
        Ok(words)
    }
}

fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn to_words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

impl<W: Wire> Communicator for ByHand<W> {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    async fn all_reduce(
        &self,
        maxima: &[u64],
        sums: &[u64],
    ) -> Result<(Vec<u64>, Vec<u64>), Interrupted> {
        let unite = |words: &mut [u64], later: &[u64]| {
            for (at, (word, &theirs)) in words.iter_mut().zip(later).enumerate() {
                *word =
                    if at < maxima.len() { theirs.max(*word) } else { word.wrapping_add(theirs) };
            }
        };
        let reduced = self.reduce([maxima, sums].concat(), unite).await?;
        let mut reduced = to_words(&self.broadcast(to_bytes(&reduced)).await?);
        let sums = reduced.split_off(maxima.len());
        Ok((reduced, sums))
    }

    async fn broadcast(&self, mut bytes: Vec<u8>) -> Result<Vec<u8>, Interrupted> {
        // The lowest set bit of a rank is its distance below its parent; rank 0 has no parent.
        let own = if self.rank == 0 {
            self.size.next_power_of_two()
        } else {
            self.rank & self.rank.wrapping_neg()
        };
        if self.rank != 0 {
            bytes = self.receive(self.rank - own, bytes.len()).await?;
        }
        let mut distance = own / 2;
        while distance > 0 {
            if let Some(to) = self.rank.checked_add(distance).filter(|&to| to < self.size) {
                self.put(to, &bytes);
            }
            distance /= 2;
        }
        Ok(bytes)
    }

    async fn gather(&self, bytes: Vec<u8>, lengths: &[usize]) -> Result<Vec<Vec<u8>>, Interrupted> {
        if self.rank != 0 {
            if !bytes.is_empty() {
                self.put(0, &bytes);
            }
            return Ok(Vec::new());
        }
        assert_eq!(lengths[0], bytes.len(), "rank 0 knows its own length");
        let mut gathered = vec![bytes];
        for (from, &length) in (0..).zip(lengths).skip(1) {
            gathered.push(if length > 0 { self.receive(from, length).await? } else { Vec::new() });
        }
        Ok(gathered)
    }

    async fn send(&self, to: u32, bytes: Vec<u8>) -> Result<(), Interrupted> {
        self.put(to, &bytes);
        Ok(())
    }

    async fn receive(&self, from: u32, length: usize) -> Result<Vec<u8>, Interrupted> {
        let bytes = std::future::poll_fn(|_| match self.wire.receive(self.first + from) {
            Some(bytes) => Poll::Ready(Ok(bytes)),
            None if self.wire.is_late() => Poll::Ready(Err(Interrupted {
                cause: Interruption::Failed { reason: "a rank is late".to_owned() },
                is_reporter: false,
            })),
            None => Poll::Pending,
        })
        .await?;
        assert_eq!(
            bytes.len(),
            length,
            "the length that rank {} expects of rank {from}",
            self.rank
        );
        Ok(bytes)
    }

    fn subgroup(&self, first: u32, size: u32) -> Self {
        let rank = self.rank.checked_sub(first).filter(|rank| *rank < size);
        let rank = rank.expect("the caller is one of the subgroup");
        Self { wire: Rc::clone(&self.wire), first: self.first + first, rank, size }
    }
}
