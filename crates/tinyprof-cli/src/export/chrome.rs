//! Chrome's trace event JSON: a time line for each rank.
//!
//! A profile does not record when a visit began, only how long it took. So the time line is
//! reconstructed: executions are placed end to end inside those of the callpath above, and the
//! elements of a series end to end on a separate track. Lengths are measured, positions are not,
//! and the file says so.

mod event;
mod layout;
mod summary;

use std::error::Error;
use std::io::Write;

use tinyprof_format::model::{
    CallpathTable, CallpathValues, Edge, EdgeKey, MessageKey, MetricValues, Traffic,
};

use super::choice::{Choice, choose};
use super::exporter::{Exporter, Notes, Request, Source, float};
use super::paths;
use super::summary::Summary;
use crate::memory;
use event::{Args, Event, Events};
use layout::{ASIDE, Slot, lay_out};

pub(super) struct Chrome;

impl Exporter for Chrome {
    fn caps_ranks(&self) -> bool {
        true
    }

    fn export(
        &self,
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source()?;
        let table = source.callpaths();
        let paths = paths::plain(table)?;
        let totals = || Ok::<_, Box<dyn Error>>(Summary::of(&source)?.totals);
        let choice = choose(&source.ranks, request.max_ranks, totals)?;
        let mut notes: Notes = choice.note(source.ranks.len()).into_iter().collect();
        let Kept { of_shown, of_all } = Kept::of(&source, &choice)?;
        let mut events = Events::start(out, &source)?;
        let mut process = 0;
        let mut left_out = 0;
        let mut show = |name: &str, values: &[CallpathValues]| {
            process += 1;
            let mut time_line =
                TimeLine { events: &mut events, table, paths: &paths, process, left_out: 0 };
            let written = time_line.write(name, values);
            left_out += time_line.left_out;
            written
        };
        if choice.is_capped {
            for (name, values) in summary::of_all_ranks(source.ranks.len(), of_all) {
                show(&name, &values)?;
            }
        }
        for (shown, values) in choice.shown.iter().zip(&of_shown) {
            show(&shown.name(), values)?;
        }
        events.end()?;
        if left_out > 0 {
            notes.push(format!(
                "not in this format: values of metrics without a place on the time line ({left_out})"
            ));
        }
        Ok(notes)
    }
}

/// The values that a time line needs all at once.
struct Kept {
    /// The values of each rank that is shown, by row.
    of_shown: Vec<Vec<CallpathValues>>,
    /// The mean, minimum and maximum of all ranks, by row; empty if all ranks are shown.
    of_all: Vec<[CallpathValues; 3]>,
}

impl Kept {
    /// Returns the values, by a pass over all callpaths.
    ///
    /// # Errors
    /// If the profile cannot be read, or if the values take more memory than the command may use.
    fn of(source: &Source<'_>, choice: &Choice) -> Result<Self, Box<dyn Error>> {
        let rows = source.callpaths().len();
        let limit_bytes = memory::read_options().memory_bytes();
        let mut bytes = 0_u64;
        let mut kept = Self {
            of_shown: vec![vec![CallpathValues::default(); rows]; choice.shown.len()],
            of_all: Vec::new(),
        };
        if choice.is_capped {
            kept.of_all.resize_with(rows, Default::default);
        }
        source.each(|index, values| {
            for (shown, of_rank) in choice.shown.iter().zip(&mut kept.of_shown) {
                let values = &values[shown.rank];
                bytes = bytes.saturating_add(bytes_of(values));
                of_rank[index.row()] = values.clone();
            }
            if choice.is_capped {
                let three = summary::of_row(values);
                bytes = three.iter().map(bytes_of).fold(bytes, u64::saturating_add);
                kept.of_all[index.row()] = three;
            }
            if bytes > limit_bytes {
                return Err(format!(
                    "the time lines of {} ranks need more than {limit_bytes} bytes of memory: choose fewer with \
                     --max-ranks or --rank, a part of the tree with --path, or allow more, as in --memory 4GiB",
                    choice.shown.len()
                )
                .into());
            }
            Ok(())
        })?;
        Ok(kept)
    }
}

/// Returns the memory that values take, roughly.
fn bytes_of(values: &CallpathValues) -> u64 {
    let metrics = values.metrics.values().map(|metric| {
        size_of_val(&metric.executions[..]) + size_of_val(&metric.series[..]) + size_of_val(metric)
    });
    let communication = size_of_val(values)
        + values.messages.len() * size_of::<(MessageKey, Traffic)>()
        + values.edges.len() * size_of::<(EdgeKey, Edge)>();
    let times = size_of_val(&values.executions[..]) + size_of_val(&values.series[..]);
    (times + metrics.sum::<usize>() + communication) as u64
}

/// The tracks of one process in the viewer: a rank, or a summary of many.
struct TimeLine<'a, 'w> {
    events: &'a mut Events<'w>,
    table: &'a CallpathTable,
    paths: &'a [String],
    process: usize,
    /// The number of metric values that belong to no time.
    left_out: u64,
}

