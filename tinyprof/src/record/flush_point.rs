//! Flush points: points between two pieces of the program's work, where a collector may look at the
//! measurements.
//!
//! The end of a root region is a flush point, and so is the point between two iterations of a loop
//! marked `flush_point`. Each arena holds a flag that says if its flush points are watched; a
//! thread that is not watched pays only for reading it. The collector is called through a plain
//! function, so the recorder knows nothing of it.

use std::sync::OnceLock;

/// A collector's function for flush points. It must return quickly if nothing is due, and must not
/// unwind.
pub(crate) type Hook = fn();

/// The hook of the recorder's own crate. Another collector's hook takes precedence.
static OWN: OnceLock<Hook> = OnceLock::new();
static COLLECTOR: OnceLock<Hook> = OnceLock::new();

/// A collector's function that has another part of the run begin at the next flush point, or at one
/// on which all ranks agree. Returns false if it cannot. Called on a watched thread.
pub(crate) type AskForPart = fn() -> bool;

static OWN_PARTS: OnceLock<AskForPart> = OnceLock::new();
static COLLECTORS_PARTS: OnceLock<AskForPart> = OnceLock::new();

/// Returns whether a collector begins parts of the run.
pub(crate) fn has_parts() -> bool {
    COLLECTORS_PARTS.get().or_else(|| OWN_PARTS.get()).is_some()
}

/// Asks for another part of the run. Returns false if there is none.
pub(crate) fn ask_for_part() -> bool {
    COLLECTORS_PARTS.get().or_else(|| OWN_PARTS.get()).is_some_and(|ask| ask())
}

/// Has the recorder's own crate begin parts, unless another collector does. Only the first call
/// counts.
pub(crate) fn install_own_parts(ask: AskForPart) {
    let _ = OWN_PARTS.set(ask);
}

/// Has a collector begin parts. Only the first call counts.
pub(crate) fn install_parts(ask: AskForPart) {
    let _ = COLLECTORS_PARTS.set(ask);
}

/// Calls `hook` at the flush points of watched threads, unless another collector has a hook. Only
/// the first call counts.
pub(crate) fn install_own(hook: Hook) {
    let _ = OWN.set(hook);
}

/// Calls `hook` at the flush points of watched threads, instead of any other. Only the first call
/// counts.
pub(crate) fn install(hook: Hook) {
    let _ = COLLECTOR.set(hook);
}

/// Calls the hook at a flush point of a watched thread. No record is being changed: the hook may
/// enter regions and take a snapshot.
///
/// Not inlined: threads that are not watched should have as little of it as possible.
#[inline(never)]
pub(super) fn passed() {
    if let Some(hook) = COLLECTOR.get().or_else(|| OWN.get()) {
        hook();
    }
}
