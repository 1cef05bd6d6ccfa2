//! Calls into MPI that rsmpi has no safe form for. With `hooks`, this is the only module of the
//! crate with unsafe code. Calls go to the `PMPI_` names: no tool, and no hook of ours, sees them
//! as the program's.
//!
//! * `process`: the parent and the owner of this process.
//! * `shared_words`: numbers that several processes share.
//! * `private_communicator`: our own communicator, whose errors are returned as values (`error`).
//! * `pending`: operations under way, and the memory that MPI reads and writes meanwhile.

mod error;
mod pending;
mod private_communicator;
mod process;
mod shared_words;

pub(crate) use pending::Pending;
pub(crate) use private_communicator::{
    Operator, PrivateCommunicator, Reduction, is_usable, program_number, room,
};
pub(crate) use process::{effective_user_id, socket_peer, started_as};
pub(crate) use shared_words::SharedWords;
