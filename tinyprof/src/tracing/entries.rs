//! The spans that this thread is in, each with the visit that its entry opened.
//!
//! An exit names a span, not a visit. The span may be entered twice, other spans of its place in
//! the source may be entered inside of it, and spans need not be left in reverse order. The list
//! also saves the look-up in the registry at the exit, which costs more than the list.

use std::cell::RefCell;

use crate::record::{Arena, Entered, Line, Site, thread};
use crate::region;

/// An entry of a span that has not been left yet.
#[derive(Debug)]
struct Entry {
    /// The layer that was notified: spans of two registries may have the same id.
    layer: u32,
    span: u64,
    visit: Entered,
}

thread_local! {
    /// The entries of this thread, outermost first.
    static ENTRIES: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// Opens a visit of `site`, if there is one, for an entry of `span`.
///
/// An entry of a span that is not recorded is noted as well, so that its exit finds it at once.
pub(super) fn enter(layer: u32, span: u64, site: Option<&'static Site>) {
    // The list may be gone at the end of the thread, or in use in a signal handler.
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

/// Removes the innermost entries whose visits were closed with a region around them. Some belong to
/// guards that were forgotten; they would pile up. Others have yet to be left; their exits must not
/// close later visits of their callpaths.
#[inline]
fn forget_closed(entries: &mut Vec<Entry>, arena: &Arena) {
    let is_closed = |entry: &mut Entry| match entry.visit {
        Entered::Node(line) | Entered::Recursion(line) => !arena.is_open(line),
        Entered::Lost => false,
    };
    while entries.pop_if(is_closed).is_some() {}
}

/// Passes the visit at `line` on to an entry of the region inside of itself, if `inner` has one.
/// This happens when spans of one place are not left in reverse order.
#[inline]
fn hand_on(inner: &mut [Entry], line: Line) -> bool {
    let heir = inner.iter_mut().find(|entry| entry.visit == Entered::Recursion(line));
    heir.map(|entry| entry.visit = Entered::Node(line)).is_some()
}
