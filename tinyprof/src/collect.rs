//! The cold path: the start of a run, its end, and snapshots.
//!
//! Programs need none of this: a region starts the session, and the end of the process writes the
//! profile. `tinyprof-mpi` and other collectors use it to write one profile for many processes.

mod builder;
mod choices;
mod config;
mod finish;
mod interim_files;
mod interim_profiles;
mod isolated;
mod launcher;
mod message;
mod metadata;
mod name;
mod on_demand;
mod segments;
mod session;
mod snapshot;
pub(crate) mod start;
mod watch;
mod writer;

/// True if this build measures regions: the feature `enable` of this crate, which the program
/// chooses. Without it there is never anything to collect.
pub const ENABLED: bool = cfg!(feature = "enable");

pub use builder::{Builder, StartError, begin};
pub use choices::{precision, settings};
pub use finish::{print_report, recoverable, write_alone};
pub use interim_files::InterimFiles;
pub use interim_profiles::interim_profile;
pub use isolated::isolated;
pub use message::warn;
pub use metadata::metadata;
pub use name::profile_name;
pub use segments::{discard_segments, fresh_profile_id, new_profile_id, set_profile_id, set_rank};
pub use session::config;
pub use snapshot::{ending_here, monotonic_ns, snapshot};
pub use start::{start, take_over};
pub use watch::{unrecorded, watch_flush_points};
pub use writer::{Ending, Writer};

pub use tinyprof_settings::{ALL_INTERIM_PROFILES, ReportSignal, Settings};

pub use crate::record::clock::ClockChoice;
pub use crate::sys::{NotDone, without_write_signals};
