//! Spans of programs that use `tracing` become regions: feature `tracing`.
//!
//! ```
//! tracing_core::dispatcher::set_global_default(tracing_core::Dispatch::new(tinyprof::tracing::Subscriber))?;
//! let span = tracing::info_span!("solve");
//! span.in_scope(|| { /* a visit of the region `solve` */ });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A span is one region for each place in the source; its fields are not recorded, and events are
//! not. Time is counted between enter and exit, so an instrumented future counts while it is
//! polled, one visit a poll.
//!
//! [`Subscriber`] is for programs that use `tracing` for nothing else. Where there are logs
//! besides, or other layers, the feature `tracing-layer` has `layer()`, which works beside them.

#[cfg(feature = "tracing-layer")]
mod entries;
#[cfg(feature = "tracing-layer")]
mod layer;
mod sites;
#[cfg(feature = "tracing-layer")]
mod spans;

use std::cell::{Cell, RefCell};

use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Event, Metadata};

use crate::record::{Arena, Entered, Line, Site, thread};
use crate::region;
#[cfg(feature = "tracing-layer")]
pub use layer::{Layer, layer};
use sites::{place_of, site_at};

/// Records spans, and nothing else. It keeps no state of its own: any number of them are the same.
///
/// # Cost
/// A span that is made, entered and left costs little more than a region; see `benches/results`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subscriber;

thread_local! {
    /// Whether there is anything in `RECURSIONS`, which is slower to ask.
    static RECURSES: Cell<bool> = const { Cell::new(false) };
    /// The open regions that were entered inside of themselves, and how often, from the outside in.
    static RECURSIONS: RefCell<Vec<(Line, u32)>> = const { RefCell::new(Vec::new()) };
}

impl tracing_core::Subscriber for Subscriber {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if metadata.is_span() { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        Id::from_u64(place_of(attributes.metadata()) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        if let Some(site) = site_of(span)
            && let Entered::Recursion(line) = region::open::<false>(site).entered()
        {
            note_recursion(line);
        }
    }

    fn exit(&self, span: &Id) {
        if let (Some(site), Some(arena)) = (site_of(span), thread::arena())
            && let Some(line) = arena.innermost(site)
            && !(RECURSES.get() && leaves_recursion(arena, line))
        {
            arena.exit(line);
        }
    }
}

/// Returns the site of a span; none if the id is not one of ours.
#[inline]
fn site_of(span: &Id) -> Option<&'static Site> {
    site_at(span.into_u64().checked_sub(1)?)
}

/// Notes that the region at `line` was entered inside of itself: as many exits as entries do not
/// end its visit.
fn note_recursion(line: Line) {
    RECURSES.set(true);
    RECURSIONS.with_borrow_mut(|depths| match depths.last_mut() {
        Some((known, depth)) if *known == line => *depth += 1,
        _ => depths.push((line, 1)),
    });
}

/// Whether an exit of the region at `line` is that of an entry inside of itself.
fn leaves_recursion(arena: &Arena, line: Line) -> bool {
    RECURSIONS.with_borrow_mut(|depths| {
        // What was closed by somebody else, together with a region around it, is over.
        while depths.pop_if(|(known, _)| !arena.is_open(*known)).is_some() {}
        let recursion = depths.last_mut().filter(|(known, _)| *known == line);
        let leaves = recursion.is_some();
        if let Some((_, depth)) = recursion {
            *depth -= 1;
            if *depth == 0 {
                depths.pop();
            }
        }
        RECURSES.set(!depths.is_empty());
        leaves
    })
}
