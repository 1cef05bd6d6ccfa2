//! Virtual ranks: tasks of one thread that exchange bytes through mailboxes. Deterministic, and a hundred thousand
//! of them fit in a test.
//!
//! Each has a clock of its own, which messages move as the `LogGP` model says: `overhead` at both ends, `latency` on
//! the way, and `gap` a byte at the sender and at the receiver, whose messages come in one after the other.
//!
//! A rank that a message wakes runs next. So a message is taken soon after it was sent, and what the ranks of one
//! group sent is gone before the next group begins: memory does not grow with what all ranks send together.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::by_hand::{ByHand, Parting, Wire};

/// What a message costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogGp {
    /// From the last byte at the sender to the last byte at the receiver, in nanoseconds.
    pub latency_ns: u64,
    /// What a rank does for one message, at either end, in nanoseconds.
    pub overhead_ns: u64,
    /// What a byte takes on the link of either end, in picoseconds.
    pub gap_ps_a_byte: u64,
}

/// What a rank has spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Its clock, in nanoseconds.
    pub clock_ns: u64,
    /// Messages that it sent.
    pub messages_sent: u64,
    /// Messages that it received.
    pub messages_received: u64,
    /// Bytes that it sent.
    pub bytes_sent: u64,
    /// Bytes that it received.
    pub bytes_received: u64,
}

/// One rank's account, which the ranks' programs may look at and let time pass on.
pub type Account = Rc<Cell<Spent>>;

/// Channel, sender, receiver.
type Address = (u32, u32, u32);

struct Letter {
    arrival_ns: u64,
    bytes: Vec<u8>,
}

struct World {
    size: u32,
    costs: LogGp,
    /// Letters on their way. An address without any has no entry, or there would be one for each message ever sent.
    mail: RefCell<HashMap<Address, VecDeque<Letter>>>,
    /// The addresses that a rank has looked at in vain.
    awaited: RefCell<HashSet<Address>>,
    /// The ranks that can go on, the next one first.
    ready: RefCell<VecDeque<u32>>,
    bytes_on_the_way: Cell<u64>,
    bytes_on_the_way_max: Cell<u64>,
}

/// One rank's end of the mailboxes.
pub(crate) struct VirtualWire {
    world: Rc<World>,
    rank: u32,
    account: Account,
}

/// One rank's end of a communicator.
pub(crate) type VirtualRank = ByHand<VirtualWire>;

/// What came of a run.
pub(crate) struct Finished<T> {
    /// What each rank returned.
    pub(crate) results: Vec<T>,
    /// The most bytes that were sent and not yet received.
    pub(crate) bytes_on_the_way_max: u64,
}

/// Runs `program` on `size` ranks for which messages cost nothing, and returns what each of them returned.
///
/// # Panics
/// If the ranks wait for each other forever, or messages are left over at the end.
#[cfg(test)]
pub(crate) fn run<T, F: Future<Output = T>>(size: u32, program: impl Fn(VirtualRank) -> F) -> Vec<T> {
    run_timed(size, LogGp::default(), None, |rank, _| program(rank)).results
}

/// The same with what messages cost, and a `parting` if splits shall send none. The program gets the account of
/// its rank.
///
/// # Panics
/// If the ranks wait for each other forever, or messages are left over at the end.
pub(crate) fn run_timed<T, F: Future<Output = T>>(
    size: u32,
    costs: LogGp,
    parting: Option<&Parting>,
    program: impl Fn(VirtualRank, Account) -> F,
) -> Finished<T> {
    let world = Rc::new(World {
        size,
        costs,
        mail: RefCell::default(),
        awaited: RefCell::default(),
        ready: RefCell::new((0..size).collect()),
        bytes_on_the_way: Cell::new(0),
        bytes_on_the_way_max: Cell::new(0),
    });
    // A task is made when its rank first runs, and dropped when it is done.
    let mut tasks: Vec<Option<Pin<Box<F>>>> = (0..size).map(|_| None).collect();
    let mut results: Vec<Option<T>> = (0..size).map(|_| None).collect();
    while let Some(rank) = world.next() {
        let at = rank as usize;
        if results[at].is_some() {
            continue;
        }
        let task = tasks[at].get_or_insert_with(|| {
            let account = Account::default();
            let wire = VirtualWire { world: Rc::clone(&world), rank, account: Rc::clone(&account) };
            Box::pin(program(ByHand::new(wire, parting.cloned()), account))
        });
        if let Poll::Ready(value) = task.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            results[at] = Some(value);
            tasks[at] = None;
        }
    }
    let results: Option<Vec<T>> = results.into_iter().collect();
    let results = results.expect("no rank can go on and not all are done: the ranks wait for each other");
    assert!(world.mail.borrow().is_empty(), "messages that nobody received");
    Finished { results, bytes_on_the_way_max: world.bytes_on_the_way_max.get() }
}

impl World {
    fn next(&self) -> Option<u32> {
        self.ready.borrow_mut().pop_front()
    }
}

