//! Virtual ranks: tasks of one thread that exchange bytes through mailboxes. Deterministic, and thousands of
//! them fit in a test.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::{Communicator, Interrupted};

/// Messages on their way, by sender and receiver.
type Mail = HashMap<(u32, u32), VecDeque<Vec<u8>>>;

#[derive(Default)]
struct World {
    mail: RefCell<Mail>,
    /// Counts sends and receipts: if a round over all tasks adds none, they wait for each other.
    events: Cell<u64>,
    /// Whether ranks that wait for others give up: what a deadline does on MPI.
    has_deadline: bool,
    is_late: Cell<bool>,
    /// Every message so far.
    sent: RefCell<Vec<Sent>>,
}

/// One message, for those who count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) bytes: usize,
}

/// One rank's end of a window of consecutive ranks.
pub(crate) struct VirtualRank {
    world: Rc<World>,
    first: u32,
    rank: u32,
    size: u32,
}

/// Runs `program` on `size` ranks and returns what each of them returned.
///
/// # Panics
/// If the ranks wait for each other forever, or messages are left over at the end.
pub(crate) fn run<T, F: Future<Output = T>>(size: u32, program: impl Fn(VirtualRank) -> F) -> Vec<T> {
    run_counted(size, program).0
}

/// The same, and every message that was sent meanwhile.
pub(crate) fn run_counted<T, F: Future<Output = T>>(
    size: u32,
    program: impl Fn(VirtualRank) -> F,
) -> (Vec<T>, Vec<Sent>) {
    run_in(World::default(), size, program)
}

/// The same, but ranks that wait for each other forever are interrupted, as by a deadline.
pub(crate) fn run_with_deadline<T, F: Future<Output = T>>(
    size: u32,
    program: impl Fn(VirtualRank) -> F,
) -> Vec<T> {
    run_in(World { has_deadline: true, ..World::default() }, size, program).0
}

fn run_in<T, F: Future<Output = T>>(
    world: World,
    size: u32,
    program: impl Fn(VirtualRank) -> F,
) -> (Vec<T>, Vec<Sent>) {
    let world = Rc::new(world);
    let rank = |rank| VirtualRank { world: Rc::clone(&world), first: 0, rank, size };
    let mut tasks: Vec<(Pin<Box<F>>, Option<T>)> =
        (0..size).map(|r| (Box::pin(program(rank(r))), None)).collect();
    while tasks.iter().any(|(_, result)| result.is_none()) {
        let before = world.events.get();
        let mut finished = 0;
        for (task, result) in tasks.iter_mut().filter(|(_, result)| result.is_none()) {
            if let Poll::Ready(value) = task.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                *result = Some(value);
                finished += 1;
            }
        }
        let is_stuck = finished == 0 && world.events.get() == before;
        assert!(!is_stuck || world.has_deadline, "the ranks wait for each other");
        world.is_late.set(is_stuck);
    }
    let is_clean = world.has_deadline || world.mail.borrow().values().all(VecDeque::is_empty);
    assert!(is_clean, "messages that nobody received");
    (tasks.into_iter().filter_map(|(_, result)| result).collect(), world.sent.take())
}

impl VirtualRank {
    fn event(&self) {
        self.world.events.set(self.world.events.get() + 1);
    }

    fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
        bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word))
    }
}

impl Communicator for VirtualRank {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    async fn all_reduce(&self, maxima: &[u64], sums: &[u64]) -> Result<(Vec<u64>, Vec<u64>), Interrupted> {
        let own: Vec<u64> = [maxima, sums].concat();
        let gathered = self.gather(&own.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>()).await?;
        let mut result = own.clone();
        for (word, at) in Self::words(&gathered).skip(own.len()).zip((0..own.len()).cycle()) {
            result[at] = if at < maxima.len() { result[at].max(word) } else { result[at].wrapping_add(word) };
        }
        let reduced = self.broadcast(result.iter().flat_map(|w| w.to_le_bytes()).collect()).await?;
        let mut reduced: Vec<u64> = Self::words(&reduced).collect();
        let sums = reduced.split_off(maxima.len());
        Ok((reduced, sums))
    }

