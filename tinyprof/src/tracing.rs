//! Spans of programs that use `tracing` become regions: feature `tracing`.
//!
//! ```
//! tracing_core::dispatcher::set_global_default(tracing_core::Dispatch::new(tinyprof::tracing::Subscriber))?;
//! let span = tracing::info_span!("solve");
//! span.in_scope(|| { /* a visit of the region `solve` */ });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A span is one region for each place in the source; its fields are not recorded, and events are not. Time is
//! counted between enter and exit, so an instrumented future counts while it is polled, one visit a poll.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use tinyprof_format::model::{Mode, RegionKind};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Event, Metadata};

use crate::record::{Arena, Entered, Line, Site, thread};
use crate::region;

/// Records spans, and nothing else. It keeps no state of its own: any number of them are the same.
///
/// # Cost
/// A span that is made, entered and left costs little more than a region; see `benches/results`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subscriber;

/// The sites of the spans that were met, by the address of their metadata, which is also the id of a span: ids
/// need no table of their own, as all spans of one place are the same region.
static SITES: RwLock<Option<HashMap<u64, &'static Site>>> = RwLock::new(None);

/// A site that a thread has met lately.
type Seen = Cell<Option<(u64, &'static Site)>>;
const SEEN: usize = 64;

thread_local! {
    static LATELY: [Seen; SEEN] = const { [const { Cell::new(None) }; SEEN] };
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
        let metadata = attributes.metadata();
        let key = std::ptr::from_ref(metadata).addr() as u64;
        site_of(key, Some(metadata));
        Id::from_u64(key)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        if let Some(site) = site_of(span.into_u64(), None)
            && let Entered::Recursion(line) = region::open(site)
        {
            note_recursion(line);
        }
    }

    fn exit(&self, span: &Id) {
        if let (Some(site), Some(arena)) = (site_of(span.into_u64(), None), thread::arena())
            && let Some(line) = arena.innermost(site)
            && !leaves_recursion(arena, line)
        {
            arena.exit(line);
        }
    }
}

/// Notes that the region at `line` was entered inside of itself: as many exits as entries do not end its visit.
fn note_recursion(line: Line) {
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
        let Some((_, depth)) = depths.last_mut().filter(|(known, _)| *known == line) else { return false };
        *depth -= 1;
        if *depth == 0 {
            depths.pop();
        }
        true
    })
}

/// The site of a span's place; none if it was never met.
#[inline]
fn site_of(key: u64, metadata: Option<&'static Metadata<'static>>) -> Option<&'static Site> {
    LATELY.with(|lately| {
        // Metadata is a static of more than 64 bytes, so the low bits of its address say little.
        let seen = &lately[usize::try_from(key >> 6).unwrap_or_default() % SEEN];
        if let Some((known, site)) = seen.get()
            && known == key
        {
            return Some(site);
        }
        let site = look_up(key, metadata)?;
        seen.set(Some((key, site)));
        Some(site)
    })
}

#[cold]
fn look_up(key: u64, metadata: Option<&'static Metadata<'static>>) -> Option<&'static Site> {
    let known = SITES.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(site) = known.as_ref().and_then(|sites| sites.get(&key)) {
        return Some(site);
    }
    drop(known);
    let metadata = metadata?;
    let mut sites = SITES.write().unwrap_or_else(PoisonError::into_inner);
    let site = sites.get_or_insert_default().entry(key).or_insert_with(|| {
        // One for each place in the source, for the life of the program, as the statics of the macros are.
        Box::leak(Box::new(Site::new(
            metadata.name(),
            metadata.module_path().unwrap_or_default(),
            metadata.file().unwrap_or_default(),
            metadata.line().unwrap_or_default(),
            0,
            RegionKind::Scope,
            Mode::Total,
        )))
    });
    Some(site)
}
