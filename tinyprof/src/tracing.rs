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
use std::collections::BTreeMap;
use std::sync::{OnceLock, PoisonError, RwLock};

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

/// The sites of the spans that were met, in blocks. The id of a span is one more than the place of its site here: ids
/// need no table of their own, as all spans of one place are the same region.
static SITES: [OnceLock<Box<Block>>; BLOCKS] = [const { OnceLock::new() }; BLOCKS];
type Block = [OnceLock<&'static Site>; BLOCK];
const BLOCK: usize = 256;
/// Places in the source beyond these are not recorded.
const BLOCKS: usize = 256;

/// Where in `SITES` the site of a span is, by the address of the span's metadata.
static PLACES: RwLock<BTreeMap<usize, u64>> = RwLock::new(BTreeMap::new());

/// The metadata that a thread has met lately, and its place.
type Seen = Cell<(usize, u64)>;
const SEEN: usize = 64;

thread_local! {
    static LATELY: [Seen; SEEN] = const { [const { Cell::new((0, 0)) }; SEEN] };
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

/// Notes that the region at `line` was entered inside of itself: as many exits as entries do not end its visit.
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

/// The site of a span; none if the id is not one of ours.
#[inline]
fn site_of(span: &Id) -> Option<&'static Site> {
    let place = usize::try_from(span.into_u64()).ok()?.checked_sub(1)?;
    SITES.get(place / BLOCK)?.get()?[place % BLOCK].get().copied()
}

/// The place of a span's site in `SITES`.
#[inline]
fn place_of(metadata: &'static Metadata<'static>) -> u64 {
    let key = std::ptr::from_ref(metadata).addr();
    LATELY.with(|lately| {
        // Metadata is a static of more than 64 bytes, so the low bits of its address say little.
        let seen = &lately[(key >> 6) % SEEN];
        let (known, place) = seen.get();
        if known == key {
            return place;
        }
        let place = look_up(key, metadata);
        seen.set((key, place));
        place
    })
}

#[cold]
fn look_up(key: usize, metadata: &'static Metadata<'static>) -> u64 {
    let known = PLACES.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    known.unwrap_or_else(|| {
        let mut places = PLACES.write().unwrap_or_else(PoisonError::into_inner);
        let next = places.len();
        *places.entry(key).or_insert_with(|| {
            if let Some(block) = SITES.get(next / BLOCK) {
                let block = block.get_or_init(|| Box::new([const { OnceLock::new() }; BLOCK]));
                block[next % BLOCK].get_or_init(|| leaked(metadata));
            }
            next as u64
        })
    })
}

/// One for each place in the source, for the life of the program, as the statics of the macros are.
fn leaked(metadata: &'static Metadata<'static>) -> &'static Site {
    let site = Site::new(
        metadata.name(),
        metadata.module_path().unwrap_or_default(),
        metadata.file().unwrap_or_default(),
        metadata.line().unwrap_or_default(),
        0,
        RegionKind::Scope,
        Mode::Total,
    );
    Box::leak(Box::new(site.made_late()))
}
