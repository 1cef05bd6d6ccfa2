//! Commands from outside, which a thread obeys where a visit ends.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::thread;
use std::time::Duration;

use tinyprof_format::model::{Mode, RegionKind};
use tinyprof_segment::clock::monotonic_ns;
use tinyprof_segment::control::{
    ARGUMENT_WORDS, Accepts, Answer, Command, HOLD_NS_MAX, LEASE_NS, Verb, answer, commanded,
};
use tinyprof_segment::layout::{LINE_WORDS, header};
use tinyprof_segment::obeyed::{self, Obeyed};
use tinyprof_segment::sequence::publish;
use tinyprof_segment::words::{Line, pack};

use super::super::events::{Events, Window, installed};
use super::super::node::Node;
use super::super::site::Site;
use super::Arena;
use crate::sys::sandbox;

/// The region in which a thread is held, so that the regions around it are not blamed for the time.
static HELD: Site =
    Site::new("[held]", "tinyprof", file!(), line!(), column!(), RegionKind::Scope, Mode::Total);

/// The time between two looks of a thread that is held.
const LOOK: Duration = Duration::from_millis(2);

/// The commands that a thread has seen, and the last recording.
#[derive(Debug, Default)]
pub(super) struct Obedience {
    /// The word of the last command.
    pub(super) seen: AtomicU64,
    /// When the recording began, in ticks.
    recording_since: AtomicU64,
    pub(super) is_obeying: AtomicU64,
    /// The line of the log, see [`obeyed`]; 0 if there is none yet.
    log: AtomicU32,
    /// The position in the log of the recording that is under way, plus 1; 0: none.
    recording: AtomicU64,
    /// The same of the command that has switched measuring off.
    pub(super) off: AtomicU64,
    /// The number of the command to begin another part of the run that waits for a flush point,
    /// plus 1; 0: none. Its position in the log plus 1.
    pub(super) reset: AtomicU64,
    pub(super) reset_entry: AtomicU64,
    /// The patterns of regions, and those of metrics, that wait for a flush point; 0 in the first
    /// word: none.
    pub(super) regions: [AtomicU64; ARGUMENT_WORDS],
    pub(super) metrics: [AtomicU64; ARGUMENT_WORDS],
    /// Not 0 if there is another filter than that by which the caches of callpaths were filled.
    pub(super) has_new_filter: AtomicU32,
    /// The commands for which there was no memory for a log.
    not_logged: AtomicU64,
}

/// What a thread knows of commands, as another thread reads it.
#[derive(Debug)]
pub(crate) struct ObeyedReading {
    pub(crate) obeyed: Vec<Obeyed>,
    /// The commands that had no room.
    pub(crate) without_room: u64,
    /// The command that the thread has not come to yet.
    pub(crate) pending: Option<Command>,
}

impl Arena {
    /// Obeys a command that has come since the last one. The visit of `node` has just ended. Owner
    /// only.
    #[inline]
    pub(super) fn obey(&self, events: &Events, node: Node<'_>, now: u64) {
        if self.header(header::COMMAND).load(Acquire) != self.obedience.seen.load(Relaxed) {
            self.obey_new(events, node, now);
        }
        self.look_at_filter();
        if self.is_over() {
            self.watch_no_visits();
            self.watch_for_new_filter();
        }
    }

    /// Obeys until there is no further command. Regions that it opens itself do not come here.
    #[cold]
    #[inline(never)]
    fn obey_new(&self, events: &Events, node: Node<'_>, now: u64) {
        let own = &self.obedience;
        if own.is_obeying.swap(1, Relaxed) != 0 {
            return;
        }
        loop {
            let word = self.header(header::COMMAND).load(Acquire);
            if word == own.seen.load(Relaxed) {
                break;
            }
            own.seen.store(word, Relaxed);
            if let Some(command) = commanded(|at| self.header(at).load(Relaxed)) {
                let given = self.begin(events, &command, node, now);
                self.conclude(word, &command, given);
                if self.is_switched_off() {
                    break;
                }
            }
        }
        own.is_obeying.store(0, Relaxed);
    }

    /// Keeps and answers a command, and does the part of it that takes time, or comes last.
    pub(super) fn conclude(&self, word: u64, command: &Command, given: Answer) {
        let own = &self.obedience;
        let now_ns = monotonic_ns();
        let entry = self.log_command(command, given, now_ns);
        match command.verb().filter(|_| given == Answer::Done) {
            Some(Verb::Record) => own.recording.store(entry, Relaxed),
            Some(Verb::Off) if !self.is_switched_off() => {
                own.off.store(entry, Relaxed);
                self.switch_off();
            }
            Some(Verb::Reset | Verb::Filter | Verb::Metrics) => {
                return self.wait_for_flush_point(command, entry);
            }
            Some(Verb::Off | Verb::Hold | Verb::Release | Verb::On) | None => {}
        }
        answer(self.segment.header_words(), command.number, given, now_ns);
        if given == Answer::Done && command.verb() == Some(Verb::Hold) {
            self.hold(word, command.until_ns);
            self.log_end(entry);
        }
    }

    /// Returns the answer to the command to hold.
    pub(super) fn answer_to_hold(&self) -> Answer {
        let is_allowed = installed().is_some_and(|events| events.accepts >= Accepts::Holding);
        if is_allowed && !sandbox::is_entered() { Answer::Done } else { Answer::NotAllowed }
    }

