//! The commands to begin another part of the run, with the same regions or others: obeyed where the
//! thread may be asked, and done at a flush point, by whoever watches those.

use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU64, fence};

use tinyprof_segment::clock::monotonic_ns;
use tinyprof_segment::control::{ARGUMENT_WORDS, Answer, Command, Verb, answer, call, text_of};
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
            let patterns = match command.verb() {
                Some(Verb::Filter) => &own.regions[..],
                Some(Verb::Metrics) => &own.metrics[..],
                _ => &[],
            };
            let words = patterns.iter().zip(command.given.argument);
            words.for_each(|(own, word)| own.store(word, Relaxed));
            own.reset_entry.store(entry, Relaxed);
            own.reset.store(u64::from(command.number) + 1, Release);
            // Again: another thread may have been at a flush point meanwhile.
            flush_point::ask_for_part();
        }
    }

    /// Returns whether the command waits for a flush point. Any thread.
    pub(crate) fn is_part_asked_for(&self) -> bool {
        self.obedience.reset.load(Relaxed) != 0
    }

    /// Takes the patterns of regions that wait for a flush point; `None` if there are none. Any
    /// thread, but one at a time.
    pub(crate) fn take_regions(&self) -> Option<String> {
        take(&self.obedience.regions)
    }

    /// Takes those of metrics. As [`take_regions`](Self::take_regions).
    pub(crate) fn take_metrics(&self) -> Option<String> {
        take(&self.obedience.metrics)
    }

    /// Says that there is another filter, which the thread looks at where a visit ends. Any thread.
    pub(crate) fn announce_filter(&self) {
        self.obedience.has_new_filter.store(1, SeqCst);
        call(self.segment.header_words());
    }

    /// Forgets which sites are filtered out, and under which callpath others were found, if there
    /// is another filter. Owner only.
    #[inline]
    pub(crate) fn look_at_filter(&self) {
        let is_new = &self.obedience.has_new_filter;
        if is_new.load(Relaxed) != 0 && is_new.swap(0, SeqCst) != 0 {
            self.hot.forget_callpaths();
        }
    }

    /// Watches visits again if another filter came while that was ended. Owner only.
    pub(super) fn watch_for_new_filter(&self) {
        fence(SeqCst);
        if self.obedience.has_new_filter.load(SeqCst) != 0 {
            self.watch_visits();
        }
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

/// Takes a text out of words, if there is one.
fn take(words: &[AtomicU64; ARGUMENT_WORDS]) -> Option<String> {
    let text = words.each_ref().map(|word| word.load(Relaxed));
    words[0].store(0, Relaxed);
    (text[0] != 0).then(|| text_of(&text))
}
