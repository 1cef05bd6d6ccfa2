//! What the last rank of an operation tells the others, where they are on several hosts.
//!
//! Nobody knows who is last before all have come, and nobody can look at a page of another host.
//! So when ranks have waited long enough on a communicator, the last of that operation tells all
//! others what it did, by one more operation on the twin. All ranks decide by the same numbers,
//! those of the exchange, that it does. What was waited for before is explained by it, too.
//!
//! The root of an operation from it decides by itself, and says so in the exchange.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use tinyprof_messages::delay::Instance;

use super::exchange::Exchanged;
use crate::communicators::{self, Communicator, Twin};
use crate::library::Mpi;

/// The waiting that is worth it, in ns.
const WAITED_NS: u64 = 1_000_000;
/// The least time between two times, in ns: it takes less than 1/100 of it.
const EACH_NS: u64 = 20_000_000;
/// The words that are handed out: how many are told, and these.
const WORDS: usize = 512;
/// The same, as MPI counts.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "512")]
const LENGTH: c_int = WORDS as c_int;
/// The bit of the names of twins whose root has told.
const OF_ROOT: u64 = 1 << 63;

/// The waiting on the twins, by their names.
static TWINS: Mutex<BTreeMap<u64, Waiting>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    /// That of the first ranks since they were told, in ns.
    sum_ns: u64,
    told_ns: u64,
    number: u64,
}

impl Waiting {
    /// Adds an operation for which the last rank came at `last_ns`, and returns whether it tells.
    fn add(&mut self, waited_ns: u64, last_ns: u64) -> bool {
        self.sum_ns = self.sum_ns.saturating_add(waited_ns);
        let is_due = self.sum_ns >= WAITED_NS && last_ns >= self.told_ns.saturating_add(EACH_NS);
        if is_due {
            *self = Self { sum_ns: 0, told_ns: last_ns, number: self.number + 1 };
        }
        is_due
    }
}

/// Returns whether the root of an operation, which it enters at `now_ns`, is to tell of itself.
pub(super) fn is_due(twin: &Twin, now_ns: u64) -> bool {
    let mut twins = TWINS.lock().unwrap_or_else(PoisonError::into_inner);
    twins.entry(name(twin) | OF_ROOT).or_default().add(WAITED_NS, now_ns)
}

/// Returns a name of a twin on which its ranks agree, not 0.
pub(super) fn name(twin: &Twin) -> u64 {
    (u64::from(twin.number) << 32 | u64::from(twin.epoch)) + 1
}

/// Returns the names of a twin and of that of the world: its ranks have both.
pub(super) fn names(mpi: &Mpi, twin: &Twin) -> [u64; 2] {
    let world = communicators::get(mpi, mpi.abi.world).and_then(Communicator::twin);
    [name(twin), world.as_ref().map_or(0, name)]
}

/// Lets the last rank tell the others, if that is due after an exchange: `own` returns what it
/// tells, and `hear` gets it on all ranks. Collective over the twin, whose ranks have the same
/// result of the exchange. Returns the operation behind which they are compared.
pub(super) fn tell(
    mpi: &Mpi,
    twin: &Twin,
    rank: u32,
    all: &Exchanged,
    own: impl FnOnce(&mut [u64]) -> usize,
    hear: impl FnOnce(&[u64]),
) -> Option<Instance> {
    let communicator = name(twin);
    let (last_ns, waited_ns) = (all.last_ns(), all.longest_ns());
    let number = {
        let mut twins = TWINS.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = twins.entry(communicator).or_default();
        waiting.add(waited_ns, last_ns).then_some(waiting.number)?
    };
    hand_out(mpi, twin, (rank, all.last_rank()), own, hear);
    Some(Instance { communicator, number })
}

/// Hands out on all ranks what one tells. Collective over the twin.
pub(super) fn hand_out(
    mpi: &Mpi,
    twin: &Twin,
    (rank, from): (u32, u32),
    own: impl FnOnce(&mut [u64]) -> usize,
    hear: impl FnOnce(&[u64]),
) {
    let mut words = [0; WORDS];
    if rank == from {
        let (number, room) = words.split_at_mut(1);
        number[0] = own(room) as u64;
    }
    let (place, root) = (words.as_mut_ptr().cast(), from.cast_signed());
    // SAFETY: the twin is live, all its ranks have decided the same by the same numbers and call
    // this one now, and the array is as long.
    let code = unsafe { mpi.bcast(place, LENGTH, mpi.abi.word, root, twin.handle) };
    let told = usize::try_from(words[0]).unwrap_or(0).min(WORDS - 1);
    hear(if code == 0 { &words[1..=told] } else { &[] });
}

/// Forgets a twin that is freed.
pub(super) fn forget(twin: &Twin) {
    let mut twins = TWINS.lock().unwrap_or_else(PoisonError::into_inner);
    for of in [0, OF_ROOT] {
        twins.remove(&(name(twin) | of));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_when_enough_was_waited_and_not_often() {
        let mut waiting = Waiting::default();
        let second = 1_000_000_000;
        assert!(!waiting.add(WAITED_NS - 1, second));
        assert!(waiting.add(1, second + 1), "both together");
        assert!(!waiting.add(9 * WAITED_NS, second + EACH_NS));
        assert!(waiting.add(0, second + 1 + EACH_NS), "what was waited before counts");
        assert_eq!((waiting.number, waiting.sum_ns), (2, 0));
    }
}
