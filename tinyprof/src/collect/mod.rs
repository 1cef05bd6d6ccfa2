//! The cold path: what happens at the start of a run, at its end, and when a snapshot is taken.
//!
//! Programs need none of this: a region starts the session, and the end of the process writes the profile.
//! `tinyprof-mpi` and other collectors use it to write the profile of many processes.

mod config;
mod finish;
mod metadata;
pub(crate) mod session;
mod signals;
mod snapshot;

pub use config::{Config, Setting, warn};
pub use finish::{print_report, profile_name, write_alone};
pub use metadata::metadata;
pub use session::{config, start, take_over};
pub use signals::without_write_signals;
pub use snapshot::{monotonic_ns, snapshot};
