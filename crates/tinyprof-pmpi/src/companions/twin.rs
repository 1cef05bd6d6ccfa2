//! Twins: what we have of the program's communicators.
//!
//! A twin is made where the program makes a communicator, of one whose ranks are all known to have
//! us. Where ranks share memory it is a number and a board there, which they find by its name.
//! Elsewhere it is a communicator of our own, made by splitting: duplicating would call functions
//! of the program that copy its attributes, and making it out of one of ours
//! (`MPI_Comm_create_group`) crashes MPICH 4.0. If threads may call MPI at the same time, there is
//! none elsewhere: in Open MPI 4.1 threads that make communicators at a time hang more often, the
//! more operations there are between them.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use super::group::{maxima, split};
use super::naming::{self, Making, Object};
use super::shared;
use super::state;
use super::threads;
use crate::abi::Handle;
use crate::communicators::{self, Communicator, Twin};
use crate::library::Mpi;

/// The most twins at a time: the numbers of communicators are scarce in MPI.
const TWINS_MAX: u32 = 256;

/// The numbers in use, a bit for each.
static USED: [AtomicU32; TWINS_MAX as usize / 32] =
    [const { AtomicU32::new(0) }; TWINS_MAX as usize / 32];
static NEXT_EPOCH: AtomicU32 = AtomicU32::new(1);

fn take_number() -> Option<u32> {
    (0..TWINS_MAX).find(|number| {
        let bit = 1 << (number % 32);
        USED[*number as usize / 32].fetch_or(bit, Relaxed) & bit == 0
    })
}

fn give_number_back(number: u32) {
    USED[number as usize / 32].fetch_and(!(1 << (number % 32)), Relaxed);
}

/// Makes the twin of the world. Collective.
pub(super) fn make_of_world(mpi: &Mpi) {
    let world = mpi.abi.world;
    // A rank that cannot remember the communicator takes part, so that no rank has a twin.
    let known = communicators::get(mpi, world);
    let twin = if shared::is_on() {
        shared::join(mpi, known.map(|_| naming::WORLD))
    } else {
        make_communicator(mpi, world, known.is_some())
    };
    if let (Some(twin), Some(known)) = (twin, known) {
        known.set_twin(twin);
    }
}

/// Makes the twin of a communicator that the program has made from `parent`. Collective over it
/// where memory is not shared.
pub(crate) fn make(mpi: &Mpi, handle: Handle, parent: &Communicator, making: Making) {
    let known = communicators::get(mpi, handle);
    let twin = if shared::is_on() {
        shared::join(mpi, known.and_then(|known| naming::name(known, making, &parent.made)))
    } else if threads::are_multiple() {
        None
    } else {
        make_communicator(mpi, handle, known.is_some())
    };
    if let (Some(twin), Some(known)) = (twin, known) {
        known.set_twin(twin);
    }
}

/// Makes the twin of an intercommunicator that two groups have made by a call with this tag, where
/// all of them share memory. Several threads could mix up two of the same groups.
pub(crate) fn make_between(mpi: &Mpi, handle: Handle, tag: i32) {
    if !shared::is_on() || threads::are_multiple() {
        return;
    }
    // Groups of other worlds have no name: nobody follows them.
    if let Some(known) = communicators::get(mpi, handle)
        && let Some(name) = naming::name_between(known, tag)
        && let Some(twin) = shared::join(mpi, Some(name))
    {
        known.set_twin(twin);
    }
}

/// Returns the twin of what all ranks of a communicator are about to make, or have made just now,
/// and is none, where they share memory. All of them have to count it, also if it fails on some.
pub(crate) fn join_object(mpi: &Mpi, group: &Communicator, object: Object) -> Option<Twin> {
    let twin = group.twin().filter(|_| shared::is_on())?;
    let name = naming::name_of_object(twin.epoch, object, group.made.count());
    if group.has_others() { shared::join(mpi, Some(name)) } else { None }
}

/// Returns the twin of a window's locks.
pub(super) fn join_locks(mpi: &Mpi, window: &Twin) -> Option<Twin> {
    shared::join(mpi, Some(naming::name_of_object(window.epoch, Object::Locks, 0)))
}

/// Makes a communicator of our own, with the ranks of the program's.
fn make_communicator(mpi: &Mpi, handle: Handle, is_known: bool) -> Option<Twin> {
    let number = if is_known { take_number() } else { None };
    let make =
        |epoch| Some(Twin { handle: split(mpi, handle, 0)?, number: number?, epoch, board: None });
    let made = agreed_epoch(mpi, handle, number.is_some()).and_then(make);
    if let (None, Some(number)) = (made, number) {
        give_number_back(number);
    }
    made
}

/// Returns the number of a new twin, which is the same on all ranks, or `None` if one of them has
/// no room. Collective.
fn agreed_epoch(mpi: &Mpi, handle: Handle, has_room: bool) -> Option<u32> {
    // The communicator is new, so that no operation of the program is under way on it.
    let own = [u64::from(!has_room), u64::from(NEXT_EPOCH.load(Relaxed))];
    let [is_full, epoch] = maxima(mpi, handle, &own)?;
    let epoch = u32::try_from(epoch).ok()?;
    NEXT_EPOCH.store(epoch.saturating_add(1), Relaxed);
    (is_full == 0).then_some(epoch)
}

/// Frees the twin of a communicator that the program is about to free, and forgets its streams.
pub(crate) fn before_free(mpi: &Mpi, handle: Handle) {
    let Some(known) = communicators::find(handle) else { return };
    let Some(twin) = known.twin() else { return };
    let is_forgotten = state::forget_communicator(mpi, &twin);
    if shared::is_on() {
        // With streams that are counted already nobody can use its number again.
        if is_forgotten {
            shared::leave(&twin, known.places().end);
        }
        return;
    }
    let mut own = twin.handle;
    // SAFETY: the twin is ours, and nobody uses it any more. Messages that are still on their way
    // are recognised by their epoch, should MPI use the twin's place again.
    let _ = unsafe { mpi.comm_free(&raw mut own) };
    if is_forgotten {
        give_number_back(twin.number);
    }
}
