//! The spans that this thread is in, each with the visit that its entry opened.
//!
//! An exit names a span, not a visit: the span may be entered twice, others of its place in the
//! source may be entered inside of it, and spans need not be left in the reverse order. The list
//! also saves the look-up in the registry at the exit, which costs more than the list does.

use std::cell::RefCell;

use crate::record::{Arena, Entered, Line, Site, thread};
use crate::region;

/// An entry of a span that has not been left.
#[derive(Debug)]
struct Entry {
    /// The layer that was told: spans of two registries may have one id.
    layer: u32,
    span: u64,
    visit: Entered,
}

thread_local! {
    /// From the outside in.
    static ENTRIES: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// Opens a visit of `site`, if there is one, for an entry of `span`.
///
/// An entry of a span that is not recorded is noted, too: its exit then finds it at once.
pub(super) fn enter(layer: u32, span: u64, site: Option<&'static Site>) {
    // At the end of the thread the list may be gone, and in a signal handler it may be in use.
    let _ = ENTRIES.try_with(|entries| {
        let Ok(mut entries) = entries.try_borrow_mut() else { return };
        let visit = site.map_or(Entered::Lost, |site| {
            if let Some(arena) = thread::arena() {
                forget_closed(&mut entries, arena);
            }
            region::open::<false>(site).entered()
        });
        entries.push(Entry { layer, span, visit });
    });
}

/// Closes the visit that the latest entry of `span` opened.
pub(super) fn exit(layer: u32, span: u64) {
    let _ = ENTRIES.try_with(|entries| {
        let Ok(mut entries) = entries.try_borrow_mut() else { return };
        let is_its = |entry: &Entry| entry.span == span && entry.layer == layer;
        let Some(at) = entries.iter().rposition(is_its) else { return };
        let entry = entries.remove(at);
        if let (Entered::Node(line), Some(arena)) = (entry.visit, thread::arena())
            && !hand_on(&mut entries[at..], line)
        {
            arena.exit(line);
        }
    });
}

/// Forgets the innermost entries whose visits were closed with a region around them: those of
/// guards that were forgotten, which would otherwise become more and more, and those that are yet
/// to be left, whose exits must not close later visits of their callpaths.
#[inline]
fn forget_closed(entries: &mut Vec<Entry>, arena: &Arena) {
    let is_closed = |entry: &mut Entry| match entry.visit {
        Entered::Node(line) | Entered::Recursion(line) => !arena.is_open(line),
        Entered::Lost => false,
    };
    while entries.pop_if(is_closed).is_some() {}
}

/// Leaves the visit at `line` to an entry of the region inside of itself, if there is one among
/// `inner`: spans of one place that are not left in the reverse order.
#[inline]
fn hand_on(inner: &mut [Entry], line: Line) -> bool {
    let heir = inner.iter_mut().find(|entry| entry.visit == Entered::Recursion(line));
    heir.map(|entry| entry.visit = Entered::Node(line)).is_some()
}
