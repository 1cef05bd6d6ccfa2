//! Lists that never outgrow their budget: the past executions of a callpath, and its series.
//!
//! A list doubles its block until the budget is reached. Then neighbours are folded into one, the
//! stride doubles, and half of the block is free again: memory stays constant however long the
//! program runs, sums, counts, minima and maxima stay exact, and every element says how many visits
//! or executions it stands for.
//!
//! A thread may be killed anywhere in here, and what it leaves in its file is read: a list is
//! changed in a block that nobody sees yet, and one store of its first word makes all of it
//! visible.
//!
//! A list is described by two words of its node: (length, block) and (stride, capacity).

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::fence;

use tinyprof_format::segment::layout::header::{UNDO, UNDO_LINE};
use tinyprof_format::segment::layout::{PAST_WORDS, SERIES_WORDS};

use super::element::{Element, SeriesElement};
use super::node::{Node, PAST, SERIES, VISITS, high, low, pack};
use super::segment::{LINE_WORDS, Line, Segment};

/// The two header words of a list, unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    block: Line,
    pub(super) length: u32,
    stride: u32,
    /// The elements that the block has room for.
    capacity: u32,
}

impl Header {
    #[inline]
    pub(super) fn of<E: Element>(node: Node<'_>) -> Self {
        let (first, second) = (node.get(E::HEADER), node.get(E::HEADER + 1));
        Self {
            block: Line::from_number(high(first)),
            length: low(first),
            stride: low(second),
            capacity: high(second),
        }
    }

    #[inline]
    fn save<E: Element>(self, node: Node<'_>) {
        node.set(E::HEADER + 1, pack(self.stride, self.capacity));
        // Makes visible what was written before: the elements, and the capacity that they need.
        node.word(E::HEADER).store(pack(self.length, self.block.number()), Release);
    }

    /// The class of the block, which there is.
    fn class<E: Element>(self) -> u32 {
        self.capacity.trailing_zeros() - capacity_of::<E>(0).trailing_zeros()
    }

    /// Whether the elements up to `length` are where they were: nothing was moved or folded since.
    pub(super) fn has_same_layout(self, later: Self) -> bool {
        Self { length: self.length, ..later } == self && later.length >= self.length
    }
}

/// The elements that a block of 2^class lines has room for: at most 2^14 lines of two.
fn capacity_of<E: Element>(class: u32) -> u32 {
    low(((LINE_WORDS / E::WORDS) as u64) << class)
}

/// Element `at` of the list in `block`.
#[inline]
fn element<E: Element>(segment: &Segment, block: Line, at: u32) -> E {
    let words = segment.words(block, at as usize * E::WORDS, E::WORDS);
    E::load(|word| words[word].load(Relaxed))
}

#[inline]
fn put_element<E: Element>(segment: &Segment, block: Line, at: u32, value: E) {
    let words = segment.words(block, at as usize * E::WORDS, E::WORDS);
    value.store(|word, bits| words[word].store(bits, Relaxed));
}

/// Copies the elements of a list. Any thread; the caller checks afterwards that the copy is whole.
pub(super) fn copy<E: Element>(segment: &Segment, header: Header) -> Vec<E> {
    let words = header.length as usize * E::WORDS;
    if header.length == 0
        || header.length > header.capacity
        || !segment.contains(header.block, words)
    {
        return Vec::new();
    }
    (0..header.length).map(|at| element(segment, header.block, at)).collect()
}

/// The last element of a list, if it has one. Any thread.
pub(super) fn last<E: Element>(segment: &Segment, header: Header) -> Option<E> {
    let at = header.length.checked_sub(1)?;
    let in_bounds =
        at < header.capacity && segment.contains(header.block, header.length as usize * E::WORDS);
    in_bounds.then(|| element(segment, header.block, at))
}

/// Appends a visit to a series: [`push`] of one visit, as short as it can be, since a loop does it
/// at each of its boundaries. Inside of [`Node::update`].
#[inline(always)]
pub(super) fn push_visit(node: Node<'_>, execution: u32, ticks: u64) -> bool {
    append_visit(node, pack(execution, 1), ticks)
        || push(node, SeriesElement { execution, visits: 1, sum: ticks, min: ticks, max: ticks })
}

