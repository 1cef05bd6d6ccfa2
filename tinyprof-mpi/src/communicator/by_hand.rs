//! Collectives made of messages between two ranks, by trees: for what can send and receive and nothing else.
//!
//! Virtual ranks use them, and so does the study on a simulated network, where the library's own collectives are
//! linear or polling loops. No rank sends more than log P messages in any of them but a gather, whose root
//! receives one from each member.

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;
use std::task::Poll;

use super::Communicator;

/// What carries messages between the ranks of a world.
pub trait Wire {
    /// The rank of the caller, 0-based.
    fn rank(&self) -> u32;

    /// The number of ranks; at least 1.
    fn size(&self) -> u32;

    /// Sends to one rank. Messages of the same channel between the same two ranks arrive in their order.
    fn send(&self, to: u32, channel: u32, bytes: &[u8]);

    /// The next message of a channel from one rank; none if it is not there yet, and then the caller is polled again
    /// when it is. What can block does so instead.
    fn receive(&self, from: u32, channel: u32) -> Option<Vec<u8>>;
}

/// The ranks that pass a colour, where that is known to all without a message.
pub type Parting = Rc<dyn Fn(u32) -> Range<u32>>;

/// A group of the ranks that a wire joins.
pub(crate) struct ByHand<W> {
    wire: Rc<W>,
    channel: u32,
    members: Members,
    rank: u32,
    size: u32,
    splits: Cell<u32>,
    parting: Option<Parting>,
}

/// Which rank of the wire each member is. A list would take O(P) memory on each of P ranks.
enum Members {
    Consecutive { first: u32 },
    Listed(Vec<u32>),
}

impl<W: Wire> ByHand<W> {
    /// All ranks of `wire`. With a `parting`, a split sends nothing.
    pub(crate) fn new(wire: W, parting: Option<Parting>) -> Self {
        let (rank, size) = (wire.rank(), wire.size());
        let members = Members::Consecutive { first: 0 };
        Self { wire: Rc::new(wire), channel: 0, members, rank, size, splits: Cell::new(0), parting }
    }

    fn on_wire(&self, rank: u32) -> u32 {
        match &self.members {
            Members::Consecutive { first } => first + rank,
            Members::Listed(ranks) => ranks[rank as usize],
        }
    }

    /// Brings values to rank 0 along a binomial tree; `unite` adds that of later ranks to one's own.
    async fn reduce<T>(
        &self,
        mut value: T,
        encode: impl Fn(&T) -> Vec<u8>,
        unite: impl Fn(&mut T, &[u8]),
    ) -> Option<T> {
        let mut distance = 1;
        while distance < self.size {
            if self.rank & distance != 0 {
                self.send(self.rank - distance, &encode(&value)).await;
                return None;
            }
            if let Some(from) = self.rank.checked_add(distance).filter(|&from| from < self.size) {
                unite(&mut value, &self.receive(from).await);
            }
            distance *= 2;
        }
        Some(value)
    }

    fn part(&self, members: Members, rank: u32, size: u32) -> Self {
        let number = self.splits.get() + 1;
        self.splits.set(number);
        // Groups of the same split may share a channel: no message goes from one to the other.
        let channel = self.channel * 31 + number;
        let wire = Rc::clone(&self.wire);
        Self { wire, channel, members, rank, size, splits: Cell::new(0), parting: None }
    }
}

impl<W: Wire> Communicator for ByHand<W> {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    async fn all_max(&self, words: &[u64]) -> Vec<u64> {
        let bytes = |words: &Vec<u64>| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let absorb = |words: &mut Vec<u64>, later: &[u8]| {
            for (word, theirs) in words.iter_mut().zip(later.as_chunks::<8>().0) {
                *word = (*word).max(u64::from_le_bytes(*theirs));
            }
        };
        let reduced = self.reduce(words.to_vec(), bytes, absorb).await;
        let reduced = self.broadcast(reduced.as_ref().map(bytes).unwrap_or_default()).await;
        reduced.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    }

