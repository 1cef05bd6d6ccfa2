//! The parts of an arena in its file that are read after the process has died. All of it is cold.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_format::model::ClockFacts;
use tinyprof_segment::layout::{MAGIC, header};
use tinyprof_segment::sequence::publish;
use tinyprof_segment::words::pack;

use super::super::describe;
use super::super::site::Site;
use super::Arena;

const _: () = assert!(header::CLOCK_WORDS == ClockFacts::COUNT);

impl Arena {
    /// Returns word `word` of the segment's header.
    pub(in crate::record) fn header(&self, word: usize) -> &AtomicU64 {
        self.segment.header(word)
    }

    /// Stores the facts of the clock. Each is read for itself: they may be of two moments.
    pub(crate) fn store_clock(&self, facts: &ClockFacts) {
        for (at, (_, number)) in facts.named().into_iter().enumerate() {
            self.header(header::CLOCK + at).store(number, Relaxed);
        }
    }

    /// Returns the facts that were stored last. Any thread.
    pub(crate) fn clock_facts(&self) -> ClockFacts {
        let fact = |at| self.header(header::CLOCK + at).load(Relaxed);
        ClockFacts::from_numbers(std::array::from_fn(fact))
    }

    /// Returns whether all of it is in a file, and would survive the process.
    pub(crate) fn is_mapped(&self) -> bool {
        self.segment.is_mapped()
    }

    /// Returns whether there is a file. Its contents would survive the process, but the arena may
    /// have parts outside of it.
    pub(crate) fn has_file(&self) -> bool {
        self.header(header::MAGIC).load(Relaxed) == MAGIC
    }

    /// Returns words that survive the process, 0 at first, which this crate gives no meaning.
    /// `None` if the arena is in no file, or there is no memory. The last ones count. Owner only.
    pub(crate) fn kept_words(&self, count: usize) -> Option<&[AtomicU64]> {
        if !self.is_mapped() {
            return None;
        }
        let (line, words) = describe::zeroed(&self.segment, count)?;
        let words = words.get(..count)?;
        let place = pack(line.number(), u32::try_from(count).ok()?);
        publish(self.header(header::KEPT), place);
        Some(words)
    }

    /// Removes the file, if there is one.
    pub(in crate::record) fn remove_file(&self) {
        self.segment.remove_file();
    }

    /// Writes the process's description into the segment, and then the magic number, which makes
    /// the header complete.
    pub(in crate::record) fn describe_process(&self, description: &[u8]) {
        let place = describe::bytes(&self.segment, description).unwrap_or(0);
        self.header(header::DESCRIPTION).store(place, Relaxed);
        publish(self.header(header::MAGIC), MAGIC);
    }

    /// Replaces the description. Without memory for the new one, the old one stays. Only on the
    /// arena's own thread.
    pub(in crate::record) fn describe_process_again(&self, description: &[u8]) {
        if self.is_mapped()
            && let Some(place) = describe::bytes(&self.segment, description)
        {
            publish(self.header(header::DESCRIPTION), place);
        }
    }

    /// Leaves the file to the parent, in a child made by `fork`, and starts over with an empty
    /// event map. Arenas without a file already belong to the child.
    pub(crate) fn part_from_file(&self) {
        if self.is_mapped() || self.has_file() {
            self.segment.part_from_file();
            Self::prepare_execution(&self.segment, self.clock);
            self.hot.clear();
            self.lookup.clear();
            self.clear_messages();
            self.clear_edges();
            self.forget_processor();
            self.forget_events();
            self.forget_commands();
            self.nodes.store(0, Relaxed);
            self.last_node.store(0, Relaxed);
        }
    }

    /// Detects that this process was made from another one by `clone`, without our handlers: it
    /// must not write to its parent's files. Cold: the words of `hot` are then zero, so every visit
    /// comes here.
    #[cold]
    pub(in crate::record) fn check_process(&self) {
        if self.hot.is_of_a_child() {
            self.part_from_file();
            self.hot.begin();
        }
    }

    /// Counts visits that found no room: no memory, or, in a signal handler, none before the
    /// interrupted change of the segment is over. Rare.
    #[cold]
    pub(in crate::record) fn lose_visits(&self, visits: u64) {
        let is_interrupted = self.segment.is_being_changed();
        let counter = if is_interrupted { &self.visits_kept_out } else { &self.visits_lost };
        counter.fetch_add(visits, Relaxed);
        self.publish_losses();
    }

    /// Counts a visit of a signal handler that arrived between two steps of the recorder. Rare.
    #[cold]
    pub(in crate::record) fn keep_out_visit(&self) {
        self.visits_kept_out.fetch_add(1, Relaxed);
        self.publish_losses();
    }

    /// Counts a visit of a region whose key has too many values.
    #[cold]
    pub(crate) fn count_without_key(&self) {
        self.visits_without_key.fetch_add(1, Relaxed);
        self.publish_losses();
    }

    /// Writes the counts of losses to the header. Rare, as losses are.
    #[cold]
    #[inline(never)]
    pub(super) fn publish_losses(&self) {
        let losses = [
            (header::VISITS_LOST, &self.visits_lost),
            (header::VISITS_KEPT_OUT, &self.visits_kept_out),
            (header::VISITS_TOO_DEEP, &self.visits_too_deep),
            (header::VISITS_WITHOUT_KEY, &self.visits_without_key),
            (header::VISITS_IN_OTHER, &self.visits_in_other),
            (header::VISITS_UNBALANCED, &self.visits_unbalanced),
            (header::CLOCK_STEPS_BACK, &self.clock_steps_back),
        ];
        losses
            .iter()
            .for_each(|(word, lost)| self.header(*word).store(lost.load(Relaxed), Relaxed));
    }

    /// Writes the description of `site` to the file, if it is not there yet. Returns false if
    /// memory has run out. A site without a dense index is described for each of its callpaths.
    pub(super) fn describe(&self, site: &'static Site) -> bool {
        let index = site.dense_index();
        let bit = 1 << (index % 64);
        let described =
            self.hot.described().get(index / 64).filter(|_| index < self.hot.cache().len());
        if !self.is_mapped() || described.is_some_and(|word| word.load(Relaxed) & bit != 0) {
            return true;
        }
        let before = self.header(header::LAST_SITE).load(Relaxed);
        let Some(line) = describe::site(&self.segment, site, before) else { return false };
        if self.is_mapped() {
            publish(self.header(header::LAST_SITE), line.number().into());
        }
        if let Some(word) = described {
            word.fetch_or(bit, Relaxed);
        }
        true
    }
}