/// Appends a visit to a series whose block has room for it, or whose last element has; false where
/// neither has. `one` is the first word of an element of one visit. Inside of [`Node::update`].
#[inline(always)]
pub(super) fn append_visit(node: Node<'_>, one: u64, ticks: u64) -> bool {
    let (first, second) = (node.get(SERIES), node.get(SERIES + 1));
    let (block, length) = (Line::from_number(high(first)), low(first) as usize);
    let stride = low(second);
    if stride > 1 && length > 0 {
        let [head, sum, min, max] =
            node.segment.record::<SERIES_WORDS>(block, (length - 1) * SERIES_WORDS);
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
        let words = node.segment.record::<SERIES_WORDS>(block, length * SERIES_WORDS);
        for (word, value) in words.iter().zip([one, ticks, ticks, ticks]) {
            word.store(value, Relaxed);
        }
        node.word(SERIES).store(first + 1, Release);
    }
    has_room
}

/// Appends the live numbers of a record, those of the one visit in the execution that `word` begins
/// with, to its past executions, if their block has room or the last of them has; false where
/// neither has. Inside of [`Node::update`].
#[inline(always)]
pub(super) fn append_past(node: Node<'_>, word: u64) -> bool {
    let (first, second) = (node.get(PAST), node.get(PAST + 1));
    let (block, length) = (Line::from_number(high(first)), low(first) as usize);
    let (execution, stride) = (low(word), low(second));
    // Another visit of the same execution would have to be undone if it were broken off.
    if node.get(VISITS) != 1 {
        return false;
    }
    if stride > 1 && length > 0 {
        let last = node.segment.record::<PAST_WORDS>(block, (length - 1) * PAST_WORDS);
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
            // Last: that an execution is covered says that its visits are in.
            fence(Release);
            set(0, pack(low(get(0)), before + 1));
            return true;
        }
    }
    let has_room = low(first) < high(second);
    if has_room {
        let place = node.segment.record::<PAST_WORDS>(block, length * PAST_WORDS);
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
        node.word(PAST).store(first + 1, Release);
    }
    has_room
}

/// Appends an element, inside of [`Node::update`]. Says whether it was kept: not if memory has run
/// out before the list had any.
#[inline(never)]
pub(super) fn push<E: Element>(node: Node<'_>, value: E) -> bool {
    let mut header = Header::of::<E>(node);
    if header.stride > 1 && header.length > 0 {
        let at = header.length - 1;
        let mut last: E = element(node.segment, header.block, at);
        if last.has_room_for(&value, header.stride) {
            let undo = E::needs_undo(&value);
            if undo {
                keep_for_undo(node.segment, header.block, at, last);
            }
            last.absorb(&value);
            put_element(node.segment, header.block, at, last);
            if undo {
                node.segment.header(UNDO_LINE).store(0, Release);
            }
            return true;
        }
    }
    if header.length == header.capacity {
        return push_in_new_room(node, header, value);
    }
    put_element(node.segment, header.block, header.length, value);
    header.length += 1;
    header.save::<E>(node);
    true
}

/// Keeps what element `at` is before it changes: if the owner dies meanwhile, the reader of its
/// file takes that. Rare: once for each callpath and execution, of more executions than are kept
/// apart.
fn keep_for_undo<E: Element>(segment: &Segment, block: Line, at: u32, element: E) {
    element.store(|word, bits| segment.header(UNDO + word).store(bits, Relaxed));
    let line = block.number() + low(u64::from(at) * E::WORDS as u64 / LINE_WORDS as u64);
    segment.header(UNDO_LINE).store(u64::from(line), Release);
    fence(Release);
}

/// Rare: once for every doubling of the list, and once for every folding after that.
#[cold]
#[inline(never)]
fn push_in_new_room<E: Element>(node: Node<'_>, header: Header, value: E) -> bool {
    let Some(mut roomy) = make_room::<E>(node.segment, header) else { return false };
    put_element(node.segment, roomy.block, roomy.length, value);
    roomy.length += 1;
    roomy.save::<E>(node);
    if roomy.block != header.block && !header.block.is_none() {
        // Only now: giving it back writes to it.
        fence(Release);
        node.segment.release(header.block, header.class::<E>());
    }
    true
}

/// The list with room for one more element: in another block, of which the node does not know yet,
/// unless there is no memory for that.
fn make_room<E: Element>(segment: &Segment, header: Header) -> Option<Header> {
    let class = if header.capacity == 0 { 2 } else { header.class::<E>() + 1 };
    if class <= E::CLASS_MAX
        && let Some(block) = segment.allocate(class)
    {
        (0..header.length).for_each(|at| {
            put_element::<E>(segment, block, at, element(segment, header.block, at));
        });
        let capacity = capacity_of::<E>(class);
        return Some(Header { block, capacity, stride: header.stride.max(1), ..header });
    }
    (header.length > 1).then(|| fold::<E>(segment, header))
}

