//! The hot path: entering and leaving a region.
//!
//! In the steady state, after a thread has seen a callpath once, there is no heap allocation, no
//! lock, no formatting, no I/O, and no panic. One thread writes each arena. Everything that another
//! thread may read is an atomic with relaxed loads and stores, under one sequence counter per
//! record.
//!
//! ```text
//! thread -> segments -> arena -> log, lookup -> element -> node -> segment
//!                         |
//!                         +---> budget -> clock; site, describe, reentrancy; flush point
//! calibration -> arena
//! keyed, call_site -> site_table; keyed, call_site, filter -> site
//! ```

mod arena;
pub(crate) mod budget;
pub(crate) mod calibration;
mod call_site;
pub(crate) mod clock;
#[cfg(feature = "alloc")]
mod counting;
mod current;
mod describe;
mod element;
pub(crate) mod events;
pub(crate) mod filter;
pub(crate) mod flush_point;
mod keyed;
mod log;
mod lookup;
mod made_thread;
mod node;
mod reentrancy;
mod segment;
pub(crate) mod segments;
mod site;
mod site_table;
pub(crate) mod thread;
mod workers;

#[cfg(any(test, feature = "tracing"))]
pub(crate) use arena::Entered;
pub(crate) use arena::{
    Arena, Before, EventReading, HeldSamples, InFlight, MetricReading, OpenRegion, Reading, Visit,
    begin_processor_time, install_sampling,
};
pub use arena::{EdgeInstance, Like, VISIT_UNITS};
pub use call_site::{CALLERS_MAX, CallChain, CallPlace, ScriptLine};
pub(crate) use call_site::{call_site, program};
#[cfg(feature = "alloc")]
pub use counting::Counting;
pub(crate) use keyed::KeyedSites;
pub use made_thread::new_worker;
pub use site::Site;
pub use site::has_regions;
pub(crate) use tinyprof_segment::words::Line;
pub use workers::{NewWorker, Start, announce_threads};
