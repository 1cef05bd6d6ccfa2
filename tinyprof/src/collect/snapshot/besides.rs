//! The records of threads besides the times of callpaths.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_format::model::{
    CallpathId, ClockFacts, Edge, EdgeKey, Losses, MessageKey, MetricValues, ProcessorFacts,
    Traffic,
};

use crate::record::thread::{visits_kept_out, visits_lost};
use crate::record::{Arena, MetricReading};

/// The sums of all threads, and the records that they have of metrics, messages and edges.
#[derive(Debug, Default)]
pub(super) struct Besides {
    pub(super) metrics: Vec<(CallpathId, String, MetricValues)>,
    pub(super) messages: Vec<(CallpathId, MessageKey, Traffic)>,
    pub(super) edges: Vec<(CallpathId, EdgeKey, Edge)>,
    pub(super) clock: ClockFacts,
    pub(super) processor: ProcessorFacts,
    pub(super) losses: Losses,
    /// Visits of polled regions. One may end on another thread than it began on, so only the sums
    /// over all threads tell how many are open.
    polled_begun: u64,
    polled_ended: u64,
}

impl Besides {
    pub(super) fn of(arenas: &[&Arena]) -> Self {
        let mut all = Self {
            losses: Losses {
                visits_not_recorded: visits_lost(),
                visits_kept_out: visits_kept_out(),
                ..Losses::default()
            },
            ..Self::default()
        };
        arenas.iter().for_each(|arena| all.add(arena));
        all
    }

    fn add(&mut self, arena: &Arena) {
        self.polled_ended += arena.polled_ended.load(Relaxed);
        self.polled_begun += arena.polled_begun.load(Relaxed);
        let losses = &mut self.losses;
        losses.absorb(&losses_of(arena));
        let metrics = arena.metric_readings().map(|reading| {
            reading
                .map(|MetricReading { callpath, key, values }| (callpath, key.to_owned(), values))
        });
        keep(&mut self.metrics, metrics, losses);
        keep(&mut self.messages, arena.message_readings(), losses);
        keep(&mut self.edges, arena.edge_readings(), losses);
        self.clock.absorb(&arena.clock_facts());
        arena.read_processor();
        self.processor.absorb(&arena.processor_facts());
    }

    /// Returns the number of visits of polled regions that are open.
    pub(super) const fn polled_open(&self) -> u64 {
        self.polled_begun.saturating_sub(self.polled_ended)
    }
}

/// Keeps the records that could be read, and counts the others.
fn keep<T>(all: &mut Vec<T>, readings: impl Iterator<Item = Option<T>>, losses: &mut Losses) {
    for reading in readings {
        match reading {
            Some(record) => all.push(record),
            None => losses.records_unreadable += 1,
        }
    }
}

fn losses_of(arena: &Arena) -> Losses {
    Losses {
        visits_not_recorded: arena.visits_lost.load(Relaxed),
        visits_in_other: arena.visits_in_other.load(Relaxed),
        visits_unbalanced: arena.visits_unbalanced.load(Relaxed),
        clock_steps_back: arena.clock_steps_back.load(Relaxed),
        segments_not_mapped: u64::from(!arena.is_mapped()),
        visits_not_timed: arena.visits_not_timed.load(Relaxed),
        visits_kept_out: arena.visits_kept_out.load(Relaxed),
        visits_too_deep: arena.visits_too_deep.load(Relaxed),
        visits_without_key: arena.visits_without_key.load(Relaxed),
        values_not_recorded: arena.values_not_recorded.load(Relaxed),
        messages_without_partner: arena.messages_lost.load(Relaxed),
        edges_without_partner: arena.edges_lost.load(Relaxed),
        ..Losses::default()
    }
}