/// Makes one element of two neighbours. Series fold inside their executions as long as that frees a
/// quarter of the block; when executions are too short for that, neighbours fold across them.
fn fold<E: Element>(segment: &Segment, header: Header) -> Header {
    // The block that this one frees serves the next fold: all lists of an arena share one of a
    // size.
    let block = segment.allocate(header.class::<E>()).unwrap_or(header.block);
    let kept = fold_where::<E>(segment, header, block, Element::folds_well_with);
    let header = Header { block, length: kept, stride: header.stride.saturating_mul(2), ..header };
    if kept <= header.capacity / 4 * 3 {
        return header;
    }
    Header { length: fold_where::<E>(segment, header, block, |_, _| true), ..header }
}

fn fold_where<E: Element>(
    segment: &Segment,
    header: Header,
    into: Line,
    may: impl Fn(&E, &E) -> bool,
) -> u32 {
    let (mut from, mut to) = (0, 0);
    while from < header.length {
        let mut here: E = element(segment, header.block, from);
        from += 1;
        if from < header.length {
            let next = element(segment, header.block, from);
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
mod tests {
    use proptest::prelude::*;

    use super::super::element::{PastExecution, SeriesElement};
    use super::super::node::NODE_CLASS;
    use super::*;

    fn with_node(test: impl FnOnce(Node<'_>)) {
        let segment = Segment::reserve().unwrap();
        let line = segment.allocate(NODE_CLASS).unwrap();
        test(Node::at(&segment, line));
    }

    fn visit(execution: u32, ticks: u64) -> SeriesElement {
        SeriesElement { execution, visits: 1, sum: ticks, min: ticks, max: ticks }
    }

    /// Pushes visits of `lengths[e]` iterations in execution `e` and compares every element with
    /// the exact list.
    fn check_against_exact_list(lengths: &[u32]) {
        with_node(|node| {
            let mut exact = Vec::new();
            for (execution, &length) in (0_u32..).zip(lengths) {
                for i in 0..length {
                    let ticks = u64::from(i * 7919 % 1000 + 1);
                    exact.push((execution, ticks));
                    assert!(push_visit(node, execution, ticks));
                }
            }
            let series = copy::<SeriesElement>(node.segment, Header::of::<SeriesElement>(node));
            assert!(series.len() <= 1 << 15);
            let mut rest = exact.as_slice();
            for element in series {
                let (mine, others) = rest.split_at(element.visits as usize);
                assert_eq!(element.execution, mine[0].0);
                assert_eq!(element.sum, mine.iter().map(|v| v.1).sum::<u64>());
                assert_eq!(Some(element.min), mine.iter().map(|v| v.1).min());
                assert_eq!(Some(element.max), mine.iter().map(|v| v.1).max());
                rest = others;
            }
            assert!(rest.is_empty(), "every visit is in some element");
        });
    }

    #[test]
    fn a_short_series_keeps_every_visit() {
        check_against_exact_list(&[0, 1, 2, 3, 100]);
        with_node(|node| {
            (0..1000).for_each(|i| assert!(push(node, visit(0, i))));
            let series = copy::<SeriesElement>(node.segment, Header::of::<SeriesElement>(node));
            assert_eq!(
                series.iter().map(|e| e.sum).collect::<Vec<_>>(),
                (0..1000).collect::<Vec<_>>()
            );
        });
    }

    #[test]
    fn a_long_series_folds_and_stays_exact() {
        check_against_exact_list(&[100_000]);
        check_against_exact_list(&[1; 100_000]);
        check_against_exact_list(&[3; 50_000]);
    }

    #[test]
    fn executions_fold_when_there_are_too_many() {
        with_node(|node| {
            for execution in 0..10_000_u32 {
                let n = u64::from(execution);
                let past = PastExecution {
                    execution,
                    executions: 1,
                    visits: 2,
                    sum: n,
                    min: n,
                    max: n,
                    squares: u128::from(n * n),
                    variance: 0.0,
                };
                assert!(push(node, past));
            }
            let past = copy::<PastExecution>(node.segment, Header::of::<PastExecution>(node));
            assert!(past.len() <= 4096);
            let mut next = 0;
            for p in past {
                assert_eq!((p.execution, p.min), (next, u64::from(next)));
                next += p.executions;
                assert_eq!((p.max, p.visits), (u64::from(next) - 1, 2 * u64::from(p.executions)));
            }
            assert_eq!(next, 10_000);
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn any_pattern_of_executions_stays_exact(lengths in prop::collection::vec(0_u32..3000, 1..60)) {
            check_against_exact_list(&lengths);
        }
    }
}
