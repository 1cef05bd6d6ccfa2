//! Measuring itself, switched off and on by commands.
//!
//! While it is off, the arena is set aside: the shortest path finds none, and the code for threads
//! without one looks here. Whoever has the arena all the same finds the thread outside of all
//! regions, and its caches empty: that ends in the code for callpaths that are not known, which
//! looks here, too. Regions that were open keep their records, and go on when it is on again; the
//! time between is taken out of them. One of them that ends while it is off has ended when that
//! began.

use std::ptr;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use tinyprof_segment::clock::monotonic_ns;
use tinyprof_segment::control::{Answer, Command, Verb, commanded};
use tinyprof_segment::layout::{header, skipped};
use tinyprof_segment::words::Line;

use super::super::current;
use super::super::events::{Events, Window};
use super::super::node::START;
use super::{Arena, Visit, sampled};

/// What is left while it is off.
#[derive(Debug, Default)]
pub(super) struct Off {
    /// Not 0 while it is off.
    is_off: AtomicU32,
    /// The innermost open region.
    at: AtomicU32,
}

impl Arena {
    /// Returns whether measuring is switched off on this thread.
    #[inline]
    pub(in crate::record) fn is_switched_off(&self) -> bool {
        self.off.is_off.load(Relaxed) != 0
    }

    /// Returns why measuring cannot be switched off here: others count on all visits being there.
    pub(super) fn answer_to_off(&self, events: &Events) -> Answer {
        if events.window != Window::Commanded {
            Answer::KeepsAlready
        } else if self.counts_flush_points() || sampled::is_sampling() {
            Answer::NotPossible
        } else {
            Answer::Done
        }
    }

    /// Returns whether ranks count flush points, to agree on one: the ends of roots are some, so
    /// none may be missing.
    #[inline]
    pub(super) fn counts_flush_points(&self) -> bool {
        self.hot.watched().load(Relaxed) != 0
    }

    /// Switches measuring off. A visit has just ended. Owner only.
    pub(super) fn switch_off(&self) {
        let own = &self.off;
        own.at.store(self.current().number(), Relaxed);
        self.header(header::OFF_SINCE).store(self.clock.ticks(), Relaxed);
        self.header(header::OFF_SINCE_NS).store(monotonic_ns(), Relaxed);
        own.is_off.store(1, Relaxed);
        self.hot.forget_callpaths();
        self.hot.current().store(0, Relaxed);
        current::set_aside(ptr::from_ref(self).cast(), true);
    }

    /// Switches it on again. Owner only, outside of all contexts.
    pub(super) fn switch_on(&self) {
        let own = &self.off;
        let since = self.header(header::OFF_SINCE);
        let off_ticks = self.clock.ticks().saturating_sub(since.load(Relaxed));
        let innermost = Line::from_number(own.at.load(Relaxed));
        let mut line = innermost;
        while !line.is_none() {
            let node = self.node(line);
            let start = node.get(START);
            if start != 0 && start & skipped::MARK == 0 {
                node.set(START, start + off_ticks);
            }
            line = node.parent();
        }
        let off_ns = self.header(header::OFF_NS);
        off_ns.store(off_ns.load(Relaxed).saturating_add(self.off_now_ns()), Relaxed);
        since.store(0, Relaxed);
        self.header(header::OFF_SINCE_NS).store(0, Relaxed);
        own.is_off.store(0, Relaxed);
        self.hot.current().store(innermost.number(), Relaxed);
        self.log_end(self.obedience.off.swap(0, Relaxed));
        current::set_aside(ptr::from_ref(self).cast(), false);
    }

    /// Returns for how long it has been off, since the last switch; 0 if it is on.
    fn off_now_ns(&self) -> u64 {
        match self.header(header::OFF_SINCE_NS).load(Relaxed) {
            0 => 0,
            since_ns => monotonic_ns().saturating_sub(since_ns),
        }
    }

    /// Returns for how long measuring was off on this thread, in ns. Any thread.
    pub(crate) fn off_ns(&self) -> u64 {
        self.header(header::OFF_NS).load(Relaxed).saturating_add(self.off_now_ns())
    }

