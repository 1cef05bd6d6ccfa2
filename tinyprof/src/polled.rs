//! Regions that are futures.

use std::future::poll_fn;
use std::pin::pin;

use crate::collect::start::start_recording;
use crate::record::{Arena, InFlight, Site, thread};

/// Runs `future` as one visit of `site`, whose time is that of its polls.
///
/// The visit begins with the first poll. It ends with the last poll, or when the future is dropped
/// earlier. A future that was never polled is not a visit. A panic also ends the visit.
///
/// The callpath is that of the first poll: the innermost open region there is the parent. On
/// whatever thread the future is polled, regions inside it are entered under this callpath. A
/// future outside of all regions is an execution of its own.
///
/// # Cost
/// Two clock reads a poll. A poll on another thread than the first one costs about 10 ns more for
/// each region of the callpath. No heap allocation once the thread has seen the callpath.
pub async fn polled<F: Future>(site: &'static Site, future: F) -> F::Output {
    let mut future = pin!(future);
    let mut visit = Visit::New(site);
    poll_fn(move |context| visit.poll(|| future.as_mut().poll(context))).await
}

/// Returns `None`. The macros use it to name the type of a future's output.
#[inline]
#[must_use]
pub const fn no_output<T>() -> Option<T> {
    None
}

/// The visit of a future; dropping it ends the visit.
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

/// Returns the arena of this thread, and makes it if there is none. Returns `None` where nothing
/// can be recorded, which is counted.
fn arena() -> Option<&'static Arena> {
    thread::arena_or_attach(start_recording)
}
