//! Which companion belongs to which message.
//!
//! Messages with the same communicator, source and tag form a *stream*. MPI keeps their order: the
//! k-th message of a stream goes to the k-th receive that was *posted* for it, even if the receives
//! complete in another order. So the sender counts its messages, and the receiver counts its
//! receives as they are posted: equal numbers belong together.
//!
//! ```text
//!  sender     Streams::next            k of a message      -> its companion, on the twin
//!  receiver   Receives::post, turn     k of a receive      -> Arrivals::claim(stream, k)
//!             Arrivals::arrived        companions that came, until a receive asks for them
//! ```
//!
//! A receive with a wildcard has no number before its source and tag are known, nor has a receive
//! that was posted after it and could have matched the same stream. Such a receive waits for its
//! turn. Where no order can be known any more, the answer is "unclear", and is counted: never a
//! guess.
//!
//! All tables are fixed: nothing allocates once they are made. A table that is full makes numbers
//! unclear.

mod arrivals;
mod receives;
mod streams;
mod wanted;

pub use arrivals::{Arrivals, Claim};
pub use receives::{Posted, Receives, Ticket, Turn};
pub use streams::Streams;
pub use wanted::{Stream, Wanted};

#[cfg(test)]
mod tests;
