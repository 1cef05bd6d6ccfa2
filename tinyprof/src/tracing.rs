//! Regions from the spans of programs that use `tracing`: feature `tracing`.
//!
//! ```
//! let dispatch = tracing_core::Dispatch::new(tinyprof::tracing::Subscriber);
//! tracing_core::dispatcher::set_global_default(dispatch)?;
//! let span = tracing::info_span!("solve");
//! span.in_scope(|| { /* a visit of the region `solve` */ });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All spans of one place in the source are one region. Fields of spans and events are not
//! recorded. Time is counted between enter and exit, so an instrumented future counts while it is
//! polled, with one visit a poll.
//!
//! [`Subscriber`] is for programs that use `tracing` for nothing else. For programs with logs or
//! other layers, the feature `tracing-layer` provides `layer()`, which works beside them.

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

/// A subscriber that records spans and nothing else. It keeps no state of its own, so any two of
/// them behave alike.
///
/// # Cost
/// A span that is made, entered and left costs little more than a region; see `benches/results`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subscriber;

thread_local! {
    /// Set if `RECURSIONS` has an entry: a cheaper test than looking there.
    static RECURSES: Cell<bool> = const { Cell::new(false) };
    /// The open regions that were entered inside of themselves, with the number of such entries,
    /// outermost first.
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

/// Returns the site of a span, or `None` if the id is not ours.
#[inline]
fn site_of(span: &Id) -> Option<&'static Site> {
    site_at(span.into_u64().checked_sub(1)?)
}

/// Notes that the region at `line` was entered inside of itself, so that the matching exits do not
/// end its visit.
fn note_recursion(line: Line) {
    RECURSES.set(true);
    RECURSIONS.with_borrow_mut(|depths| match depths.last_mut() {
        Some((known, depth)) if *known == line => *depth += 1,
        _ => depths.push((line, 1)),
    });
}

/// Returns whether an exit of the region at `line` belongs to an entry inside of itself.
fn leaves_recursion(arena: &Arena, line: Line) -> bool {
    RECURSIONS.with_borrow_mut(|depths| {
        // Drop entries of visits that were closed elsewhere, together with a region around them.
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
