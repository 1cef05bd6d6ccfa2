//! Virtual ranks: tasks of one thread that exchange bytes through mailboxes. Deterministic, and thousands of
//! them fit in a test.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::Communicator;

/// Messages on their way: by communicator, sender and receiver.
type Mail = HashMap<(u64, u32, u32), VecDeque<Vec<u8>>>;

#[derive(Default)]
struct World {
    mail: RefCell<Mail>,
    /// Counts sends and receipts: if a round over all tasks adds none, they wait for each other.
    events: Cell<u64>,
}

/// One rank's end of a communicator.
pub(crate) struct VirtualRank {
    world: Rc<World>,
    id: u64,
    splits: Cell<u64>,
    rank: u32,
    size: u32,
}

/// Runs `program` on `size` ranks and returns what each of them returned.
///
/// # Panics
/// If the ranks wait for each other forever, or messages are left over at the end.
pub(crate) fn run<T, F: Future<Output = T>>(size: u32, program: impl Fn(VirtualRank) -> F) -> Vec<T> {
    let world = Rc::new(World::default());
    let rank = |rank| VirtualRank { world: Rc::clone(&world), id: 0, splits: Cell::new(0), rank, size };
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
        assert!(finished > 0 || world.events.get() > before, "the ranks wait for each other");
    }
    assert!(world.mail.borrow().values().all(VecDeque::is_empty), "messages that nobody received");
    tasks.into_iter().filter_map(|(_, result)| result).collect()
}

impl VirtualRank {
    fn event(&self) {
        self.world.events.set(self.world.events.get() + 1);
    }
}

impl Communicator for VirtualRank {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    async fn all_max(&self, words: &[u64]) -> Vec<u64> {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut result = words.to_vec();
        let gathered = self.gather(&bytes).await;
        for (word, at) in gathered.as_chunks::<8>().0.iter().zip((0..words.len()).cycle()) {
            result[at] = result[at].max(u64::from_le_bytes(*word));
        }
        let reduced = self.broadcast(result.iter().flat_map(|w| w.to_le_bytes()).collect()).await;
        reduced.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    }

    async fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.rank != 0 {
            return self.receive(0).await;
        }
        for to in 1..self.size {
            self.send(to, &bytes).await;
        }
        bytes
    }

    async fn gather(&self, bytes: &[u8]) -> Vec<u8> {
        let lengths = vec![bytes.len(); self.size as usize];
        self.gather_varying(bytes, &lengths).await
    }

    async fn gather_varying(&self, bytes: &[u8], lengths: &[usize]) -> Vec<u8> {
        if self.rank != 0 {
            self.send(0, bytes).await;
            return Vec::new();
        }
        assert_eq!(lengths[0], bytes.len(), "rank 0 knows its own length");
        let mut all = bytes.to_vec();
        for from in 1..self.size {
            let theirs = self.receive(from).await;
            assert_eq!(lengths[from as usize], theirs.len(), "the length that rank {from} announced");
            all.extend(theirs);
        }
        all
    }

    async fn send(&self, to: u32, bytes: &[u8]) {
        self.event();
        let key = (self.id, self.rank, to);
        self.world.mail.borrow_mut().entry(key).or_default().push_back(bytes.to_vec());
    }

    async fn receive(&self, from: u32) -> Vec<u8> {
        std::future::poll_fn(|_| {
            let key = (self.id, from, self.rank);
            match self.world.mail.borrow_mut().get_mut(&key).and_then(VecDeque::pop_front) {
                Some(bytes) => {
                    self.event();
                    Poll::Ready(bytes)
                }
                None => Poll::Pending,
            }
        })
        .await
    }

    async fn split(&self, colour: u32) -> Self {
        let gathered = self.gather(&colour.to_le_bytes()).await;
        // Rank 0 numbers the members of each group and tells each rank its number and its group's size.
        let mut sizes: HashMap<[u8; 4], u32> = HashMap::new();
        let colours = gathered.as_chunks::<4>().0;
        let numbers: Vec<u32> = colours
            .iter()
            .map(|colour| {
                let size = sizes.entry(*colour).or_default();
                *size += 1;
                *size - 1
            })
            .collect();
        let mut own = (0, 0);
        for ((to, number), colour) in (0..).zip(numbers).zip(colours) {
            let place = [number.to_le_bytes(), sizes[colour].to_le_bytes()].concat();
            if to == 0 {
                own = (number, sizes[colour]);
            } else {
                self.send(to, &place).await;
            }
        }
        if self.rank != 0 {
            let place = self.receive(0).await;
            let word = |at: usize| u32::from_le_bytes(place.as_chunks::<4>().0[at]);
            own = (word(0), word(1));
        }
        let number = self.splits.replace(self.splits.get() + 1) + 1;
        Self {
            world: Rc::clone(&self.world),
            id: (self.id * 31 + number) << 24 | u64::from(colour),
            splits: Cell::new(0),
            rank: own.0,
            size: own.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_agree_on_any_number_of_ranks() {
        for size in [1, 2, 3, 7, 64] {
            let results = run(size, |c| async move {
                let max = c.all_max(&[u64::from(c.rank()), 5]).await;
                let group = c.split(c.rank() / 3).await;
                let gathered = group.gather(&[u8::try_from(c.rank()).unwrap()]).await;
                let said = group.broadcast(vec![u8::try_from(c.rank()).unwrap()]).await;
                (max, gathered, said)
            });
            for (rank, (max, gathered, said)) in (0_u8..).zip(results) {
                assert_eq!(max, [u64::from(size - 1), 5]);
                assert_eq!(said, [rank / 3 * 3]);
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
                c.receive(1).await;
            }
        });
    }
}
