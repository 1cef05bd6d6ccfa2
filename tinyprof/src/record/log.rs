//! Lists of bounded size: the past executions of a callpath, and its series.
//!
//! A list doubles its block up to the largest size. Then pairs of neighbours are folded into one
//! element, the stride doubles, and half of the block is free again. Memory stays constant however
//! long the program runs. Sums, counts, minima and maxima stay exact, and every element holds the
//! number of visits or executions that it represents.
//!
//! A thread may be killed at any point in this code, and what it leaves in its file is read. A list
//! is therefore changed in a block that no reader sees yet, and one store of its first word makes
//! all of it visible.

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use tinyprof_segment::layout::header::{UNDO, UNDO_LINE};
use tinyprof_segment::layout::{LINE_WORDS, PAST_WORDS, SERIES_WORDS};
use tinyprof_segment::list::{List, publish_one_more};
use tinyprof_segment::sequence::publish;
use tinyprof_segment::words::{Line, high, low, pack};

use super::element::{Element, SeriesElement};
use super::node::{Node, PAST, SERIES, VISITS};
use super::segment::Segment;

/// Returns the class of the block of a list, which must exist.
fn class_of<E: Element>(list: List) -> u32 {
    list.capacity.trailing_zeros() - capacity_of::<E>(0).trailing_zeros()
}

/// Returns the number of elements that fit in a block of 2^class lines: at most 2^14 lines of two.
fn capacity_of<E: Element>(class: u32) -> u32 {
    low(((LINE_WORDS / E::WORDS) as u64) << class)
}

/// Returns the words of element `at` of a block. The block must be that of a list with this
/// capacity, or have just been allocated for one.
#[inline]
fn words_of<E: Element>(segment: &Segment, block: Line, at: u32) -> &[AtomicU64] {
    // SAFETY: only `make_room` makes blocks of lists, and their capacity is what fits in them. The
    // owner's own lists are whole, and other threads check theirs in `copy` and `last`.
    unsafe { segment.words(block, at as usize * E::WORDS, E::WORDS) }
}

/// Returns element `at` of the list in `block`.
#[inline]
fn element<E: Element>(segment: &Segment, block: Line, at: u32) -> E {
    let words = words_of::<E>(segment, block, at);
    E::load(|word| words[word].load(Relaxed))
}

#[inline]
fn put_element<E: Element>(segment: &Segment, block: Line, at: u32, value: E) {
    let words = words_of::<E>(segment, block, at);
    value.store(|word, bits| words[word].store(bits, Relaxed));
}

/// Copies the elements of a list. Any thread; the caller then checks that the copy is consistent.
pub(super) fn copy<E: Element>(segment: &Segment, list: List) -> Vec<E> {
    let words = list.length as usize * E::WORDS;
    if list.length == 0 || list.length > list.capacity || !segment.contains(list.block, words) {
        return Vec::new();
    }
    (0..list.length).map(|at| element(segment, list.block, at)).collect()
}

/// Returns the last element of a list, if it has one. Any thread.
pub(super) fn last<E: Element>(segment: &Segment, list: List) -> Option<E> {
    let at = list.length.checked_sub(1)?;
    let in_bounds =
        at < list.capacity && segment.contains(list.block, list.length as usize * E::WORDS);
    in_bounds.then(|| element(segment, list.block, at))
}

/// Appends a visit to a series: a [`push`] of one visit, kept short because a loop does it at each
/// of its flush points. Inside of [`Node::update`].
#[inline(always)]
pub(super) fn push_visit(node: Node<'_>, execution: u32, ticks: u64) -> bool {
    append_visit(node, pack(execution, 1), ticks)
        || push(node, SeriesElement { execution, visits: 1, sum: ticks, min: ticks, max: ticks })
}

