//! Collective operations under way: what has to be kept from the call that starts one to the call
//! that completes its request, at the request's place in the table of requests.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::operation::Meet;
use super::shared::Operation;
use crate::communicators::{Communicator, Twin};
use crate::function::Shape;
use crate::requests::SLOTS;

static STARTED: [Slot; SLOTS] = [const { Slot::new() }; SLOTS];

struct Slot {
    /// The place in the table of names, and the number of the board in the high half.
    place: AtomicU64,
    /// The number that all ranks know, and that of the operation in the low half, which is 0 if it
    /// is not under way. 0: nobody follows it.
    instance: AtomicU64,
    /// The shape, the logarithm of the bytes from bit 8 on, rounded up, and the root in the high
    /// half.
    kind: AtomicU64,
}

impl Slot {
    const fn new() -> Self {
        Self { place: AtomicU64::new(0), instance: AtomicU64::new(0), kind: AtomicU64::new(0) }
    }
}

/// Keeps the operation of the request at a place.
pub(crate) fn keep(place: usize, meet: &Meet) {
    let slot = &STARTED[place];
    let (twin, operation) = (meet.twin, meet.operation);
    let board = u64::from(twin.board.unwrap_or(0));
    slot.place.store(u64::from(twin.number) | board << 32, Relaxed);
    let number = operation.map_or(0, |operation| operation.number());
    slot.instance.store(u64::from(twin.epoch) << 32 | u64::from(number), Relaxed);
    let root = u64::from(meet.root.cast_unsigned());
    let log = meet.bytes.checked_next_power_of_two().map_or(u64::BITS - 1, u64::ilog2);
    slot.kind.store(u64::from(meet.shape.to_number()) | u64::from(log) << 8 | root << 32, Relaxed);
}

/// Notes that nobody follows the request at a place.
pub(crate) fn keep_none(place: usize) {
    STARTED[place].instance.store(0, Relaxed);
}

/// Notes that the operation of the request at a place is not under way any more.
pub(crate) fn complete(place: usize) {
    let instance = &STARTED[place].instance;
    instance.store(instance.load(Relaxed) >> 32 << 32, Relaxed);
}

/// Returns the operation of the request at a place, which was made with `group`.
#[expect(clippy::cast_possible_truncation, reason = "the halves of words")]
pub(crate) fn at(place: usize, group: &'static Communicator) -> Option<Meet> {
    let slot = &STARTED[place];
    let (instance, kind) = (slot.instance.load(Relaxed), slot.kind.load(Relaxed));
    let (epoch, number) = ((instance >> 32) as u32, instance as u32);
    let place = slot.place.load(Relaxed);
    let board = (place >> 32) as u32;
    let shape = Shape::from_number(kind as u8 as u32).filter(|_| epoch != 0)?;
    let handle = crate::library::mpi().abi.comm_null;
    let twin = Twin { handle, number: place as u32, epoch, board: Some(board) };
    let operation = if number == 0 { None } else { Operation::of(&twin, number) };
    let root = ((kind >> 32) as u32).cast_signed();
    let bytes = 1 << (kind >> 8 & 63);
    Some(Meet { shape, root, bytes, group, twin, operation })
}
