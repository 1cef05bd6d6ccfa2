//! Statistics over ranks, and the reports made of them for people and programs.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! * [`Statistics`]: one row per callpath, mergeable in any order, of fixed width on the wire.
//! * [`Totals`]: the times of each callpath on each rank, without executions: the source of all
//!   reports of a profile, made callpath by callpath; [`ByCallpath`] is a profile that comes so.
//! * [`Report`]: the statistics with the facts of the run; as text ([`Report::to_text`]) and as
//!   JSON ([`Report::to_json`]).
//! * [`Report::to_tree_text`], [`Report::to_top_text`]: the callpath tree alone, and the hottest
//!   callpaths.
//! * [`Report::of_regions`]: the report with each region summed over its callpaths.
//! * [`Report::by_metric`]: the same report, sorted by a metric of the user's choice. All of these
//!   are available as CSV, too.
//! * [`info_text`]: the facts of a manifest.
//! * [`Report::hints`]: notable findings, in plain words; [`Efficiency`]: how well the ranks were
//!   used; [`Iterations`]: the series of a callpath over all ranks.
//! * [`MpiCalls`]: MPI calls by function, by call site and by pair of ranks, which
//!   [`Report::to_mpi_text`] shows.
//! * [`Waits`]: who waits for whom, which [`Report::to_waits_text`] shows.
//! * [`Structure`]: the phases of a program, and the classes of ranks that do the same in them.
//! * [`cells`], [`csv_line`]: the building blocks of other tables.
//!
//! Names come from the measured program and are never trusted. Every character that could move a
//! terminal's cursor, reorder a line or hide in it is escaped, see [`escaped`].
//!
//! This crate reads and writes no file, and knows no MPI, no clock and no threads.
#![forbid(unsafe_code)]

mod by_callpath;
mod by_region;
pub mod cells;
mod clock;
mod closing;
mod columns;
mod csv;
mod date;
mod efficiency;
mod flat_regions;
mod followed;
mod grouped;
mod grouped_tables;
mod handed_on;
mod hints;
mod hosts;
mod info;
mod iterations;
mod json;
mod lines;
mod long_json;
mod messages;
mod metric_block;
mod metrics;
mod mpi_line;
mod mpi_tables;
mod names;
mod notes;
mod order;
mod outline;
mod overhead;
mod rank_statistics;
mod regions;
mod run;
mod selection;
mod sort_key;
mod spread;
mod statistics;
mod statistics_rows;
mod structure;
mod tables;
mod text;
mod time_base;
mod top;
mod totals;
mod transfers;
mod tree;
mod trend;
mod unfollowed_line;
mod units;
mod usage;
mod variation;
mod waits;
mod waits_tables;
mod wire;
mod without_us;

pub use by_callpath::{ByCallpath, Visit};
pub use clock::ClockOverRanks;
pub use csv::csv_line;
pub use efficiency::Efficiency;
pub use followed::{Unfollowed, UnfollowedOfRank};
pub use grouped::{GroupBy, GroupRow, GroupSums};
pub use hints::{HINTS_MAX, Hint, HintKind};
pub use info::info_text;
pub use iterations::{IterationPoint, Iterations, SeriesElement, rank_points};
pub use long_json::{LongJson, json_text};
pub use messages::{CallStatistics, MpiCallSite, MpiCallSums, MpiCalls, MpiFunction, Peers};
pub use names::escaped;
pub use order::UnknownMetric;
use overhead::{Overhead, VISIT_COST_NS};
pub use rank_statistics::RankStatistics;
pub use run::Report;
pub use sort_key::SortKey;
pub use spread::{HostId, Spread};
pub use statistics::Statistics;
pub use structure::{
    Drawing, DrawnEdge, DrawnKind, DrawnMessages, DrawnNode, DrawnRanks, Structure,
    StructureBuilder,
};
pub use text::TextOptions;
pub use time_base::TimeBase;
pub use totals::Totals;
use transfers::world_rank;
pub use transfers::{MpiCall, Transfers, has_messages, partner};
pub use usage::{Activity, RankUsage, UsageOverRanks, exclusive_ns};
pub use variation::Variation;
pub use waits::{WaitSums, Waiting, Waits};
pub use without_us::{CompensatedRank, WithoutUs};
