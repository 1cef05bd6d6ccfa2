//! The command to begin another part of the run: obeyed where the thread may be asked, and done at
//! a flush point, by whoever watches those.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::clock::monotonic_ns;
use tinyprof_segment::control::{Answer, Command, answer};
use tinyprof_segment::obeyed;

use super::super::flush_point;
use super::Arena;

impl Arena {
    /// Returns the answer to the command; [`Answer::Done`] if it will be done. A thread whose flush
    /// points nobody watches leaves it to the one that has some.
    pub(super) fn answer_to_reset(&self) -> Answer {
        let is_possible = if self.counts_flush_points() {
            flush_point::ask_for_part()
        } else {
            flush_point::has_parts()
        };
        if is_possible { Answer::Done } else { Answer::NotPossible }
    }

    /// Remembers the command until it is done: only then it is answered.
    pub(super) fn wait_for_flush_point(&self, command: &Command, entry: u64) {
        let own = &self.obedience;
        if self.counts_flush_points() {
            own.reset_entry.store(entry, Relaxed);
            own.reset.store(u64::from(command.number) + 1, Relaxed);
            // Again: another thread may have been at a flush point meanwhile.
            flush_point::ask_for_part();
        }
    }

    /// Returns whether the command waits for a flush point. Any thread.
    pub(crate) fn is_part_asked_for(&self) -> bool {
        self.obedience.reset.load(Relaxed) != 0
    }

    /// Says that the command was done at this flush point, or could not be. Any thread.
    pub(crate) fn part_has_begun(&self, flush_point: Option<u64>) {
        let own = &self.obedience;
        let number = own.reset.swap(0, Relaxed).checked_sub(1);
        let Some(number) = number.and_then(|number| u32::try_from(number).ok()) else { return };
        let given = if flush_point.is_some() { Answer::Done } else { Answer::NotPossible };
        let now_ns = monotonic_ns();
        let at = own.reset_entry.load(Relaxed).checked_sub(1);
        if let (Some(log), Some(at)) =
            (self.obeyed_words(), at.and_then(|at| usize::try_from(at).ok()))
        {
            obeyed::done_at(log, at, flush_point.unwrap_or(0), now_ns);
        }
        answer(self.segment.header_words(), number, given, now_ns);
    }
}