    async fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Interrupted> {
        if self.rank != 0 {
            return self.receive(0, bytes.len()).await;
        }
        for to in 1..self.size {
            self.send(to, &bytes).await?;
        }
        Ok(bytes)
    }

    async fn gather(&self, bytes: &[u8]) -> Result<Vec<u8>, Interrupted> {
        let lengths = vec![bytes.len(); self.size as usize];
        self.gather_varying(bytes, &lengths).await
    }

    async fn gather_varying(&self, bytes: &[u8], lengths: &[usize]) -> Result<Vec<u8>, Interrupted> {
        if self.rank != 0 {
            if !bytes.is_empty() {
                self.send(0, bytes).await?;
            }
            return Ok(Vec::new());
        }
        assert_eq!(lengths[0], bytes.len(), "rank 0 knows its own length");
        let mut all = bytes.to_vec();
        for (from, &length) in (0..).zip(lengths).skip(1).filter(|(_, length)| **length > 0) {
            all.extend(self.receive(from, length).await?);
        }
        Ok(all)
    }

    async fn send(&self, to: u32, bytes: &[u8]) -> Result<(), Interrupted> {
        assert!(to < self.size, "rank {to} is not one of {}", self.size);
        self.event();
        let key = (self.first + self.rank, self.first + to);
        self.world.sent.borrow_mut().push(Sent { from: key.0, to: key.1, bytes: bytes.len() });
        self.world.mail.borrow_mut().entry(key).or_default().push_back(bytes.to_vec());
        Ok(())
    }

    async fn receive(&self, from: u32, length: usize) -> Result<Vec<u8>, Interrupted> {
        std::future::poll_fn(|_| {
            let key = (self.first + from, self.first + self.rank);
            match self.world.mail.borrow_mut().get_mut(&key).and_then(VecDeque::pop_front) {
                Some(bytes) => {
                    self.event();
                    assert_eq!(bytes.len(), length, "the length that {key:?} expect");
                    Poll::Ready(Ok(bytes))
                }
                None if self.world.is_late.get() => {
                    Poll::Ready(Err(Interrupted { reason: "a rank is late".into(), speaks: false }))
                }
                None => Poll::Pending,
            }
        })
        .await
    }

    fn subgroup(&self, first: u32, size: u32) -> Self {
        let rank = self.rank.checked_sub(first).filter(|rank| *rank < size);
        let rank = rank.expect("the caller is one of the subgroup");
        Self { world: Rc::clone(&self.world), first: self.first + first, rank, size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_agree_on_any_number_of_ranks() {
        for size in [1, 2, 3, 7, 64] {
            let results = run(size, |c| async move {
                let rank = u8::try_from(c.rank()).unwrap();
                let reduced = c.all_reduce(&[u64::from(rank), 5], &[1, u64::MAX]).await.unwrap();
                let first = c.rank() / 3 * 3;
                let group = c.subgroup(first, 3.min(c.size() - first));
                let gathered = group.gather(&[rank]).await.unwrap();
                let said = c.broadcast(vec![rank]).await.unwrap();
                (reduced, gathered, said)
            });
            for (rank, (reduced, gathered, said)) in (0_u8..).zip(results) {
                let (ranks, last) = (u64::from(size), u64::from(size - 1));
                assert_eq!(reduced, (vec![last, 5], vec![ranks, ranks.wrapping_neg()]));
                assert_eq!(said, [0]);
                let last = (rank + 3).min(u8::try_from(size).unwrap());
                let expected: Vec<u8> = if rank % 3 == 0 { (rank..last).collect() } else { Vec::new() };
                assert_eq!(gathered, expected);
            }
        }
    }

    #[test]
    #[should_panic(expected = "wait for each other")]
    fn a_rank_that_never_comes_is_noticed() {
        run(2, |c| async move {
            if c.rank() == 0 {
                drop(c.receive(1, 1).await);
            }
        });
    }
}
