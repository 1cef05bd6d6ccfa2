//! Regions that are futures.

use std::future::poll_fn;
use std::pin::pin;

use crate::collect::start::start_recording;
use crate::record::{Arena, InFlight, Site, thread};

/// Runs `future` as one visit of `site`, whose time is that of its polls.
///
/// It begins with the first poll, and ends with the last, or when it is dropped before: what was
/// never polled is no visit. A panic ends it too.
///
/// The callpath is that of the first poll: the innermost open region there is its parent. The
/// regions inside are entered under it on whatever thread it is polled. A future outside of all
/// regions is an execution of its own.
///
/// # Cost
/// Two clock reads a poll. On another thread than that of the first poll, some 10 ns for each
/// region of the callpath besides. No heap allocation once the thread has seen the callpath.
pub async fn polled<F: Future>(site: &'static Site, future: F) -> F::Output {
    let mut future = pin!(future);
    let mut visit = Visit::New(site);
    poll_fn(move |context| visit.poll(|| future.as_mut().poll(context))).await
}

/// Nothing. The macros say with it of which type the output of a future is.
#[inline]
#[must_use]
pub const fn no_output<T>() -> Option<T> {
    None
}

/// What a future holds; dropping it ends the visit.
#[derive(Debug)]
enum Visit {
    New(&'static Site),
    Open(InFlight),
    /// Recording is off, there was no memory, or the region calls itself.
    Skipped,
}

impl Visit {
    fn poll<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        if let Self::New(site) = *self {
            let begun = arena().and_then(|arena| arena.begin_polled(site));
            *self = begun.map_or(Self::Skipped, Self::Open);
        }
        match self {
            Self::Open(visit) => match arena() {
                Some(arena) => arena.poll_in(visit, poll),
                None => poll(),
            },
            Self::New(_) | Self::Skipped => poll(),
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Self::Open(visit) = self
            && let Some(arena) = arena()
        {
            arena.end_polled(visit);
        }
    }
}

/// The arena of this thread, made if there is none; none where nothing can be recorded, which is
/// counted.
fn arena() -> Option<&'static Arena> {
    thread::arena_or_attach(start_recording)
}
