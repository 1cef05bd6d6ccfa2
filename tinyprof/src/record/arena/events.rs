//! Events: visits and messages that are kept one by one, in a buffer of the arena.
//!
//! Nothing of it is on the shortest path. While a thread keeps events, a bit in the word of its
//! execution tells its visits from those that take that path, as for other unusual visits: they are
//! added by `exit_slowly`, which comes here.

use std::collections::HashMap;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicU64};

use tinyprof_events::layout::Geometry;
use tinyprof_events::{Buffer, EventClass, MessageEnd, Recording, Visit, read};
use tinyprof_format::model::CallpathId;
use tinyprof_segment::clock::monotonic_ns;
use tinyprof_segment::control::Accepts;
use tinyprof_segment::layout::{LINE_WORDS, header, keeping, skipped};
use tinyprof_segment::sequence::publish;
use tinyprof_segment::words::{Line, pack};

use super::super::events::{Events, Window, installed, is_asked};
use super::super::node::{Node, START};
use super::Arena;
use super::reading::Ids;

/// The number of ticks between two looks at whether a window of time has begun or ended: less than
/// 0.1 ms, and rarely enough to cost nothing.
const LOOK_TICKS: u64 = 100_000;

/// The events of an arena.
#[derive(Debug, Default)]
pub(super) struct ArenaEvents {
    /// The line of the buffer; 0 if there is none yet.
    line: AtomicU32,
    words: AtomicU32,
    /// The geometry of the buffer.
    geometry: AtomicU64,
    lacks_memory: AtomicU32,
    /// The begin and the end of the last call that has ended.
    last_call: AtomicU64,
    last_call_end: AtomicU64,
    /// When to look next whether a window has begun or ended.
    next_look: AtomicU64,
    /// The visits of the window's region that have ended.
    region_visits: AtomicU64,
    /// The pieces of the program in which the thread is that ask for events, and the begin of the
    /// outermost.
    pieces: AtomicU32,
    piece_begin: AtomicU64,
}

/// A visit that is open while events are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenEvent {
    pub(crate) callpath: CallpathId,
    pub(crate) depth: u32,
    pub(crate) begin: u64,
}

/// The events of a thread, as another thread reads them.
#[derive(Debug)]
pub(crate) struct EventReading {
    pub(crate) recording: Recording,
    pub(crate) memory_bytes: u64,
    /// The callpaths, and their depths, by the numbers in the recording.
    pub(crate) callpaths: HashMap<u32, (CallpathId, u32)>,
    /// The visits that have not ended, unless the window is over.
    pub(crate) open: Vec<OpenEvent>,
}

impl Arena {
    /// Makes the thread of the arena keep events, if that is asked for. Before its first region.
    pub(in crate::record) fn begin_events(&self) {
        let Some(events) = installed() else { return };
        self.header(header::ACCEPTS).store(events.accepts.to_word(), Relaxed);
        let state = match &events.window {
            Window::Commanded => return self.keeping().store(keeping::OVER, Relaxed),
            Window::Always if events.accepts == Accepts::Nothing => keeping::ALL,
            Window::Always => keeping::NOW,
            Window::Time { from_ns: 1.., .. } | Window::Visits { first: 1.., .. } => {
                keeping::WAITING
            }
            Window::Program | Window::Time { .. } | Window::Visits { .. } => keeping::NOW,
        };
        self.keeping().store(state, Relaxed);
        self.watch_visits();
    }

    /// Keeps the visit of `node`, at `line`, that ends now, if the thread keeps events. Owner only.
    #[inline(always)]
    pub(super) fn note_event(&self, node: Node<'_>, line: Line, begin: u64, now: u64) {
        if self.watches_visits() {
            self.note_event_of(node, line, begin, now);
        }
    }

    #[inline(never)]
    pub(super) fn note_event_of(&self, node: Node<'_>, line: Line, begin: u64, now: u64) {
        if self.keeping().load(Relaxed) == keeping::ALL {
            self.keep_event(node, line, begin, now);
        } else {
            self.note_event_in_window(node, line, begin, now);
        }
    }

    #[inline(never)]
    fn note_event_in_window(&self, node: Node<'_>, line: Line, begin: u64, now: u64) {
        let Some(events) = installed() else { return self.watch_no_visits() };
        if self.keeps_now(events) {
            self.keep_event(node, line, begin.max(self.recording_since()), now);
        } else if self.site(line).is_call() {
            self.remember_call_event(begin, now);
        }
        match &events.window {
            Window::Always | Window::Program => {}
            Window::Commanded => self.pass_recording(node, now),
            Window::Time { from_ns, to_ns } => {
                if self.is_time_to_look(now) {
                    let at_ns = monotonic_ns().saturating_sub(events.started.monotonic_ns);
                    self.pass_window(node, now, at_ns >= *from_ns, at_ns >= *to_ns);
                }
            }
            Window::Visits { region, first, last } => {
                if self.site(line).name() == region {
                    let ended = self.events.region_visits.load(Relaxed) + 1;
                    self.events.region_visits.store(ended, Relaxed);
                    self.pass_window(node, now, ended >= *first, ended > *last);
                }
            }
        }
        if events.accepts != Accepts::Nothing {
            self.obey(events, node, now);
        }
    }