impl VirtualWire {
    fn spend(&self, on: impl FnOnce(&mut Spent)) -> u64 {
        let mut spent = self.account.get();
        on(&mut spent);
        self.account.set(spent);
        spent.clock_ns
    }

    /// How long these bytes occupy a link.
    fn gap_ns(&self, bytes: u64) -> u64 {
        bytes * self.world.costs.gap_ps_a_byte / 1000
    }
}

impl Wire for VirtualWire {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.world.size
    }

    fn send(&self, to: u32, channel: u32, bytes: &[u8]) {
        let length = bytes.len() as u64;
        let sent_ns = self.spend(|spent| {
            spent.clock_ns += self.world.costs.overhead_ns + self.gap_ns(length);
            spent.messages_sent += 1;
            spent.bytes_sent += length;
        });
        let arrival_ns = sent_ns + self.world.costs.latency_ns;
        let address = (channel, self.rank, to);
        let letter = Letter { arrival_ns, bytes: bytes.to_vec() };
        self.world.mail.borrow_mut().entry(address).or_default().push_back(letter);
        let on_the_way = self.world.bytes_on_the_way.get() + length;
        self.world.bytes_on_the_way.set(on_the_way);
        self.world.bytes_on_the_way_max.set(self.world.bytes_on_the_way_max.get().max(on_the_way));
        if self.world.awaited.borrow_mut().remove(&address) {
            self.world.ready.borrow_mut().push_front(to);
        }
    }

    fn receive(&self, from: u32, channel: u32) -> Option<Vec<u8>> {
        let address = (channel, from, self.rank);
        let mut mail = self.world.mail.borrow_mut();
        let Some(letters) = mail.get_mut(&address) else {
            self.world.awaited.borrow_mut().insert(address);
            return None;
        };
        let letter = letters.pop_front();
        if letters.is_empty() {
            mail.remove(&address);
        }
        let Letter { arrival_ns, bytes } = letter?;
        let length = bytes.len() as u64;
        self.spend(|spent| {
            let link_free_ns = spent.clock_ns + self.gap_ns(length);
            spent.clock_ns = link_free_ns.max(arrival_ns) + self.world.costs.overhead_ns;
            spent.messages_received += 1;
            spent.bytes_received += length;
        });
        self.world.bytes_on_the_way.set(self.world.bytes_on_the_way.get() - length);
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::Communicator;

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
    fn groups_may_be_interleaved_and_split_again() {
        let results = run(12, |c| async move {
            let third = c.split(c.rank() % 3).await;
            let half = third.split(third.rank() / 2).await;
            let own = u8::try_from(c.rank()).unwrap();
            (third.gather(&[own]).await, half.gather(&[own]).await)
        });
        assert_eq!(results[1], (vec![1, 4, 7, 10], vec![1, 4]));
        assert_eq!(results[7], (vec![], vec![7, 10]));
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

    #[test]
    #[should_panic(expected = "nobody received")]
    fn a_message_that_nobody_wants_is_noticed() {
        run(2, |c| async move { c.send(1 - c.rank(), &[1]).await });
    }

    #[test]
    fn clocks_follow_the_model() {
        let costs = LogGp { latency_ns: 1000, overhead_ns: 100, gap_ps_a_byte: 2000 };
        let clocks = run_timed(3, costs, None, |c, account| async move {
            if c.rank() == 0 {
                c.receive(1).await;
                c.receive(2).await;
            } else {
                c.send(0, &[0; 50]).await;
            }
            account.get()
        });
        // Sent at 100 + 50 * 2, there 1000 later; the second was there too, and occupies the link of rank 0 next.
        let clock_ns: Vec<_> = clocks.results.iter().map(|spent| spent.clock_ns).collect();
        assert_eq!(clock_ns, [1300 + 100 + 100, 200, 200]);
        let (first, second) = (clocks.results[0], clocks.results[1]);
        assert_eq!((first.messages_received, first.bytes_received, first.messages_sent), (2, 100, 0));
        assert_eq!((second.messages_sent, second.bytes_sent), (1, 50));
    }

    #[test]
    fn the_busiest_rank_of_a_tree_sends_and_receives_log_p_messages() {
        let all = run_timed(4096, LogGp::default(), None, |c, account| async move {
            c.all_max(&[1]).await;
            account.get()
        });
        let most = |of: fn(&Spent) -> u64| all.results.iter().map(of).max();
        assert_eq!((most(|s| s.messages_sent), most(|s| s.messages_received)), (Some(12), Some(12)));
    }

    #[test]
    fn what_a_group_sent_is_gone_before_the_next_begins() {
        let parting: Parting = Rc::new(|colour| colour * 16..colour * 16 + 16);
        let finished = run_timed(4096, LogGp::default(), Some(&parting), |c, _| async move {
            c.all_max(&[1]).await;
            c.split(c.rank() / 16).await.gather(&[0; 1000]).await;
        });
        assert!(finished.bytes_on_the_way_max < 2 * 16_000, "{}", finished.bytes_on_the_way_max);
    }
}
