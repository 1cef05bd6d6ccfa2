//! Points in messages: packed value by value, or as they lie in memory.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;

use crate::arguments::{Arguments, Remedy};
use crate::line::Point;

/// The rank of the master.
pub(crate) const MASTER: i32 = 0;

/// The form of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    /// Bytes, into which each value was packed.
    Packed,
    /// Numbers, as they lie in memory.
    Numbers,
}

impl Form {
    pub(crate) fn of(arguments: &Arguments) -> Self {
        if arguments.remedy.contains(&Remedy::Datatypes) { Self::Numbers } else { Self::Packed }
    }
}

/// Sends points to a rank.
pub(crate) fn send(world: &SimpleCommunicator, to: i32, points: &[Point], form: Form) {
    match form {
        Form::Packed => world.process_at_rank(to).send(&pack(points)[..]),
        Form::Numbers => world.process_at_rank(to).send(points.as_flattened()),
    }
}

/// Receives as many points from a rank as fit.
pub(crate) fn receive(world: &SimpleCommunicator, from: i32, points: &mut [Point], form: Form) {
    let from = world.process_at_rank(from);
    match form {
        Form::Packed => {
            let mut bytes = vec![0_u8; size_of_val(points)];
            from.receive_into(&mut bytes[..]);
            unpack(&bytes, points);
        }
        Form::Numbers => {
            from.receive_into(points.as_flattened_mut());
        }
    }
}

/// Packs points, value by value: as programs do with `MPI_Pack`.
#[profile]
fn pack(points: &[Point]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in points.as_flattened() {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// Unpacks points.
#[profile]
fn unpack(bytes: &[u8], points: &mut [Point]) {
    let (values, _) = bytes.as_chunks::<8>();
    for (to, value) in points.as_flattened_mut().iter_mut().zip(values) {
        *to = f64::from_le_bytes(*value);
    }
}
