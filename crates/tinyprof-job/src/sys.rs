//! Calls into MPI. This is the only module of the crate with unsafe code. Calls go to the `PMPI_`
//! names, so that neither our wrappers nor other tools take them for the program's.
//!
//! * `process`: the parent and the owner of this process.
//! * `shared_words`: numbers that several processes share.
//! * `program`: the program's communicators.
//! * `private_communicator`: our own communicator, whose errors are returned as values (`error`).
//! * `pending`: operations under way, and the memory that MPI reads and writes meanwhile.

mod error;
mod pending;
mod private_communicator;
mod process;
mod program;
mod shared_words;

pub use pending::Pending;
pub(crate) use private_communicator::room;
pub use private_communicator::{Duplicate, Operator, Parcel, PrivateCommunicator, Reduction};
pub(crate) use process::{effective_user_id, socket_peer, started_as};
pub use program::{ProgramCommunicator, is_usable};
pub(crate) use program::{is_serialised, library_version, program_number};
pub(crate) use shared_words::SharedWords;
pub use tinyprof_pmpi::Handle;
