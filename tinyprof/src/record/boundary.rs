//! Boundaries: moments between two pieces of the program's work, at which a collector may look at
//! what was recorded.
//!
//! The end of a root region is one, and so is the moment between two iterations of a loop that is
//! marked `checkpoint`. An arena says whether its boundaries are watched; a thread that nobody
//! watches pays for reading that. What the collector does is behind a plain function, so that the
//! recorder knows nothing of it.

use std::sync::OnceLock;

/// What a collector does at a boundary. It must return soon where nothing is due, and not unwind.
pub(crate) type Hook = fn();

/// The hook of the recorder's own crate, and that of another collector, which wins.
static OWN: OnceLock<Hook> = OnceLock::new();
static COLLECTOR: OnceLock<Hook> = OnceLock::new();

/// Has `hook` called at the boundaries of watched threads, unless another collector has a hook. The
/// first counts.
pub(crate) fn install_own(hook: Hook) {
    let _ = OWN.set(hook);
}

/// Has `hook` called at the boundaries of watched threads, in place of any other. The first counts.
pub(crate) fn install(hook: Hook) {
    let _ = COLLECTOR.set(hook);
}

/// A watched thread is at a boundary. No record is being changed: regions may be entered, and a
/// snapshot taken.
///
/// Not inlined: threads that nobody watches should have as little of it as possible.
#[inline(never)]
pub(super) fn passed() {
    if let Some(hook) = COLLECTOR.get().or_else(|| OWN.get()) {
        hook();
    }
}
