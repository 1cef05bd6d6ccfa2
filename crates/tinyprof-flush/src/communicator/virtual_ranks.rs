//! Virtual ranks: tasks of one thread that exchange bytes through mailboxes. They are
//! deterministic, and a hundred thousand of them fit in a test.
//!
//! Each has its own clock, which messages advance according to the `LogGP` model: `overhead` at
//! both ends, `latency` on the way, and `gap` a byte at the sender and at the receiver, whose
//! messages come in one after the other.
//!
//! A rank that a message wakes runs next. So a message is received soon after it was sent, and the
//! messages of one group are gone before the next group begins: memory does not grow with the
//! messages of all ranks together.

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::by_hand::{ByHand, Wire};

/// The cost of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogGp {
    /// Time from the last byte at the sender to the last byte at the receiver, in nanoseconds.
    pub latency_ns: u64,
    /// Time that a rank spends on one message, at either end, in nanoseconds.
    pub overhead_ns: u64,
    /// Time that a byte takes on the link of either end, in picoseconds.
    pub gap_ps_a_byte: u64,
}

/// The time and messages that a rank has spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankAccount {
    /// The rank's clock, in nanoseconds.
    pub clock_ns: u64,
    /// The number of messages sent.
    pub messages_sent: u64,
    /// The number of messages received.
    pub messages_received: u64,
    /// The number of bytes sent.
    pub bytes_sent: u64,
    /// The number of bytes received.
    pub bytes_received: u64,
}

/// One rank's account. The ranks' programs may read it, and advance its clock.
pub type Account = Rc<Cell<RankAccount>>;

/// The sender and the receiver.
type Address = (u32, u32);

struct Letter {
    arrival_ns: u64,
    bytes: Vec<u8>,
}

/// One message, for tests that count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) bytes: usize,
}

#[derive(Default)]
struct World {
    size: u32,
    costs: LogGp,
    /// True if ranks that wait for others give up, as with a deadline on MPI.
    has_deadline: bool,
    is_late: Cell<bool>,
    /// Every message so far, if the caller asked for them.
    sent: Option<RefCell<Vec<Sent>>>,
    /// The letters on their way. An address without any has no entry; otherwise the map would keep
    /// an entry for each message ever sent.
    mail: RefCell<HashMap<Address, VecDeque<Letter>>>,
    /// The addresses that a rank has looked at in vain.
    awaited: RefCell<HashSet<Address>>,
    /// The ranks that can continue, the next one first.
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

/// The result of a run.
pub(crate) struct Finished<T> {
    /// The return value of each rank.
    pub(crate) results: Vec<T>,
    /// The largest number of bytes that were sent and not yet received.
    pub(crate) bytes_on_the_way_max: u64,
    /// Every message, if the caller asked for them.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests count messages one by one"))]
    pub(crate) sent: Vec<Sent>,
}

/// Runs `program` on `size` ranks for which messages cost nothing, and returns the result of each
/// rank.
///
/// # Panics
/// If the ranks wait for each other forever, or messages are left over at the end.
#[cfg(test)]
pub(crate) fn run<T, F: Future<Output = T>>(
    size: u32,
    program: impl Fn(VirtualRank) -> F,
) -> Vec<T> {
    run_counted(size, program).0
}

/// Runs `program` like [`run`], and also returns every message that was sent.
#[cfg(test)]
pub(crate) fn run_counted<T, F: Future<Output = T>>(
    size: u32,
    program: impl Fn(VirtualRank) -> F,
) -> (Vec<T>, Vec<Sent>) {
    let world = World { size, sent: Some(RefCell::default()), ..World::default() };
    let finished = run_in(world, |rank, _| program(rank));
    (finished.results, finished.sent)
}

/// Runs `program` like [`run`], but interrupts ranks that wait for each other forever, as by a
/// deadline.
#[cfg(test)]
pub(crate) fn run_with_deadline<T, F: Future<Output = T>>(
    size: u32,
    program: impl Fn(VirtualRank) -> F,
) -> Vec<T> {
    run_in(World { size, has_deadline: true, ..World::default() }, |rank, _| program(rank)).results
}

/// Runs `program` with the given cost of messages. The program gets the account of its rank.
///
/// # Panics
/// If the ranks wait for each other forever, or messages are left over at the end.
pub(crate) fn run_timed<T, F: Future<Output = T>>(
    size: u32,
    costs: LogGp,
    program: impl Fn(VirtualRank, Account) -> F,
) -> Finished<T> {
    run_in(World { size, costs, ..World::default() }, program)
}

fn run_in<T, F: Future<Output = T>>(
    world: World,
    program: impl Fn(VirtualRank, Account) -> F,
) -> Finished<T> {
    let size = world.size;
    world.ready.borrow_mut().extend(0..size);
    let world = Rc::new(world);
    // A task is created when its rank first runs, and dropped when it is done.
    let mut tasks: Vec<Option<Pin<Box<F>>>> = (0..size).map(|_| None).collect();
    let mut results: Vec<Option<T>> = (0..size).map(|_| None).collect();
    while let Some(rank) = world.next(&results) {
        let at = rank as usize;
        if results[at].is_some() {
            continue;
        }
        let task = tasks[at].get_or_insert_with(|| {
            let account = Account::default();
            let wire = VirtualWire { world: Rc::clone(&world), rank, account: Rc::clone(&account) };
            Box::pin(program(ByHand::new(wire), account))
        });
        if let Poll::Ready(value) = task.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            results[at] = Some(value);
            tasks[at] = None;
        }
    }
    let results: Option<Vec<T>> = results.into_iter().collect();
    let results =
        results.expect("no rank can go on and not all are done: the ranks wait for each other");
    let is_clean = world.has_deadline || world.mail.borrow().is_empty();
    assert!(is_clean, "messages that nobody received");
    let sent = world.sent.as_ref().map(RefCell::take).unwrap_or_default();
    Finished { results, bytes_on_the_way_max: world.bytes_on_the_way_max.get(), sent }
}