    async fn broadcast(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        // The lowest bit of a rank is how far below its parent it stands; rank 0 has no parent.
        let own =
            if self.rank == 0 { self.size.next_power_of_two() } else { self.rank & self.rank.wrapping_neg() };
        if self.rank != 0 {
            bytes = self.receive(self.rank - own).await;
        }
        let mut distance = own / 2;
        while distance > 0 {
            if let Some(to) = self.rank.checked_add(distance).filter(|&to| to < self.size) {
                self.send(to, &bytes).await;
            }
            distance /= 2;
        }
        bytes
    }

    async fn gather(&self, bytes: &[u8]) -> Vec<u8> {
        let at_root = if self.rank == 0 { self.size as usize } else { 0 };
        self.gather_varying(bytes, &vec![bytes.len(); at_root]).await
    }

    async fn gather_varying(&self, bytes: &[u8], lengths: &[usize]) -> Vec<u8> {
        if self.rank != 0 {
            self.send(0, bytes).await;
            return Vec::new();
        }
        assert_eq!(lengths[0], bytes.len(), "rank 0 knows its own length");
        let mut all = Vec::with_capacity(lengths.iter().sum());
        all.extend_from_slice(bytes);
        for from in 1..self.size {
            let theirs = self.receive(from).await;
            assert_eq!(lengths[from as usize], theirs.len(), "the length that rank {from} announced");
            all.extend(theirs);
        }
        all
    }

    async fn send(&self, to: u32, bytes: &[u8]) {
        self.wire.send(self.on_wire(to), self.channel, bytes);
    }

    async fn receive(&self, from: u32) -> Vec<u8> {
        let from = self.on_wire(from);
        std::future::poll_fn(|_| self.wire.receive(from, self.channel).map_or(Poll::Pending, Poll::Ready))
            .await
    }

    async fn split(&self, colour: u32) -> Self {
        if let Some(parting) = &self.parting {
            let Range { start, end } = parting(colour);
            assert!((start..end).contains(&self.rank), "rank {} has colour {colour}", self.rank);
            return self.part(Members::Consecutive { first: start }, self.rank - start, end - start);
        }
        // Runs of equal colours in the order of ranks: as many as there are groups, where groups are consecutive.
        let encode = |runs: &Vec<Run>| runs.iter().flat_map(|run| run.to_bytes()).collect::<Vec<u8>>();
        let unite = |runs: &mut Vec<Run>, later: &[u8]| {
            later.as_chunks::<8>().0.iter().for_each(|run| push(runs, Run::read(*run)));
        };
        let runs = self.reduce(vec![Run { colour, ranks: 1 }], encode, unite).await;
        let runs = self.broadcast(runs.as_ref().map(encode).unwrap_or_default()).await;
        let mut ours = Vec::new();
        let mut first = 0;
        for run in runs.as_chunks::<8>().0.iter().map(|run| Run::read(*run)) {
            if run.colour == colour {
                ours.push(first..first + run.ranks);
            }
            first += run.ranks;
        }
        let size = ours.iter().map(ExactSizeIterator::len).sum::<usize>();
        let size = u32::try_from(size).expect("a group has no more ranks than the communicator");
        let before = ours.iter().map(|run| self.rank.clamp(run.start, run.end) - run.start).sum();
        let members = match (&self.members, ours.as_slice()) {
            (Members::Consecutive { .. }, [run]) => Members::Consecutive { first: self.on_wire(run.start) },
            _ => Members::Listed(ours.into_iter().flatten().map(|rank| self.on_wire(rank)).collect()),
        };
        self.part(members, before, size)
    }
}

/// So many neighbouring ranks that pass the same colour.
#[derive(Clone, Copy)]
struct Run {
    colour: u32,
    ranks: u32,
}

impl Run {
    fn to_bytes(self) -> [u8; 8] {
        (u64::from(self.colour) << 32 | u64::from(self.ranks)).to_le_bytes()
    }

    #[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
    fn read(bytes: [u8; 8]) -> Self {
        let word = u64::from_le_bytes(bytes);
        Self { colour: (word >> 32) as u32, ranks: word as u32 }
    }
}

fn push(runs: &mut Vec<Run>, later: Run) {
    match runs.last_mut() {
        Some(last) if last.colour == later.colour => last.ranks += later.ranks,
        _ => runs.push(later),
    }
}
