//! Events: single visits of regions, with begin and end, where sums cannot tell the order.
//!
//! Nothing is kept unless the user asks for it with `TINYPROF_EVENTS`. `docs/events.md` has the
//! details.

use std::path::{Path, PathBuf};

use crate::collect::save_events;
use crate::record::events::{ask, end_asking};
use crate::record::thread::arena;
use tinyprof_format::error::WriteError;

/// Runs `work`, and with `TINYPROF_EVENTS_WINDOW=program` keeps events of all threads meanwhile.
///
/// Kept are the visits that end while `work` runs; those that are open around it on this thread are
/// kept as far as they have come. Elsewhere than in such a piece of the program, nothing is kept.
/// With other windows it only runs `work`. It may be called from several threads and in itself.
///
/// ```
/// let sum: u64 = tinyprof::events::record(|| (1..=10).sum());
/// assert_eq!(sum, 55);
/// ```
///
/// # Cost
/// None without `TINYPROF_EVENTS`.
pub fn record<T>(work: impl FnOnce() -> T) -> T {
    let _asking = Asking::begin();
    work()
}

/// A piece of the program that asks for events; dropping it ends the piece, also after a panic.
struct Asking;

impl Asking {
    fn begin() -> Self {
        ask();
        if let Some(arena) = arena() {
            arena.begin_piece();
        }
        Self
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if let Some(arena) = arena() {
            arena.end_piece();
        }
        end_asking();
    }
}

/// Writes a profile of this process as it is now, with its events, and returns its path.
///
/// With `TINYPROF_EVENTS=ring` they are what was before a condition of the program. Under MPI each
/// rank writes its own.
///
/// A name that exists gets a number. Returns `None` if nothing was measured or recording is off.
///
/// ```
/// # let scratch = std::env::temp_dir().join(format!("tinyprof-save-{}", std::process::id()));
/// # std::fs::create_dir_all(&scratch)?;
/// # let name = scratch.join("residual-grew");
/// let saved = tinyprof::events::save(&name)?;
/// assert_eq!(saved, None, "nothing was measured");
/// # std::fs::remove_dir_all(&scratch)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the profile could not be written.
pub fn save(name: impl AsRef<Path>) -> Result<Option<PathBuf>, WriteError> {
    save_events(name.as_ref())
}
