//! Statistics over ranks, and what people and programs read of them.
//!
//! * [`Statistics`]: one row per callpath, mergeable in any order, of fixed width on the wire.
//! * [`Report`]: the statistics with the facts of the run; as text ([`Report::to_text`]) and as JSON
//!   ([`Report::to_json`]).
//! * [`Report::to_tree_text`], [`Report::to_top_text`]: the callpaths alone, and those that take the most time.
//! * [`Report::by_metric`]: the same in the order of a metric that the user names. All of it as CSV, too.
//! * [`info_text`]: the facts of a manifest.
//! * [`cells`], [`csv_line`]: what other tables are made of.
//!
//! Names come from the program that was measured and are never trusted: whatever could move a terminal's
//! cursor, reorder a line or hide in it is escaped, see [`escaped`].

pub mod cells;
mod columns;
mod csv;
mod date;
mod info;
mod json;
mod metric_block;
mod metric_name;
mod metrics;
mod names;
mod notes;
mod order;
mod outline;
mod run;
mod statistics;
mod tables;
mod text;
mod top;
mod tree;
mod units;
mod wire;

pub use csv::csv_line;
pub use info::info_text;
pub use json::json_text;
pub use metric_name::MetricName;
pub use names::escaped;
pub use order::UnknownMetric;
pub use run::Report;
pub use statistics::{RankStatistics, Spread, Statistics};
pub use text::TextOptions;
