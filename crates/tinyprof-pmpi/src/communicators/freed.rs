//! Communicators that the program has freed: what is known of them is kept for as long as a request
//! refers to it.
//!
//! References are not counted when requests are made and completed, as that would cost each of
//! them two atomic operations. Instead all requests are looked through, once for many
//! communicators.

use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use super::Communicator;

/// The fewest freed communicators for which requests are looked through.
const SEARCHED_MIN: usize = 64;
/// The ranks of freed communicators for which they are looked through at the latest.
const RANKS_MAX: usize = 1 << 16;

static FREED: Mutex<Freed> =
    Mutex::new(Freed { known: Vec::new(), search_at: SEARCHED_MIN, ranks: 0 });

struct Freed {
    known: Vec<Known>,
    /// The number of communicators for which requests are looked through.
    search_at: usize,
    /// Ranks of those that have come since the last search.
    ranks: usize,
}

/// A communicator that has been taken out of the table.
struct Known(*mut Communicator);

// SAFETY: the communicator has no part that belongs to a thread, and is only dropped here.
unsafe impl Send for Known {}

/// Keeps a communicator until no request refers to it. It comes from `Box::into_raw`, and can be
/// found under no handle any more.
pub(super) fn keep(known: *mut Communicator) {
    // SAFETY: it is dropped below alone.
    let Some(new) = (unsafe { known.as_ref() }) else { return };
    new.is_freed.store(true, Relaxed);
    let ranks = new.relative.len() + new.local.len();
    // A panic of another thread in here leaves it as it is: it is kept for ever.
    let Ok(mut freed) = FREED.lock() else { return };
    freed.known.push(Known(known));
    freed.ranks += ranks;
}

/// Drops the freed communicators that no request refers to, if they are many. `used` are those that
/// requests refer to.
pub(crate) fn drop_unused(used: impl Iterator<Item = *const Communicator>) {
    let Ok(mut freed) = FREED.lock() else { return };
    if freed.known.len() >= freed.search_at || freed.ranks >= RANKS_MAX {
        freed.drop_all_but(used.collect());
    }
}

impl Freed {
    #[cold]
    fn drop_all_but(&mut self, mut used: Vec<*const Communicator>) {
        used.sort_unstable();
        self.known.retain(|known| {
            let is_used = used.binary_search(&known.0.cast_const()).is_ok();
            if !is_used {
                // SAFETY: it comes from `Box::into_raw` and leaves the list now. No request refers
                // to it, none can any more as it has no handle, and no call uses it, as the program
                // must not free a communicator that a call uses.
                drop(unsafe { Box::from_raw(known.0) });
            }
            is_used
        });
        self.search_at = (2 * self.known.len()).max(SEARCHED_MIN);
        self.ranks = 0;
    }
}