impl World {
    /// Returns the rank that runs next. If none can continue and there is a deadline, the waiting
    /// ranks are late.
    fn next<T>(&self, results: &[Option<T>]) -> Option<u32> {
        let mut ready = self.ready.borrow_mut();
        if ready.is_empty() && self.has_deadline && !self.is_late.replace(true) {
            ready.extend(
                (0..).zip(results).filter(|(_, result)| result.is_none()).map(|(rank, _)| rank),
            );
        }
        ready.pop_front()
    }
}

impl VirtualWire {
    fn spend(&self, on: impl FnOnce(&mut RankAccount)) -> u64 {
        let mut spent = self.account.get();
        on(&mut spent);
        self.account.set(spent);
        spent.clock_ns
    }

    /// Returns the time that these bytes occupy a link.
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

    fn send(&self, to: u32, bytes: &[u8]) {
        let length = bytes.len() as u64;
        let sent_ns = self.spend(|spent| {
            spent.clock_ns += self.world.costs.overhead_ns + self.gap_ns(length);
            spent.messages_sent += 1;
            spent.bytes_sent += length;
        });
        let arrival_ns = sent_ns + self.world.costs.latency_ns;
        let address = (self.rank, to);
        if let Some(sent) = &self.world.sent {
            sent.borrow_mut().push(Sent { from: self.rank, to, bytes: bytes.len() });
        }
        let letter = Letter { arrival_ns, bytes: bytes.to_vec() };
        self.world.mail.borrow_mut().entry(address).or_default().push_back(letter);
        let on_the_way = self.world.bytes_on_the_way.get() + length;
        self.world.bytes_on_the_way.set(on_the_way);
        self.world.bytes_on_the_way_max.set(self.world.bytes_on_the_way_max.get().max(on_the_way));
        if self.world.awaited.borrow_mut().remove(&address) {
            self.world.ready.borrow_mut().push_front(to);
        }
    }

    fn is_late(&self) -> bool {
        self.world.is_late.get()
    }

    fn receive(&self, from: u32) -> Option<Vec<u8>> {
        let address = (from, self.rank);
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