/// Appends a visit to a series if its block, or its last element, has room for it; otherwise
/// returns false. `one` is the first word of an element of one visit. Inside of [`Node::update`].
#[inline(always)]
pub(super) fn append_visit(node: Node<'_>, one: u64, ticks: u64) -> bool {
    let (first, second) = (node.get(SERIES), node.get(SERIES + 1));
    let (block, length) = (Line::from_number(high(first)), low(first) as usize);
    let stride = low(second);
    if stride > 1 && length > 0 {
        // SAFETY: the list has this element.
        let [head, sum, min, max] =
            unsafe { node.segment.record::<SERIES_WORDS>(block, (length - 1) * SERIES_WORDS) };
        let visits = head.load(Relaxed);
        if low(visits) == low(one) && high(visits) < stride {
            head.store(visits + (1 << 32), Relaxed);
            sum.store(sum.load(Relaxed).wrapping_add(ticks), Relaxed);
            if ticks < min.load(Relaxed) {
                min.store(ticks, Relaxed);
            }
            if ticks > max.load(Relaxed) {
                max.store(ticks, Relaxed);
            }
            return true;
        }
    }
    let has_room = low(first) < high(second);
    if has_room {
        // SAFETY: the block has room for one more element.
        let words = unsafe { node.segment.record::<SERIES_WORDS>(block, length * SERIES_WORDS) };
        for (word, value) in words.iter().zip([one, ticks, ticks, ticks]) {
            word.store(value, Relaxed);
        }
        publish_one_more(node.word(SERIES), first);
    }
    has_room
}

/// Appends the live numbers of a record to its past executions if their block, or the last of them,
/// has room; otherwise returns false. The live numbers must be those of one visit, in the execution
/// that `word` begins with. Inside of [`Node::update`].
#[inline(always)]
pub(super) fn append_past(node: Node<'_>, word: u64) -> bool {
    let (first, second) = (node.get(PAST), node.get(PAST + 1));
    let (block, length) = (Line::from_number(high(first)), low(first) as usize);
    let (execution, stride) = (low(word), low(second));
    // Another visit of the same execution would have to be undone if it were interrupted.
    if node.get(VISITS) != 1 {
        return false;
    }
    if stride > 1 && length > 0 {
        // SAFETY: the list has this element.
        let last = unsafe { node.segment.record::<PAST_WORDS>(block, (length - 1) * PAST_WORDS) };
        let get = |word: usize| last[word].load(Relaxed);
        let set = |word: usize, value| last[word].store(value, Relaxed);
        let before = execution.wrapping_sub(low(get(0)));
        if before < stride {
            let live = |word: usize| node.get(VISITS + word - 1);
            let (squares, has_overflowed) = get(5).overflowing_add(live(5));
            set(1, get(1).wrapping_add(1));
            set(2, get(2).wrapping_add(live(2)));
            if live(3) < get(3) {
                set(3, live(3));
            }
            if live(4) > get(4) {
                set(4, live(4));
            }
            set(5, squares);
            set(6, get(6).wrapping_add(live(6)).wrapping_add(u64::from(has_overflowed)));
            // Last, because a covered execution means that its visits are included.
            fence(Release);
            set(0, pack(low(get(0)), before + 1));
            return true;
        }
    }
    let has_room = low(first) < high(second);
    if has_room {
        // SAFETY: the block has room for one more element.
        let place = unsafe { node.segment.record::<PAST_WORDS>(block, length * PAST_WORDS) };
        for (word, value) in place
            .iter()
            .enumerate()
            .skip(1)
            .take(6)
            .map(|(at, place)| (place, node.get(VISITS + at - 1)))
        {
            word.store(value, Relaxed);
        }
        place[7].store(0, Relaxed);
        place[0].store(pack(execution, 1), Relaxed);
        publish_one_more(node.word(PAST), first);
    }
    has_room
}

