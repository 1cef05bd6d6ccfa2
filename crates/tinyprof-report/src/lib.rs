//! The report of a run: what a profiled program prints at its end.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! * [`Totals`]: the times of each callpath on each rank, without executions: the source of all
//!   reports of a profile, made callpath by callpath; [`ByCallpath`] is a profile that comes so.
//! * [`Statistics`]: one row per callpath, mergeable in any order, of fixed width on the wire.
//! * [`Report`]: the statistics with the facts of the run, and as text ([`Report::to_text`]).
//! * [`Report::findings`]: notable findings, in plain words; [`Efficiency`]: how well the ranks
//!   were used; [`Iterations`]: the series of a callpath over all ranks; [`Waits`]: who waits for
//!   whom.
//! * [`cells`]: the building blocks of other tables.
//!
//! The rest of what the command shows is in the crates `tinyprof-views` and `tinyprof-structure`,
//! so that programs do not contain it.
//!
//! Names come from the measured program and are never trusted. Every character that could move a
//! terminal's cursor, reorder a line or hide in it is escaped, see [`escaped`].
//!
//! This crate reads and writes no file, and knows no MPI, no clock and no threads.
#![forbid(unsafe_code)]

pub mod cells;
mod facts;
mod findings;
mod report;
mod tables;
mod words;

pub use facts::by_callpath::{ByCallpath, Visit, VisitCauses};
pub use facts::counters::{Counters, Scalability, ScalabilityFactors};
pub use facts::occupancy::Occupancy;
pub use facts::overhead::Overhead;
pub use facts::overhead::adjusted::{Adjusted, CompensatedRank};
pub use facts::overhead::clock::ClockOverRanks;
pub use facts::overhead::followed::{Unfollowed, UnfollowedOfRank};
pub use facts::sampled_place::SampledPlace;
pub use facts::sort_key::SortKey;
pub use facts::statistics::Statistics;
pub use facts::statistics::efficiency::Efficiency;
pub use facts::statistics::hosts::Hosts;
pub use facts::statistics::mpi_usage::MpiUsage;
pub use facts::statistics::rank::RankStatistics;
pub use facts::statistics::regions::RegionKey;
pub use facts::statistics::spread::{HostId, Spread};
pub use facts::statistics::time_base::TimeBase;
pub use facts::threads::ThreadSums;
pub use facts::totals::Totals;
pub use facts::totals::iterations::{IterationPoint, Iterations, SeriesElement, rank_points};
pub use facts::totals::metrics::{Metric, Metrics};
pub use facts::totals::transfers::{
    MpiCall, Transfers, has_messages, mean_bytes, mpi_callpaths, partner, world_rank,
};
pub use facts::totals::variation::Variation;
pub use facts::totals::waits::{WaitSums, WaitedFor, Waiting, Waits, waiting_pattern};
pub use facts::usage::{Activity, RankUsage, UsageOverRanks, exclusive_ns};
pub use findings::{
    Certainty, FINDINGS_MAX, FactValue, Finding, FindingKind, HINTS, Hint, HintScope, HintSubjects,
    Subject, Values, Words, plain_number,
};
pub use report::Report;
pub use report::rows::UnknownMetric;
pub use tables::closing::{joined_note, losses_in_words, startup_line};
pub use tables::datum::Datum;
pub use tables::head::head;
pub use tables::mpi_line::mpi_line;
pub use tables::text::{TextOptions, indent};
pub use tables::tree::in_tree_order;
pub use tables::unfollowed_line::unfollowed_line;
pub use words::names::escaped;
pub use words::notes::{ROUNDED, filtered, sentences};
