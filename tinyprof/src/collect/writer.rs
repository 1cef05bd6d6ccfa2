//! Who writes the profile at the end of the process.

use std::sync::OnceLock;

/// Who does so instead of us, if somebody has said so.
static WRITER: OnceLock<fn()> = OnceLock::new();

/// Says who; false if somebody has before.
pub(super) fn take_over(write: fn()) -> bool {
    WRITER.set(write).is_ok()
}

/// Who, if it is not us.
pub(super) fn taken_over_by() -> Option<fn()> {
    WRITER.get().copied()
}
