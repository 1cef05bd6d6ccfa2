//! A picture of a running job, of the same size for any number of ranks.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! An agent on each host makes a [`Picture`] of the ranks there. Pictures are merged on their way
//! to who watches, as often and in whatever order it suits: the result is the same. `tinyprof top`
//! on one host uses the same function, with one picture.
//!
//! ```
//! use tinyprof_format::model::{
//!     CallpathId, CallpathValues, EventMap, ExecutionSummary, RankFacts, Region, SiteId,
//! };
//! use tinyprof_picture::frame::{self, Sent};
//! use tinyprof_picture::Picture;
//!
//! let site = SiteId::from_bits(1);
//! let rank = |host: &str, ns| {
//!     let executions = vec![ExecutionSummary::of_one_visit(0, ns)];
//!     let values = CallpathValues { executions, ..CallpathValues::default() };
//!     let record = (CallpathId::root(site), None, Region::named(site, "solve"), values);
//!     EventMap::from_records([record], RankFacts { host: host.into(), ..RankFacts::default() })
//! };
//! // Two ranks, each on a host of its own: one sends what it sees, the other one adds it.
//! let mut sent = Vec::new();
//! frame::write(&mut sent, &Picture::of_ranks(&[EventMap::default(), rank("b", 30)]))?;
//! let mut all = Picture::of_ranks(&[rank("a", 10), EventMap::default()]);
//! let of_b = frame::read(&mut sent.as_slice())?.and_then(Sent::picture).expect("one picture");
//! all.merge(&of_b)?;
//!
//! assert_eq!((all.size, all.ranks.to_string(), all.hosts), (2, "0-1".to_owned(), 2));
//! let places = &all.places[0];
//! assert_eq!((places.slowest[0].host.as_str(), places.bins[1]), ("b", Some(30)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod few;
pub mod frame;
mod picture;
mod places;

pub use few::{FEW, Few};
pub use picture::{Missing, Picture, SameRanks, Still};
pub use places::{BINS, Places, Slow};
pub use tinyprof_vocabulary::RankSet;