/// Appends an element, inside of [`Node::update`]. Returns whether it was kept: it is not if memory
/// ran out before the list had any.
#[inline(never)]
pub(super) fn push<E: Element>(node: Node<'_>, value: E) -> bool {
    let mut list = node.list(E::LIST);
    if list.stride > 1 && list.length > 0 {
        let at = list.length - 1;
        let mut last: E = element(node.segment, list.block, at);
        if last.has_room_for(&value, list.stride) {
            let undo = E::needs_undo(&value);
            if undo {
                keep_for_undo(node.segment, list.block, at, last);
            }
            last.absorb(&value);
            put_element(node.segment, list.block, at, last);
            if undo {
                publish(node.segment.header(UNDO_LINE), 0);
            }
            return true;
        }
    }
    if list.length == list.capacity {
        return push_in_new_room(node, list, value);
    }
    put_element(node.segment, list.block, list.length, value);
    list.length += 1;
    node.publish(E::LIST, list);
    true
}

/// Saves element `at` before it changes; if the owner dies meanwhile, the reader of its file uses
/// the saved copy. Rare: once for each callpath and execution, if there are more executions than
/// are kept apart.
fn keep_for_undo<E: Element>(segment: &Segment, block: Line, at: u32, element: E) {
    element.store(|word, bits| segment.header(UNDO + word).store(bits, Relaxed));
    let line = block.number() + low(u64::from(at) * E::WORDS as u64 / LINE_WORDS as u64);
    publish(segment.header(UNDO_LINE), u64::from(line));
    fence(Release);
}

/// Appends an element after making room. Rare: once for every doubling of the list, and once for
/// every folding after that.
#[cold]
#[inline(never)]
fn push_in_new_room<E: Element>(node: Node<'_>, list: List, value: E) -> bool {
    let Some(mut roomy) = make_room::<E>(node.segment, list) else { return false };
    put_element(node.segment, roomy.block, roomy.length, value);
    roomy.length += 1;
    node.publish(E::LIST, roomy);
    if roomy.block != list.block && !list.block.is_none() {
        // Released last, because the release writes to the block.
        fence(Release);
        // SAFETY: `make_room` made the block in this class; the node has another one by now.
        unsafe { node.segment.release(list.block, class_of::<E>(list)) };
    }
    true
}

/// Returns the list with room for one more element, in another block that the node does not know
/// yet, unless there is no memory for that.
fn make_room<E: Element>(segment: &Segment, list: List) -> Option<List> {
    let class = if list.capacity == 0 { 2 } else { class_of::<E>(list) + 1 };
    if class <= E::CLASS_MAX
        && let Some(block) = segment.allocate(class)
    {
        (0..list.length).for_each(|at| {
            put_element::<E>(segment, block, at, element(segment, list.block, at));
        });
        let capacity = capacity_of::<E>(class);
        return Some(List { block, capacity, stride: list.stride.max(1), ..list });
    }
    (list.length > 1).then(|| fold::<E>(segment, list))
}

/// Folds pairs of neighbours into one element. Series fold inside their executions as long as that
/// frees a quarter of the block. If executions are too short for that, neighbours fold across them.
fn fold<E: Element>(segment: &Segment, list: List) -> List {
    // The block that this fold frees serves the next one: all lists of an arena share one per size.
    let block = segment.allocate(class_of::<E>(list)).unwrap_or(list.block);
    let kept = fold_where::<E>(segment, list, block, Element::folds_well_with);
    let list = List { block, length: kept, stride: list.stride.saturating_mul(2), ..list };
    if kept <= list.capacity / 4 * 3 {
        return list;
    }
    List { length: fold_where::<E>(segment, list, block, |_, _| true), ..list }
}

fn fold_where<E: Element>(
    segment: &Segment,
    list: List,
    into: Line,
    may: impl Fn(&E, &E) -> bool,
) -> u32 {
    let (mut from, mut to) = (0, 0);
    while from < list.length {
        let mut here: E = element(segment, list.block, from);
        from += 1;
        if from < list.length {
            let next = element(segment, list.block, from);
            if may(&here, &next) {
                here.absorb(&next);
                from += 1;
            }
        }
        put_element(segment, into, to, here);
        to += 1;
    }
    to
}

#[cfg(test)]
mod tests;
