//! Standard error, where nobody may be reading.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// How long a line waits for room, once in the life of a process.
const PATIENCE_MS: libc::c_int = 1000;

/// Whether a line has waited in vain: no other waits.
static IS_STUCK: AtomicBool = AtomicBool::new(false);

/// Writes a short line, as a whole or not at all, without allocating or locking. A pipe that nobody
/// empties holds the caller up for a second at most, once.
///
/// The caller has the signals of failed writes blocked, see
/// [`without_write_signals`](super::without_write_signals).
pub(crate) fn write_line(line: &[u8]) {
    let mut place = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    let patience_ms = if IS_STUCK.load(Relaxed) { 0 } else { PATIENCE_MS };
    // A pipe that is ready has room for at least `PIPE_BUF` bytes, which is more than a line is
    // long. SAFETY: one valid place.
    if unsafe { libc::poll(&raw mut place, 1, patience_ms) } == 0 {
        IS_STUCK.store(true, Relaxed);
        return;
    }
    // There is nowhere to complain to when standard error does not take the line.
    // SAFETY: the bytes are valid for reading.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}