    fn keeps_now(&self, events: &Events) -> bool {
        match events.window {
            Window::Program => is_asked(),
            _ => self.is_keeping(),
        }
    }

    pub(super) fn is_keeping(&self) -> bool {
        keeping::is_keeping(self.keeping().load(Relaxed))
    }

    /// Returns whether the thread keeps no events until a command asks for them.
    pub(super) fn is_over(&self) -> bool {
        self.keeping().load(Relaxed) == keeping::OVER
    }

    /// Returns the word that says whether the thread keeps events; see [`keeping`].
    #[inline(always)]
    fn keeping(&self) -> &AtomicU64 {
        self.segment.header(header::KEEPING)
    }

    /// Keeps an end of a message of the call at `callpath`, if the thread keeps events: of the call
    /// that is open, or of the one that has just ended. Owner only.
    #[inline(never)]
    pub(crate) fn note_message(&self, callpath: Line, end: &MessageEnd) {
        let is_all = self.keeping().load(Relaxed) == keeping::ALL;
        if !is_all && !installed().is_some_and(|events| self.keeps_now(events)) {
            return;
        }
        let begin = self.node(callpath).get(START);
        let is_open = begin != 0 && begin & skipped::MARK == 0;
        let at = match (is_open, end.is_receive) {
            (true, false) => begin,
            (true, true) => self.clock.ticks(),
            (false, false) => self.events.last_call.load(Relaxed),
            (false, true) => self.events.last_call_end.load(Relaxed),
        };
        if let Some(buffer) = self.buffer().or_else(|| self.make_buffer()) {
            buffer.record_message(callpath.number(), at, end);
        }
    }

    /// Begins or ends the window of the thread, which is about to leave `node`.
    fn pass_window(&self, node: Node<'_>, now: u64, begun: bool, ended: bool) {
        if ended {
            self.end_keeping(node, 0, now);
        } else if begun {
            self.keeping().store(keeping::NOW, Relaxed);
        }
    }

    /// Keeps events from now on.
    pub(super) fn begin_keeping(&self) {
        self.keeping().store(keeping::NOW, Relaxed);
        self.watch_visits();
    }

    /// Keeps no more events, and what has been of the visits around `node`, since `since`.
    pub(super) fn end_keeping(&self, node: Node<'_>, since: u64, now: u64) {
        if self.is_keeping() {
            self.cut_around(node.parent(), since, now);
        }
        self.keeping().store(keeping::OVER, Relaxed);
        self.watch_no_visits();
    }

    /// Returns whether it is time to look whether a window has begun or ended.
    pub(super) fn is_time_to_look(&self, now: u64) -> bool {
        let next = &self.events.next_look;
        let is_time = now >= next.load(Relaxed);
        if is_time {
            next.store(now + LOOK_TICKS, Relaxed);
        }
        is_time
    }

    /// Begins a piece of the program that asks for events. Owner only.
    pub(crate) fn begin_piece(&self) {
        if self.events.pieces.fetch_add(1, Relaxed) == 0 {
            self.events.piece_begin.store(self.clock.ticks(), Relaxed);
        }
    }

    /// Ends a piece, and with the outermost one keeps what has been in it of the visits that are
    /// open on this thread. Owner only.
    pub(crate) fn end_piece(&self) {
        // The arena may have been made within the piece.
        let is_outermost = self.events.pieces.load(Relaxed) == 1;
        self.events.pieces.store(self.events.pieces.load(Relaxed).saturating_sub(1), Relaxed);
        let events = installed().filter(|events| events.window == Window::Program);
        if events.is_some() && is_outermost && self.watches_visits() {
            let since = self.events.piece_begin.load(Relaxed);
            self.cut_around(self.current(), since, self.clock.ticks());
        }
    }

    /// Keeps the visits that are open at `line` and around it as if they ended now, and had not
    /// begun before `since`: they are not kept when they end.
    fn cut_around(&self, mut line: Line, since: u64, now: u64) {
        while !line.is_none() {
            let node = self.node(line);
            let begin = node.get(START);
            let is_timed = begin != 0 && begin & skipped::MARK == 0;
            if is_timed
                && self.keep_event(node, line, begin.max(since), now)
                && let Some(buffer) = self.buffer()
            {
                buffer.count_cut();
            }
            line = node.parent();
        }
    }

