//! Why ranks wait: the cause, its place, and what to do, from a profile.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! ```text
//!  values of a callpath  ->  Run      activities, waiting and calls, by rank
//!  Run                   ->  Blame    waiting by cause: an activity of a rank
//!  both                  ->  findings, each with its chain, place and advice
//! ```
//!
//! * [`WhyBuilder`]: takes a profile callpath by callpath.
//! * [`recorded_causes`], [`kept_causes`]: what a rank has recorded of causes, as a profile stores
//!   it: in its memory, and in the segment that survives it.
//! * [`Why`]: the findings, the verdict in one line, and waiting by cause; as text and as JSON.
//!
//! This crate reads and writes no file, and knows no MPI, no clock and no threads. Names in its
//! texts are escaped for a terminal; those in its values are not.
#![forbid(unsafe_code)]

mod blame;
mod facts;
mod finding;
mod findings;
mod json;
mod phrases;
mod place;
mod recorded;
mod report;
mod text;
mod why;

pub use finding::{Finding, Kind, Link};
pub use place::Place;
pub use recorded::{kept_causes, recorded_causes};
pub use why::{Why, WhyBuilder};

/// Returns a time as a floating-point number. 53 bits are enough for shares and sums of times.
pub(crate) fn ns(of: u128) -> f64 {
    tinyprof_report::cells::ratio(of, 1)
}
