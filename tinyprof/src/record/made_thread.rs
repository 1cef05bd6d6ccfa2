//! The threads that a thread of the program makes, as far as samples are concerned.

use std::ffi::c_void;
use std::ptr;

use super::Arena;
use super::thread;
use super::workers::{self, NewWorker, Start};

/// Notes that the calling thread is about to make another one; `None` if that is not to be sampled
/// as a worker.
#[must_use]
pub fn new_worker(start: Start, argument: *mut c_void) -> Option<NewWorker> {
    if !workers::are_there() || thread::is_away() {
        return None;
    }
    let maker = thread::arena();
    let period_ns = Arena::worker_period_ns(maker)?;
    // Those that have ended make room.
    maker.inspect(|maker| maker.take_all_samples());
    let address = maker.map_or(0, |maker| ptr::from_ref(maker).addr());
    let made = workers::new(address, period_ns, start, argument);
    if made.is_none() {
        maker.inspect(|maker| maker.count_unsampled_thread());
    }
    made
}
