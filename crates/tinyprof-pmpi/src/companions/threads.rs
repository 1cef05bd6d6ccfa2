//! Threads that may call MPI at the same time: which messages only one of them can have sent or
//! received.
//!
//! Messages of a stream are told apart by counting them. A thread counts under a lock, but its
//! messages go, and its receives are posted, before or after that: where two threads are in calls
//! with one stream at the same time, nobody can know the order. Streams of one thread alone stay
//! clear, such as those of threads that have communicators or tags of their own, and so do streams
//! that threads use one after the other.

use std::collections::HashSet;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tinyprof_messages::matching::{Stream, Wanted};
use tinyprof_segment::clock::monotonic_ns;

use crate::library::Mpi;

/// True if threads may call MPI at the same time.
static IS_MULTIPLE: AtomicBool = AtomicBool::new(false);
/// Held while a thread uses what all of them have in common.
static LOCK: Mutex<()> = Mutex::new(());
/// The number of threads that have called MPI.
static THREADS: AtomicU32 = AtomicU32::new(0);
/// The longest time that a call may take to bring a message on its way.
const SETTLING_NS: u64 = 10_000_000;

/// Finds out whether threads may call MPI at the same time.
pub(super) fn begin(mpi: &Mpi) {
    IS_MULTIPLE.store(may_be_multiple(mpi), Relaxed);
}

/// Returns whether threads may call MPI at the same time, as MPI says.
pub(super) fn may_be_multiple(mpi: &Mpi) -> bool {
    mpi.thread_level().is_none_or(|level| level >= mpi.abi.thread_multiple)
}

/// Returns whether all calls of MPI are by one thread, as MPI says.
pub(super) fn calls_one_only(mpi: &Mpi) -> bool {
    mpi.thread_level().is_some_and(|level| level < mpi.abi.thread_serialised)
}

/// Returns whether threads may call MPI at the same time.
#[inline]
pub(crate) fn are_multiple() -> bool {
    IS_MULTIPLE.load(Relaxed)
}

/// Waits until no other thread uses what all of them have in common.
pub(super) fn lock() -> MutexGuard<'static, ()> {
    // A thread that has panicked in there has left numbers behind, and nothing half-made.
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
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

/// What the threads do now, and the streams that several were in calls with at the same time. Used
/// under the lock.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    /// The last operation of each thread, by its number.
    operations: Vec<Operation>,
    sent: HashSet<Stream>,
    received: HashSet<Stream>,
    /// Communicators of which one of the threads receives from any source, or with any tag.
    communicators: HashSet<u32>,
}

/// An operation of a thread, under way while it is in a call.
#[derive(Clone, Copy, Debug, Default)]
struct Operation {
    caller: Option<&'static Caller>,
    sends: Option<Stream>,
    receives: Option<Wanted>,
}

impl Operation {
    fn is_of_another(&self, caller: &Caller) -> bool {
        let is_in_call = |other: &Caller| other.is_in_call.load(SeqCst);
        self.caller.is_some_and(|other| other.number != caller.number && is_in_call(other))
    }
}

impl Sharing {
    /// Notes that a thread begins a call.
    pub(super) fn begin_call(&mut self, caller: &'static Caller) {
        *self.own(caller) = Operation { caller: Some(caller), ..Operation::default() };
    }

    /// Notes that a thread sends a message. Returns whether several threads have sent to the
    /// stream at the same time.
    ///
    /// The second one lets the first finish its call, if that does not take long: a message that
    /// has a number must be on its way before another one is, which has none.
    pub(super) fn sends(&mut self, stream: Stream, caller: &'static Caller) -> bool {
        self.own(caller).sends = Some(stream);
        let is_shared = |operation: &&Operation| {
            operation.sends == Some(stream) && operation.is_of_another(caller)
        };
        if let Some(other) = self.operations.iter().find(is_shared)
            && self.sent.insert(stream)
        {
            let begun_ns = monotonic_ns();
            while other.is_of_another(caller) && monotonic_ns() - begun_ns < SETTLING_NS {
                std::thread::yield_now();
            }
        }
        self.sent.contains(&stream)
    }

    /// Notes that a thread receives. Returns whether several do so at the same time, of
    /// messages that it accepts.
    pub(super) fn receives(&mut self, wanted: &Wanted, caller: &'static Caller) -> bool {
        self.own(caller).receives = Some(*wanted);
        for operation in &self.operations {
            let Some(other) = operation.receives else { continue };
            if !operation.is_of_another(caller) || !other.overlaps(wanted) {
                continue;
            }
            match (other.stream(), wanted.stream()) {
                (Some(stream), Some(_)) => self.received.insert(stream),
                _ => self.communicators.insert(wanted.communicator),
            };
        }
        let is_shared = |stream| self.received.contains(&stream);
        self.communicators.contains(&wanted.communicator) || wanted.stream().is_some_and(is_shared)
    }

    /// Returns whether several threads have received messages of a stream at the same time.
    pub(super) fn is_shared(&self, stream: Stream) -> bool {
        self.received.contains(&stream) || self.communicators.contains(&stream.communicator)
    }

    /// Forgets a communicator that is freed.
    pub(super) fn remove(&mut self, communicator: u32) {
        self.sent.retain(|stream| stream.communicator != communicator);
        self.received.retain(|stream| stream.communicator != communicator);
        self.communicators.remove(&communicator);
    }

    fn own(&mut self, caller: &'static Caller) -> &mut Operation {
        let number = caller.number as usize;
        if self.operations.len() <= number {
            self.operations.resize(number + 1, Operation::default());
        }
        let own = &mut self.operations[number];
        own.caller = Some(caller);
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Stream = Stream { communicator: 3, peer: 1, tag: 5 };

    fn wanted(tag: Option<i32>) -> Wanted {
        Wanted { communicator: 3, source: Some(1), tag }
    }

    fn two_in_calls() -> [&'static Caller; 2] {
        let callers = [Caller::new(), Caller::new()];
        callers.iter().for_each(|caller| caller.is_in_call(true));
        callers
    }

    #[test]
    fn streams_of_two_threads_at_the_same_time_are_unclear() {
        let (mut sharing, [one, two]) = (Sharing::default(), two_in_calls());
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
        assert!(!sharing.is_shared(other));
    }

    #[test]
    fn threads_that_take_turns_do_not_share() {
        let (mut sharing, [one, two]) = (Sharing::default(), two_in_calls());
        for _ in 0..3 {
            for (caller, other) in [(one, two), (two, one)] {
                other.is_in_call(false);
                caller.is_in_call(true);
                assert!(!sharing.sends(OWN, caller));
                assert!(!sharing.receives(&wanted(None), caller));
            }
        }
    }

    #[test]
    fn a_receive_of_any_tag_takes_messages_of_all_threads() {
        let (mut sharing, [one, two]) = (Sharing::default(), two_in_calls());
        assert!(!sharing.receives(&wanted(Some(5)), two));
        assert!(!sharing.receives(&Wanted { source: Some(2), ..wanted(None) }, one));
        assert!(!sharing.is_shared(OWN), "it is from another source");
        assert!(sharing.receives(&wanted(None), one));
        assert!(sharing.is_shared(OWN), "the numbers of the other thread are wrong, too");
    }
}
