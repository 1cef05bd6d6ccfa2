//! Threads that exist already: one at a time decides that another one is adopted, or itself
//! records, so that none is sampled twice.

use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::table::{ENDED, RECORDS, REFUSED, TAKEN, THREAD_END, Worker, workers};
use crate::sys::{NotSampled, SampleRing, thread_number};

/// Has a thread that exists already be a worker, made by the thread of an arena (its address, 0 if
/// it is not known), unless it is one or records. Returns false if there can be no further ones.
pub(in crate::record) fn adopt(thread: u32, maker: usize, period_ns: u64) -> bool {
    let Some(workers) = workers() else { return false };
    let adopted = workers.alone(|| {
        if workers.of_thread(thread).is_some() {
            return true;
        }
        let Some(worker) = workers.claim(TAKEN, thread, maker) else { return false };
        worker.start.store(0, Relaxed);
        match SampleRing::of_thread(thread, period_ns) {
            Ok(ring) => worker.give(ring),
            // It has ended already.
            Err(NotSampled::Event(libc::ESRCH)) => worker.free(),
            Err(_) => worker.state.store(REFUSED, Release),
        }
        true
    });
    adopted.unwrap_or(true)
}

/// Begins the recording of the calling thread, which is no worker from now on. Returns its samples
/// if it was one: none if they cannot be had.
pub(in crate::record) fn begin_recording() -> Option<Option<SampleRing>> {
    let workers = workers()?;
    let thread = thread_number();
    let left = leave();
    let decided = workers.alone(|| {
        let adopted = workers.of_thread(thread).filter(|_| left.is_none() && thread != 0);
        let samples = adopted.map(|worker| {
            let ring = worker.take().map(ManuallyDrop::into_inner);
            // A thread that is taking its samples puts them back.
            let ring = ring.or_else(|| worker.take_soon());
            match ring {
                Some(_) => worker.free(),
                None => worker.state.store(ENDED, Release),
            }
            ring
        });
        // So that nobody adopts it.
        if thread != 0 {
            workers.claim(RECORDS, thread, 0);
        }
        samples
    });
    left.or(decided.flatten())
}

/// Ends the recording of the calling thread.
pub(in crate::record) fn end_recording() {
    let thread = thread_number();
    let own = workers().and_then(|workers| workers.of_thread(thread));
    if let Some(own) = own.filter(|own| own.state.load(Relaxed) == RECORDS) {
        own.free();
    }
}

/// Returns the samples of the calling thread if it was made as a worker: none if they cannot be
/// had.
fn leave() -> Option<Option<SampleRing>> {
    let worker = ptr::with_exposed_provenance::<Worker>(THREAD_END.take_of_this_thread()?.addr());
    // SAFETY: `begin` has passed an entry of the table, which stays.
    let worker = unsafe { worker.as_ref() }?;
    if worker.state.load(Acquire) != TAKEN {
        // It was a worker of the process that has made this one by `fork`.
        return None;
    }
    let ring = worker.take_soon();
    match ring {
        Some(_) => worker.free(),
        // Its samples stay with the one that has made it.
        None => worker.state.store(ENDED, Release),
    }
    Some(ring)
}
