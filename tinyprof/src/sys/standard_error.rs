//! Lines on standard error, which may have no reader.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::sandbox;

/// The time that a line waits for room, once in the life of a process.
const PATIENCE_MS: libc::c_int = 1000;

/// Set once a line has waited in vain; no other line waits.
static IS_STUCK: AtomicBool = AtomicBool::new(false);

/// Writes a short line, as a whole or not at all, without allocating or locking. If nothing reads
/// from a full pipe, the caller is held up for a second at most, once. In a sandbox nothing but the
/// write is tried.
///
/// The caller must block the signals of failed writes, see
/// [`without_write_signals`](super::without_write_signals).
pub(crate) fn write_line(line: &[u8]) {
    let is_stuck = !sandbox::is_entered() && !has_room();
    if is_stuck {
        IS_STUCK.store(true, Relaxed);
        return;
    }
    // If standard error does not take the line, there is nowhere to report that.
    // SAFETY: the bytes are valid for reading.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

/// Returns whether standard error takes a line, perhaps after a moment.
fn has_room() -> bool {
    let mut place = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    let patience_ms = if IS_STUCK.load(Relaxed) { 0 } else { PATIENCE_MS };
    // A pipe that is ready has room for at least `PIPE_BUF` bytes, which is more than the length of
    // a line. SAFETY: one valid place.
    unsafe { libc::poll(&raw mut place, 1, patience_ms) != 0 }
}