impl TimeLine<'_, '_> {
    fn write(&mut self, name: &str, values: &[CallpathValues]) -> std::io::Result<()> {
        self.describe("process_name", None, Args::Name { name })?;
        self.describe("process_sort_index", None, Args::SortIndex { sort_index: self.process })?;
        let slots = lay_out(self.table, values);
        let main = "executions, end to end (positions reconstructed)";
        self.describe("thread_name", Some(0), Args::Name { name: main })?;
        if slots.iter().flatten().any(|slot| slot.track == ASIDE) {
            let aside =
                "executions that do not fit into those above them: other threads, or still open";
            self.describe("thread_name", Some(ASIDE), Args::Name { name: aside })?;
        }
        // Tracks of series follow those of executions.
        let mut track = ASIDE;
        for (row, (values, slots)) in values.iter().zip(&slots).enumerate() {
            self.executions(row, values, slots)?;
            let starts = if values.series.is_empty() {
                Vec::new()
            } else {
                track += 1;
                self.series(row, values, slots, track)?
            };
            for (key, metric) in &values.metrics {
                self.counter(row, key, metric, &starts)?;
            }
        }
        Ok(())
    }

    fn describe(&mut self, what: &str, track: Option<u32>, args: Args<'_>) -> std::io::Result<()> {
        self.events.write(&Event::new("M", what, self.process).describing(track, args))
    }

    fn executions(
        &mut self,
        row: usize,
        values: &CallpathValues,
        slots: &[Slot],
    ) -> std::io::Result<()> {
        let name = &self.table.rows()[row].region.name;
        for (e, slot) in values.executions.iter().zip(slots) {
            let args = Args::Times {
                execution: e.execution,
                executions: e.executions,
                first_visit: None,
                visits: e.visits,
                sum_ns: e.sum_ns,
                min_ns: e.min_ns,
                max_ns: e.max_ns,
            };
            let event = Event::new("X", name, self.process);
            self.events.write(&event.lasting(slot.track, slot.start_ns, e.sum_ns, args))?;
        }
        Ok(())
    }

    /// Writes the elements of a series, numbered within each execution. Returns the number of the
    /// rank's earlier visits and the start time for each element.
    fn series(
        &mut self,
        row: usize,
        values: &CallpathValues,
        slots: &[Slot],
        track: u32,
    ) -> std::io::Result<Vec<(u64, u64)>> {
        let title = format!("series of {} (positions reconstructed)", self.paths[row]);
        self.describe("thread_name", Some(track), Args::Name { name: &title })?;
        let name = &self.table.rows()[row].region.name;
        let mut starts: Vec<(u64, u64)> = Vec::with_capacity(values.series.len());
        let (mut next_ns, mut passed, mut execution, mut visit) = (0_u64, 0_u64, None, 0_u64);
        for bucket in &values.series {
            if execution.replace(bucket.execution) != Some(bucket.execution) {
                visit = 0;
                next_ns = layout::slot_of(slots, bucket.execution)
                    .map_or(next_ns, |s| s.start_ns.max(next_ns));
            }
            let last = visit + u64::from(bucket.visits) - 1;
            let name = if last == visit {
                format!("{name} [{visit}]")
            } else {
                format!("{name} [{visit}-{last}]")
            };
            let args = Args::Times {
                execution: bucket.execution,
                executions: 1,
                first_visit: Some(visit),
                visits: bucket.visits.into(),
                sum_ns: bucket.sum_ns,
                min_ns: bucket.min_ns,
                max_ns: bucket.max_ns,
            };
            let event = Event::new("X", &name, self.process);
            self.events.write(&event.lasting(track, next_ns, bucket.sum_ns, args))?;
            starts.push((passed, next_ns));
            next_ns = next_ns.saturating_add(bucket.sum_ns);
            passed += u64::from(bucket.visits);
            visit = last + 1;
        }
        Ok(starts)
    }

    /// Writes the series of a metric as a counter, which changes at the start of the visit that
    /// recorded the value.
    fn counter(
        &mut self,
        row: usize,
        key: &str,
        metric: &MetricValues,
        starts: &[(u64, u64)],
    ) -> std::io::Result<()> {
        let name = format!("{} {key}", self.paths[row]);
        let mut visit = 0;
        for bucket in &metric.series {
            let after = starts.partition_point(|(before, _)| *before <= visit);
            visit += u64::from(bucket.values);
            let mean = bucket.sum / float(bucket.values.into());
            match after.checked_sub(1).map(|at| starts[at]) {
                Some((_, start_ns)) if mean.is_finite() => {
                    let event = Event::new("C", &name, self.process);
                    self.events.write(&event.at(start_ns, Args::Value([(key, mean)].into())))?;
                }
                _ => self.left_out += u64::from(bucket.values),
            }
        }
        if metric.series.is_empty() {
            self.left_out += metric.values();
        }
        Ok(())
    }
}