    /// Returns the moment up to which visits that are open have lasted, in ticks. Any thread.
    pub(crate) fn measured_until(&self) -> u64 {
        match self.header(header::OFF_SINCE).load(Relaxed) {
            0 => self.now(),
            since => since,
        }
    }

    /// Enters nothing, as measuring is off, but obeys a command. Returns `None` if it was on.
    #[inline]
    pub(super) fn enter_off(&self) -> Option<Visit> {
        if !self.is_switched_off() {
            return None;
        }
        // Within a context, the region to go back to is that of another thread.
        if self.has_news_while_off() && self.current().is_none() {
            self.obey_off();
            if !self.is_switched_off() && self.counts_flush_points() {
                return None;
            }
        }
        // Also where it has just been switched on: what it enters has begun before.
        Some(Visit::LOST)
    }

    /// Returns whether a command has come, or flush points are watched: measuring may be off no
    /// longer.
    #[inline]
    pub(crate) fn has_news_while_off(&self) -> bool {
        let word = self.header(header::COMMAND).load(Acquire);
        word != self.obedience.seen.load(Relaxed) || self.counts_flush_points()
    }

    /// Obeys a command that has come while measuring is off.
    #[cold]
    #[inline(never)]
    fn obey_off(&self) {
        let own = &self.obedience;
        if own.is_obeying.swap(1, Relaxed) != 0 {
            return;
        }
        let word = self.header(header::COMMAND).load(Acquire);
        own.seen.store(word, Relaxed);
        if let Some(command) = commanded(|at| self.header(at).load(Relaxed)) {
            let given = self.begin_off(&command);
            self.conclude(word, &command, given);
        }
        if self.counts_flush_points() {
            self.forget_off();
        }
        own.is_obeying.store(0, Relaxed);
    }

    fn begin_off(&self, command: &Command) -> Answer {
        match command.verb() {
            None => Answer::Unknown,
            Some(Verb::Record | Verb::Reset | Verb::Filter | Verb::Metrics) => Answer::NotPossible,
            Some(Verb::Hold) => self.answer_to_hold(),
            Some(Verb::Release | Verb::Off) => Answer::Done,
            Some(Verb::On) => {
                self.switch_on();
                Answer::Done
            }
        }
    }

    /// Closes a visit that was open when measuring was switched off, and is left now: it has ended
    /// then. Returns false, as nothing is left to do.
    #[cold]
    pub(super) fn close_while_off(&self, line: Line) -> bool {
        let is_around = |at: Line| {
            let mut at = at;
            while !at.is_none() && at != line {
                at = self.node(at).parent();
            }
            at == line
        };
        let innermost = Line::from_number(self.off.at.load(Relaxed));
        if !is_around(innermost) {
            return false;
        }
        self.hot.current().store(innermost.number(), Relaxed);
        while self.current() != line {
            self.close_innermost();
        }
        let node = self.node(line);
        let start = node.get(START);
        if start != 0 && start & skipped::MARK == 0 {
            self.add_visit(node, self.measured_until(), 0);
        }
        if node.parent().is_none() {
            self.pass_flush_point();
        }
        self.off.at.store(node.parent().number(), Relaxed);
        self.hot.current().store(0, Relaxed);
        false
    }

    /// Makes `before` the region to go back to, of a context at `under` in which measuring was
    /// switched off.
    #[cold]
    pub(super) fn step_back_while_off(&self, under: Line, before: Line) {
        self.hot.current().store(self.off.at.load(Relaxed), Relaxed);
        while self.current() != under && !self.current().is_none() {
            self.close_innermost();
        }
        self.off.at.store(before.number(), Relaxed);
        self.hot.current().store(0, Relaxed);
    }

    /// Forgets that it is off, in a child process, whose words for it are new.
    pub(super) fn forget_off_of_parent(&self) {
        self.off.is_off.store(0, Relaxed);
        for word in [header::OFF_SINCE, header::OFF_SINCE_NS, header::OFF_NS] {
            self.header(word).store(0, Relaxed);
        }
        current::set_aside(ptr::from_ref(self).cast(), false);
    }

    /// Switches measuring on for another owner of the arena.
    pub(in crate::record) fn forget_off(&self) {
        if self.is_switched_off() {
            self.switch_on();
        }
    }
}
