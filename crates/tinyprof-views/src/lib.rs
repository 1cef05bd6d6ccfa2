//! What the command shows of a profile: tables as text, CSV and JSON.
//!
//! * [`View`]: a table in all three forms.
//! * [`Callpaths`]: all callpaths, or all regions ([`by_region`]); [`Tree`] and [`Top`]: a few of
//!   their numbers, or of them.
//! * [`MpiView`]: MPI calls by function, by call site and by pair of ranks ([`MpiCalls`]).
//! * [`WaitsView`]: who waits for whom; [`compensated_text`]: times without measurement.
//! * [`EfficiencyView`]: the efficiency of runs beside each other.
//! * [`GroupView`]: times by call site, loop, function and partner ([`GroupSums`]).
//! * [`info_text`]: the facts of a manifest.
//! * [`LongJson`], [`csv_line`], [`table`]: the building blocks of other tables.
//!
//! A column is described once, see [`table::Column`]: text, CSV and JSON are made from that.
//!
//! This crate reads and writes no file. Names come from the measured program and are never trusted,
//! see [`escaped`](tinyprof_report::escaped).
#![forbid(unsafe_code)]

mod by_region;
mod callpaths;
mod clock;
mod compensated;
mod csv;
mod date;
mod efficiency;
mod groups;
mod info;
mod json_list;
mod mpi;
mod paths;
mod processors;
mod spread;
pub mod table;
mod top;
mod tree;
mod view;
mod waits;

pub use by_region::{by_line, by_region};
pub use callpaths::{Callpaths, report_json};
pub use compensated::compensated_text;
pub use csv::csv_line;
pub use date::utc;
pub use efficiency::EfficiencyView;
pub use groups::{GroupBy, GroupRow, GroupSums, GroupView};
pub use info::info_text;
pub use json_list::{LongJson, integer, json_text};
pub use mpi::calls::{CallStatistics, MpiCallSite, MpiCallSums, MpiCalls, MpiFunction, Peers};
pub use mpi::{MpiView, mpi_json};
pub use top::Top;
pub use tree::Tree;
pub use view::View;
pub use waits::WaitsView;