    #[inline(always)]
    fn keep_event(&self, node: Node<'_>, line: Line, begin: u64, end: u64) -> bool {
        let depth = self.depth_of(node);
        let class = if self.site(line).is_call() {
            self.remember_call_event(begin, end);
            EventClass::Call
        } else if depth == 1 {
            EventClass::Root
        } else if self.events.last_call.load(Relaxed) >= begin {
            EventClass::AroundCalls
        } else {
            EventClass::Computation
        };
        let callpath = line.number();
        let visit = Visit { callpath, class, depth, begin, end };
        self.buffer().is_some_and(|buffer| buffer.record_usual(visit))
            || self.keep_unusual_event(callpath, class, depth, begin, end)
    }

    /// Remembers when the last call was: a message may be of it, and regions are around it.
    #[inline(always)]
    fn remember_call_event(&self, begin: u64, end: u64) {
        self.events.last_call.store(begin, Relaxed);
        self.events.last_call_end.store(end, Relaxed);
    }

    /// Keeps the first visit of the thread, of a callpath in a bin, or of a bin. Its arguments are
    /// such that the other visits need no stack.
    #[cold]
    #[inline(never)]
    fn keep_unusual_event(
        &self,
        callpath: u32,
        class: EventClass,
        depth: u32,
        begin: u64,
        end: u64,
    ) -> bool {
        let buffer = self.buffer().or_else(|| self.make_buffer());
        buffer.is_some_and(|buffer| buffer.record(Visit { callpath, class, depth, begin, end }))
    }

    #[inline(always)]
    fn buffer(&self) -> Option<Buffer<'_>> {
        let geometry = Geometry::from_word(self.events.geometry.load(Relaxed));
        Some(Buffer::of_words(self.event_words()?, geometry))
    }

    #[inline(always)]
    fn event_words(&self) -> Option<&[AtomicU64]> {
        let line = Line::from_number(self.events.line.load(Acquire));
        let words = self.events.words.load(Relaxed) as usize;
        // SAFETY: `make_buffer` has stored the line of a block with this number of words.
        (!line.is_none()).then(|| unsafe { self.segment.words(line, 0, words) })
    }

    /// Makes the buffer; `None` if there is no memory, or a signal handler has interrupted. Without
    /// memory the thread keeps no events, which is counted.
    #[cold]
    #[inline(never)]
    fn make_buffer(&self) -> Option<Buffer<'_>> {
        let events = installed()?;
        if self.segment.is_being_changed() {
            return None;
        }
        let lines = events.bytes / (LINE_WORDS * 8);
        let block = self.segment.allocate_zeroed(lines.ilog2());
        let Some((line, words)) = block else {
            self.events.lacks_memory.store(1, Relaxed);
            self.keeping().store(keeping::OVER, Relaxed);
            self.watch_no_visits();
            return None;
        };
        let buffer = Buffer::prepare(words, events.policy, events.times)?;
        let count = u32::try_from(words.len()).ok()?;
        let geometry = Geometry::of_words(words.len())?;
        self.events.geometry.store(geometry.to_word(), Relaxed);
        self.events.words.store(count, Relaxed);
        publish(self.header(header::EVENTS), pack(line.number(), count));
        self.events.line.store(line.number(), std::sync::atomic::Ordering::Release);
        Some(buffer)
    }

    /// Forgets the buffer, which belongs to the parent of this process.
    pub(super) fn forget_events(&self) {
        self.events.line.store(0, Relaxed);
    }

    /// Returns whether there was no memory for events. Any thread.
    pub(crate) fn lacks_memory_for_events(&self) -> bool {
        self.events.lacks_memory.load(Relaxed) > 0
    }

    /// Returns the events so far; `None` if there are none. Any thread.
    pub(crate) fn event_reading(&self) -> Option<EventReading> {
        let words = self.event_words()?;
        let recording = read(words)?;
        let mut ids = Ids::default();
        let describe = |node: Node<'_>| {
            let line = node.line();
            (line.number(), (ids.of(self, line), self.depth_of(node)))
        };
        let callpaths: HashMap<_, _> = self.nodes().map(describe).collect();
        let is_over = !self.is_keeping();
        let is_asked = installed().is_some_and(|e| e.window != Window::Program) || is_asked();
        let open = self.nodes().filter(|_| !is_over && is_asked).filter_map(|node| {
            let begin = node.get(START);
            let &(callpath, depth) = callpaths.get(&node.line().number())?;
            (begin != 0 && begin & skipped::MARK == 0).then_some(OpenEvent {
                callpath,
                depth,
                begin,
            })
        });
        let open = open.collect();
        let memory_bytes = words.len() as u64 * 8;
        Some(EventReading { recording, memory_bytes, callpaths, open })
    }

    /// Returns the depth of a callpath; a root has 1.
    fn depth_of(&self, node: Node<'_>) -> u32 {
        if node.parent().is_none() { 1 } else { node.completed_or_depth() }
    }
}
