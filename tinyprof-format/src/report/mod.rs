//! Statistics over ranks, and what people and programs read of them.
//!
//! * [`Statistics`]: one row per callpath, mergeable in any order, of fixed width on the wire.
//! * [`Report`]: the statistics with the facts of the run; as text ([`Report::to_text`]) and as JSON
//!   ([`Report::to_json`]).
//! * [`Report::to_tree_text`], [`Report::to_top_text`]: the callpaths alone, and those that take the most time.
//! * [`info_text`]: the facts of a manifest.
//!
//! Names come from the program that was measured and are never trusted: whatever could move a terminal's
//! cursor, reorder a line or hide in it is escaped, see [`escaped`].

mod columns;
mod date;
mod info;
mod json;
mod metric_block;
mod metrics;
mod names;
mod notes;
mod outline;
mod run;
mod statistics;
mod text;
mod top;
mod tree;
mod units;
mod wire;

pub use info::info_text;
pub use json::json_text;
pub use names::escaped;
pub use run::Report;
pub use statistics::{RankStatistics, Spread, Statistics};
pub use text::TextOptions;
