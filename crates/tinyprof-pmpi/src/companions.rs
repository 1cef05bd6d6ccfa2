//! Level `messages`: a companion travels beside each message, and tells who waited for whom.
//!
//! ```text
//!  MPI_Init           agreement   the same level on all ranks, one clock, the twin of the world
//!  new communicator   twin        its duplicate, on which companions travel
//!  every call         state       the flow from the call before, the cost of measuring
//!  before a send      announce    the number of the message, and its companion
//!  receive from any   turn        if the order is kept: which message is to be taken
//!  after a receive    receive     the number of the receive, its companion, the waiting
//!  after a collective meet        who came last
//!  where it waited    causes      what has made the other rank late
//!  MPI_Finalize       state       the facts of the clock; companions that nobody took
//! ```
//!
//! What messages mean is in `tinyprof-messages`; here are MPI and the program's calls. In a program
//! with `MPI_THREAD_MULTIPLE` each thread has a clock of its own, and messages are numbered under a
//! lock. Nobody can know the order of messages that several threads send, or receive, with one
//! communicator, partner and tag: these are unclear.

mod absences;
mod agreement;
mod announce;
mod blocked;
mod carrier;
mod causes;
mod common;
mod common_clock;
mod deferred;
mod delivered;
mod distance;
mod ends;
mod exchange;
mod explained;
mod exposure;
mod group;
pub(crate) mod held;
mod hosts;
mod kept_ends;
mod locks;
mod mail;
mod meet;
mod naming;
pub(crate) mod objects;
mod operation;
mod order;
mod overhead;
mod partner;
mod posted;
mod probe;
mod processor;
mod receive;
mod received;
mod shared;
pub(crate) mod started;
mod state;
mod telling;
mod tests;
mod threads;
mod turn;
mod twin;

pub(crate) use agreement::agree_on_messages;
pub use agreement::{Agreed, Wish};
pub(crate) use announce::{Message, Mode};
pub(crate) use blocked::{BLOCKED_NS_MIN, Receiver};
pub(crate) use common_clock::{Span, now_ns, ns_of};
pub(crate) use deferred::Early;
pub(crate) use distance::compare_again;
pub(crate) use ends::{begins, has_begun, has_ended, is_ending};
pub(crate) use exposure::Access;
pub(crate) use group::maxima_of_world;
pub(crate) use held::{Envelope, Held};
pub(crate) use naming::{By, Making, Object};
pub(crate) use objects::{Joint, Lock, Removed};
pub(crate) use operation::{Meet, Met};
pub(crate) use probe::Probed;
pub(crate) use received::Received;
pub(crate) use state::{
    Completed, Flow, Plain, State, conclude_before, end, is_in_call, is_on, keeps_order, plain,
    store_facts, with,
};
pub(crate) use threads::are_multiple;
pub(crate) use turn::Turn;
pub(crate) use twin::{before_free, join_object, make as make_twin, make_between};
