//! Phase 0 of a flush: one event map from all threads of this process.

mod besides;

use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_format::model::{
    CallpathId, CallpathRecord, CallpathValues, EventMap, ExecutionSummary, RankFacts, Region,
    ThreadTimes, with_callers,
};

use besides::Besides;

use super::causes::causes;
use super::commands::commands;
use super::events::rank_events;
use super::session::session;
use crate::record::clock;
use crate::record::thread::{arena, arenas};
use crate::record::{Arena, HeldSamples, Reading, Site};
use crate::sys::{ThreadsAtWork, host_name, peak_memory_bytes, undisturbed};

/// The address of the arena of the thread that is ending the run, otherwise 0.
static ENDS_RUN: AtomicUsize = AtomicUsize::new(0);

/// Runs `work`, which writes the profile of the run, and marks the calling thread as the one that
/// ends the run.
///
/// Regions that are open on this thread meanwhile are those around the end: `main` if it owns MPI,
/// or the callers of `exit`. They last to the end of the run, so snapshots taken meanwhile, on any
/// thread, do not count their visits as open. Open regions of other threads were cut short.
pub fn ending_here<T>(work: impl FnOnce() -> T) -> T {
    let here = arena().map_or(0, |arena| ptr::from_ref(arena).addr());
    let before = ENDS_RUN.swap(here, Relaxed);
    let done = undisturbed(work);
    ENDS_RUN.store(before, Relaxed);
    done
}

/// Returns everything that this process has measured so far, with the threads merged by callpath.
/// Any thread may call it. No thread is stopped: regions that are open are included with their time
/// so far.
///
/// # Cost
/// About a microsecond for 20 callpaths a thread, and a copy of their series.
#[must_use]
pub fn snapshot() -> EventMap {
    let here = arena().inspect(|arena| arena.take_all_samples());
    let is_here = |arena: &Arena| here.is_some_and(|here| ptr::eq(here, arena));
    let session = session();
    let scale = clock::rate_since(session.started, session.clock);
    let arenas: Vec<&Arena> = arenas().collect();
    let threads = u32::try_from(arenas.len()).unwrap_or(u32::MAX);
    let besides = Besides::of(&arenas);
    let (mut losses, mut processor) = (besides.losses, besides.processor);
    losses.visits_open += besides.polled_open();
    let events = rank_events(&arenas, scale);
    let commands = commands(&arenas);
    let at_work = ThreadsAtWork::of_this_process(here.is_none());
    processor.threads_at_work = at_work.threads;
    processor.processors_allowed = at_work.processors;
    let mut regions = Regions::default();
    // Until the records are read: a thread that took its samples meanwhile would count them, too.
    let held: Vec<HeldSamples<'_>> = arenas
        .iter()
        .filter(|arena| !is_here(arena))
        .filter_map(|arena| arena.hold_samples())
        .collect();
    let waiting: Vec<_> = held.iter().filter_map(|held| regions.of_held(held)).collect();
    let ends_run = ENDS_RUN.load(Relaxed);
    let mut times = ThreadTimes::new(arenas.len());
    let readings = arenas
        .into_iter()
        .enumerate()
        .flat_map(|(thread, arena)| arena.readings().map(move |reading| (thread, arena, reading)));
    // One at a time: there may be a million.
    let records = readings.filter_map(|(thread, arena, reading)| {
        let Some(Reading { id, parent, site, open, executions, series, visits_not_timed }) =
            reading
        else {
            losses.records_unreadable += 1;
            return None;
        };
        let is_cut_short = ptr::from_ref(arena).addr() != ends_run;
        losses.visits_open += u64::from(open.is_some() && is_cut_short);
        losses.visits_not_timed += visits_not_timed;
        let values = scale.values(&executions, &series, open, arena.measured_until());
        times.pass(thread, estimated((id, parent, regions.of(site)?, values)))
    });
    let records = records.chain(waiting.into_iter().map(estimated));
    let records = records.flat_map(with_callers);
    let mut map = EventMap::from_records(records, RankFacts::default());
    drop(held);
    losses.records_unreadable +=
        map.add_metrics(besides.metrics.into_iter().chain(times.metrics()));
    losses.records_unreadable += map.add_messages(besides.messages);
    losses.records_unreadable += map.add_edges(besides.edges);
    map.facts = RankFacts {
        host: host_name(),
        process_id: std::process::id(),
        threads,
        losses,
        clock: besides.clock,
        processor,
        peak_memory_bytes: peak_memory_bytes(),
        causes: causes(&map),
        events,
        commands,
    };
    map.bound_estimates();
    map
}

/// Returns the record, with the times that samples stand for.
fn estimated(record: CallpathRecord) -> CallpathRecord {
    let (id, parent, region, mut values) = record;
    if let Some(period_ns) = region.sample_period_ns() {
        values.estimate_samples(period_ns);
    }
    (id, parent, region, values)
}

/// The regions of all sites seen so far, shared by their callpaths.
#[derive(Debug, Default)]
struct Regions {
    /// Keyed by the address of the site.
    known: HashMap<usize, Arc<Region>>,
}

impl Regions {
    /// Returns the region of a site, or `None` if the site is a metric.
    fn of(&mut self, site: &'static Site) -> Option<Arc<Region>> {
        let address = ptr::from_ref(site).addr();
        if let Some(region) = self.known.get(&address) {
            return Some(Arc::clone(region));
        }
        let region = Arc::new(site.region()?);
        self.known.insert(address, Arc::clone(&region));
        Some(region)
    }

    /// Returns the record of samples that their thread has not taken; none if there are none.
    fn of_held(
        &mut self,
        held: &HeldSamples<'_>,
    ) -> Option<(CallpathId, Option<CallpathId>, Arc<Region>, CallpathValues)> {
        if held.number == 0 {
            return None;
        }
        let one = ExecutionSummary::of_one_visit(held.execution, 0);
        let executions = vec![ExecutionSummary { visits: held.number, ..one }];
        let values = CallpathValues { executions, ..CallpathValues::default() };
        Some((held.id, held.parent, self.of(held.site)?, values))
    }
}

/// Returns the time in nanoseconds on the clock by which the profiler measures itself.
#[must_use]
pub fn monotonic_ns() -> u64 {
    tinyprof_segment::clock::monotonic_ns()
}
