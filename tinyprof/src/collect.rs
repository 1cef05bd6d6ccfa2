//! The cold path: the start of a run, its end, and snapshots.
//!
//! Most programs need none of this: a region starts the session, and the end of the process writes
//! the profile. A program makes settings with a [`Builder`], and may take a [`snapshot`] or an
//! [`interim_profile`] at any time. A collector [takes over](take_over) the writing at the end.

mod builder;
pub(crate) mod causes;
mod choices;
mod commands;
mod config;
mod events;
mod finish;
mod interim_files;
mod interim_profiles;
mod isolated;
mod launcher;
mod message;
mod metadata;
mod name;
mod on_demand;
mod parts;
mod sampling;
mod save;
mod segments;
pub(crate) mod session;
mod snapshot;
pub(crate) mod start;
mod starting;
mod watch;
mod writer;

/// True if this build measures regions: the feature `enable` of this crate, which the program
/// chooses. Without it there is never anything to collect.
pub const ENABLED: bool = cfg!(feature = "enable");

pub use builder::{Builder, StartError};
pub use choices::settings;
pub use interim_profiles::interim_profile;
pub(crate) use save::save_events;
pub use snapshot::{monotonic_ns, snapshot};
pub use start::{start, take_over};
pub use tinyprof_settings::{ALL_INTERIM_PROFILES, ReportSignal, Settings};
pub use writer::{Ending, Writer};

#[cfg(feature = "tracing-layer")]
pub(crate) use session::config;

/// The interface that only `tinyprof-job` needs, which is `tinyprof::__mpi`.
pub(crate) mod for_mpi {
    pub use super::builder::begin;
    pub use super::causes::read_causes_by;
    pub use super::choices::precision;
    pub use super::finish::{
        ReportText, is_recoverable, print_report, recoverable, tell_name, warn_recoverable,
        write_alone,
    };
    pub use super::interim_files::InterimFiles;
    pub use super::isolated::isolated;
    pub use super::message::warn;
    pub use super::metadata::metadata;
    pub use super::name::profile_name;
    pub use super::parts::{begin_parts_by, is_part_asked_for, obey_filter, part_has_begun};
    pub use super::segments::{
        discard_segments, fresh_profile_id, new_profile_id, set_profile_id, set_rank,
    };
    pub use super::session::{callers, config, launch_date_s, wrappers};
    pub use super::snapshot::ending_here;
    pub use super::start::{end_after_all, end_with_process};
    pub use super::starting::starting;
    pub use super::watch::{unrecorded, watch_flush_points};
    pub use crate::record::{NewWorker, Start, announce_threads, has_regions, new_worker};

    // Of the recorder, and reachable only because it is public there.
    pub use crate::sys::{NotDone, is_sandboxed, note_sandbox, undisturbed, without_write_signals};
}
