//! The hot path: what happens when a region is entered and left.
//!
//! Steady state, after a callpath has been seen once on a thread: no heap allocation, no lock, no
//! formatting, no I/O, no panic. One thread writes each arena; everything that another thread may
//! read is an atomic that is loaded and stored relaxed, under a sequence counter a record.
//!
//! ```text
//! thread -> segments -> arena -> log, lookup -> element -> node -> segment
//!                         |
//!                         +---> budget -> clock; site, describe, alone; boundary
//! calibration -> arena
//! keyed, filter -> site
//! ```

mod alone;
mod arena;
pub(crate) mod boundary;
pub(crate) mod budget;
pub(crate) mod calibration;
pub(crate) mod clock;
mod describe;
mod element;
pub(crate) mod filter;
mod keyed;
mod log;
mod lookup;
mod node;
mod segment;
pub(crate) mod segments;
mod site;
pub(crate) mod thread;

#[cfg(any(test, feature = "tracing"))]
pub(crate) use arena::Entered;
pub(crate) use arena::{Arena, Before, InFlight, MetricReading, Place, Reading, Visit};
pub(crate) use keyed::KeyedSites;
pub(crate) use segment::Line;
pub use site::Site;
