//! Threads that may call MPI at the same time: which streams only one of them uses.
//!
//! Messages of a stream are told apart by counting them. A thread counts under a lock, but its
//! messages go, and its receives are posted, before or after that: where two threads use a stream
//! at the same time, nobody can know the order. Streams of one thread alone stay clear, such as
//! those of threads that have communicators or tags of their own.

use std::collections::HashMap;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tinyprof_messages::matching::{Stream, Wanted};

use crate::library::Mpi;

/// True if threads may call MPI at the same time.
static IS_MULTIPLE: AtomicBool = AtomicBool::new(false);
/// Held while a thread uses what all of them have in common.
static LOCK: Mutex<()> = Mutex::new(());
/// The number of threads that have called MPI.
static THREADS: AtomicU32 = AtomicU32::new(0);
/// The longest time that a call may take to bring a message on its way.
const SETTLING: Duration = Duration::from_millis(10);
/// The most streams whose threads are known.
const STREAMS_MAX: usize = 1 << 16;

/// Finds out whether threads may call MPI at the same time.
pub(super) fn begin(mpi: &Mpi) {
    IS_MULTIPLE.store(may_be_multiple(mpi), Relaxed);
}

/// Returns whether threads may call MPI at the same time, as MPI says.
pub(super) fn may_be_multiple(mpi: &Mpi) -> bool {
    mpi.thread_level().is_none_or(|level| level >= mpi.abi.thread_multiple)
}

/// Returns whether threads may call MPI at the same time.
#[inline]
pub(crate) fn are_multiple() -> bool {
    IS_MULTIPLE.load(Relaxed)
}

/// Waits until no other thread uses what all of them have in common.
pub(super) fn lock() -> MutexGuard<'static, ()> {
    // A thread that has panicked in there has left numbers behind, and nothing half-made.
    LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A thread that calls MPI.
#[derive(Debug)]
pub(super) struct Caller {
    number: u32,
    /// True while it is in a call that sends or receives.
    is_in_call: AtomicBool,
}

impl Caller {
    /// Returns a new one, which lives as long as the process.
    pub(super) fn new() -> &'static Self {
        let number = THREADS.fetch_add(1, Relaxed);
        Box::leak(Box::new(Self { number, is_in_call: AtomicBool::new(false) }))
    }

    /// Says whether the thread is in a call that sends or receives.
    #[inline]
    pub(super) fn is_in_call(&self, is: bool) {
        self.is_in_call.store(is, SeqCst);
    }
}

/// Returns whether only one thread has called MPI.
#[inline]
pub(super) fn is_one() -> bool {
    THREADS.load(Relaxed) <= 1
}

/// Which thread uses which streams. Used under the lock.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    senders: HashMap<Stream, User>,
    receivers: HashMap<Stream, User>,
    /// The threads that receive on communicators, by the numbers of these.
    communicators: HashMap<u32, Receivers>,
    is_full: bool,
}

/// Who uses a stream.
#[derive(Clone, Copy, Debug)]
enum User {
    One(&'static Caller),
    Several,
}

/// The threads that receive on a communicator.
#[derive(Clone, Copy, Debug)]
struct Receivers {
    first: u32,
    are_several: bool,
    /// True if one of them has received from any source, or with any tag.
    is_any: bool,
}

impl Sharing {
    /// Takes note that a thread sends a message. Returns whether several threads send to the
    /// stream.
    pub(super) fn sends(&mut self, stream: Stream, caller: &'static Caller) -> bool {
        let is_shared = self.is_full || note(&mut self.senders, stream, caller);
        self.is_full |= self.senders.len() > STREAMS_MAX;
        is_shared
    }

    /// Takes note that a thread receives. Returns whether several do so, of messages that it
    /// accepts.
    pub(super) fn receives(&mut self, wanted: &Wanted, caller: &'static Caller) -> bool {
        let of_communicator = self.communicators.entry(wanted.communicator);
        let receivers = of_communicator.or_insert(Receivers {
            first: caller.number,
            are_several: false,
            is_any: false,
        });
        receivers.are_several |= receivers.first != caller.number;
        let stream = wanted.stream();
        receivers.is_any |= stream.is_none();
        let is_any_shared = receivers.are_several && receivers.is_any;
        let is_shared = stream.is_some_and(|stream| note(&mut self.receivers, stream, caller));
        self.is_full |= self.receivers.len() > STREAMS_MAX;
        is_shared || is_any_shared || self.is_full
    }

    /// Returns whether several threads receive messages of a stream.
    pub(super) fn is_shared(&self, stream: Stream) -> bool {
        let is_any_shared = |receivers: &Receivers| receivers.are_several && receivers.is_any;
        self.is_full
            || matches!(self.receivers.get(&stream), Some(User::Several))
            || self.communicators.get(&stream.communicator).is_some_and(is_any_shared)
    }

    /// Forgets a communicator that is freed.
    pub(super) fn remove(&mut self, communicator: u32) {
        self.senders.retain(|stream, _| stream.communicator != communicator);
        self.receivers.retain(|stream, _| stream.communicator != communicator);
        self.communicators.remove(&communicator);
    }
}

/// Takes note that a thread uses a stream. Returns whether several do. A second one lets the first
/// finish the call that it is in, if that does not take long: a message that has a number must be
/// on its way before another one is, which has none.
fn note(users: &mut HashMap<Stream, User>, stream: Stream, caller: &'static Caller) -> bool {
    let user = users.entry(stream).or_insert(User::One(caller));
    let User::One(first) = *user else { return true };
    if first.number == caller.number {
        return false;
    }
    *user = User::Several;
    let begun = Instant::now();
    while first.is_in_call.load(SeqCst) && begun.elapsed() < SETTLING {
        std::thread::yield_now();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Stream = Stream { communicator: 3, peer: 1, tag: 5 };

    fn wanted(tag: Option<i32>) -> Wanted {
        Wanted { communicator: 3, source: Some(1), tag }
    }

    #[test]
    fn streams_of_one_thread_are_clear_and_those_of_two_are_not() {
        let (mut sharing, [one, two]) = (Sharing::default(), [Caller::new(), Caller::new()]);
        let other = Stream { tag: 6, ..OWN };
        assert!(!sharing.sends(OWN, one) && !sharing.sends(OWN, one));
        assert!(!sharing.sends(other, two));
        assert!(sharing.sends(OWN, two) && sharing.sends(OWN, one));
        assert!(!sharing.sends(other, two));
        assert!(!sharing.receives(&wanted(Some(5)), one), "receiving is for itself");
        assert!(!sharing.receives(&wanted(Some(6)), two));
        assert!(sharing.receives(&wanted(Some(6)), one));
        assert!(sharing.is_shared(other) && !sharing.is_shared(OWN));
        sharing.remove(3);
        assert!(!sharing.is_shared(other) && !sharing.sends(OWN, two));
    }

    #[test]
    fn a_receive_of_any_tag_takes_messages_of_all_threads() {
        let (mut sharing, [one, two]) = (Sharing::default(), [Caller::new(), Caller::new()]);
        assert!(!sharing.receives(&wanted(Some(5)), one));
        assert!(!sharing.receives(&wanted(None), one));
        assert!(!sharing.is_shared(OWN));
        assert!(sharing.receives(&wanted(Some(6)), two));
        assert!(sharing.is_shared(OWN), "the numbers of the other thread are wrong, too");
    }
}