    /// Does what a command says, but for waiting.
    fn begin(&self, events: &Events, command: &Command, node: Node<'_>, now: u64) -> Answer {
        match command.verb() {
            None => Answer::Unknown,
            Some(Verb::Record) if events.window != Window::Commanded => Answer::KeepsAlready,
            Some(Verb::Record) => {
                self.end_recording(node, now);
                self.obedience.recording_since.store(self.clock.ticks(), Relaxed);
                self.header(header::RECORDING_UNTIL_NS).store(command.until_ns, Relaxed);
                self.begin_keeping();
                Answer::Done
            }
            Some(Verb::Hold) => self.answer_to_hold(),
            Some(Verb::Off) => {
                let given = self.answer_to_off(events);
                if given == Answer::Done {
                    self.end_recording(node, now);
                }
                given
            }
            Some(Verb::On) => Answer::Done,
            Some(Verb::Reset | Verb::Filter | Verb::Metrics) => self.answer_to_reset(),
            Some(Verb::Release) => {
                self.end_recording(node, now);
                Answer::Done
            }
        }
    }

    /// Returns when the last recording that was commanded has begun, in ticks; 0 if there was none.
    /// Visits that were open then are kept as if they had begun with it.
    #[inline(always)]
    pub(super) fn recording_since(&self) -> u64 {
        self.obedience.recording_since.load(Relaxed)
    }

    /// Ends a recording whose time is over. The visit of `node` ends at `now`.
    #[inline]
    pub(super) fn pass_recording(&self, node: Node<'_>, now: u64) {
        if self.is_keeping() && self.is_time_to_look(now) {
            let until_ns = self.header(header::RECORDING_UNTIL_NS).load(Relaxed);
            if monotonic_ns() >= until_ns {
                self.end_recording(node, now);
            }
        }
    }

    fn end_recording(&self, node: Node<'_>, now: u64) {
        let until = self.header(header::RECORDING_UNTIL_NS);
        if until.load(Relaxed) != 0 {
            self.end_keeping(node, self.recording_since(), now);
            until.store(0, Relaxed);
            self.log_end(self.obedience.recording.swap(0, Relaxed));
        }
    }

    /// Adds a command to the log, and returns its position plus 1; 0 if there is no room.
    fn log_command(&self, command: &Command, given: Answer, now_ns: u64) -> u64 {
        let Some(log) = self.obeyed_words().or_else(|| self.make_log()) else {
            self.obedience.not_logged.fetch_add(1, Relaxed);
            return 0;
        };
        obeyed::add(log, command, given, now_ns).map_or(0, |at| at as u64 + 1)
    }

    /// Says in the log that what a command has begun is over.
    pub(super) fn log_end(&self, entry: u64) {
        let at = entry.checked_sub(1).and_then(|at| usize::try_from(at).ok());
        if let (Some(log), Some(at)) = (self.obeyed_words(), at) {
            obeyed::end(log, at, monotonic_ns());
        }
    }

    pub(super) fn obeyed_words(&self) -> Option<&[AtomicU64]> {
        let line = Line::from_number(self.obedience.log.load(Acquire));
        // SAFETY: `make_log` has stored the line of a block with this number of words.
        (!line.is_none()).then(|| unsafe { self.segment.words(line, 0, obeyed::WORDS) })
    }

    /// Makes the log; `None` if there is no memory, or a signal handler has interrupted.
    fn make_log(&self) -> Option<&[AtomicU64]> {
        if self.segment.is_being_changed() {
            return None;
        }
        let (line, words) = self.segment.allocate_zeroed((obeyed::WORDS / LINE_WORDS).ilog2())?;
        let count = u32::try_from(words.len()).ok()?;
        publish(self.header(header::OBEYED), pack(line.number(), count));
        self.obedience.log.store(line.number(), Release);
        Some(words)
    }

    /// Returns what the thread has obeyed; `None` if it was never given a command. Any thread.
    pub(crate) fn obeyed_reading(&self) -> Option<ObeyedReading> {
        let own = &self.obedience;
        let word = self.header(header::COMMAND).load(Acquire);
        if word == 0 {
            return None;
        }
        let pending = commanded(|at| self.header(at).load(Relaxed));
        let pending = pending.filter(|_| word != own.seen.load(Relaxed));
        let (obeyed, without_room) = self.obeyed_words().map(obeyed::read_of).unwrap_or_default();
        let without_room = without_room + own.not_logged.load(Relaxed);
        Some(ObeyedReading { obeyed, without_room, pending })
    }

    /// Forgets the log, which belongs to the parent of this process.
    pub(super) fn forget_commands(&self) {
        self.obedience.log.store(0, Relaxed);
        self.obedience.recording.store(0, Relaxed);
        self.obedience.off.store(0, Relaxed);
        self.obedience.reset.store(0, Relaxed);
        self.obedience.regions[0].store(0, Relaxed);
        self.obedience.metrics[0].store(0, Relaxed);
        self.forget_off_of_parent();
    }

    /// Waits until some time, until there is another command than `word`, or until nobody renews
    /// the lease.
    fn hold(&self, word: u64, until_ns: u64) {
        // Outside of all regions its end would be a flush point, which no other rank has.
        let region = if self.current().is_none() { None } else { self.enter(&HELD).to_leave() };
        let since = self.header(header::HELD_SINCE_NS);
        let begun_ns = monotonic_ns();
        since.store(begun_ns, Relaxed);
        let until_ns = until_ns.min(begun_ns.saturating_add(HOLD_NS_MAX));
        loop {
            let now_ns = monotonic_ns();
            let lease_ns = self.header(header::LEASE_NS).load(Relaxed);
            let is_over = now_ns >= until_ns
                || now_ns >= lease_ns.saturating_add(LEASE_NS)
                || self.header(header::COMMAND).load(Acquire) != word;
            if is_over {
                break;
            }
            thread::sleep(LOOK);
        }
        since.store(0, Relaxed);
        if let Some(line) = region {
            self.exit(line);
        }
    }
}
