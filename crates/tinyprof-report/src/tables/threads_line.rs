//! How many threads worked, in words.

use std::collections::BTreeMap;

use tinyprof_format::model::CallpathIndex;

use crate::facts::numbers::ratio;
use crate::report::Report;
use crate::words::names::{cut, shown};
use crate::words::units::percent_cell;

/// The threads at work of a rank from which on there is a line.
const THREADS_SHOWN_FROM: f64 = 1.5;

/// A function that ran on fewer threads at a time ran on one thread alone ...
const ALONE_BELOW: f64 = 1.5;
/// ... and is named if that took this part of the time.
const ALONE_PART: f64 = 0.03;
/// The most functions that are named.
const NAMED_MAX: usize = 3;

/// The excess of the longest thread over the mean from which on it is worth a word.
const UNEVEN_FROM: f64 = 0.10;

/// The maximum width of a name in a sentence, in columns.
const NAME_COLUMNS: usize = 40;

/// Returns `threads: 3.1 of 8 busy per rank, on 4 processors; on one thread alone: assemble 31.0%
/// of the time, setup 5.0%; in sweep the longest thread takes 40.0% more than the mean`. None for
/// programs with one thread, and if nothing is known.
pub(crate) fn threads_line(report: &Report) -> Option<String> {
    let parts = [busy(report)?].into_iter().chain(alone(report)).chain(uneven(report));
    Some(format!("threads: {}", parts.collect::<Vec<_>>().join("; ")))
}

fn busy(report: &Report) -> Option<String> {
    let times = report.statistics.times();
    let per_rank = if report.ranks > 1 { " per rank" } else { "" };
    let busy = (times.wall_ns > 0).then(|| ratio(times.cpu_ns, times.wall_ns))?;
    let offered = times.threads_at_work_of_a_rank();
    let most = offered.unwrap_or(0.0).max(report.threads_of_a_rank());
    if most.max(busy) < THREADS_SHOWN_FROM {
        return None;
    }
    // Threads that have ended are not known.
    let of = if most >= busy { format!(" of {}", number(most)) } else { String::new() };
    let processors = times.processors_of_a_rank().filter(|_| most >= busy);
    let processors = processors.filter(|&number| number < most);
    let on = processors.map_or_else(String::new, |all| {
        let noun = if number(all) == "1" { "processor" } else { "processors" };
        format!(", on {} {noun}", number(all))
    });
    Some(format!("{busy:.1}{of} busy{per_rank}{on}"))
}

/// Returns a number of threads, without decimals if it is whole.
fn number(threads: f64) -> String {
    if (threads - threads.round()).abs() < 0.05 {
        format!("{threads:.0}")
    } else {
        format!("{threads:.1}")
    }
}

/// The samples of a function.
#[derive(Clone, Copy, Debug, Default)]
struct Sampled {
    all_ns: u128,
    workers_ns: f64,
}

impl Sampled {
    fn own_ns(&self) -> f64 {
        ratio(self.all_ns, 1) - self.workers_ns
    }

    fn is_alone(&self) -> bool {
        self.own_ns() > 0.0 && ratio(self.all_ns, 1) < ALONE_BELOW * self.own_ns()
    }
}

/// Returns the functions that take long while no other thread works, if samples say which; those of
/// recorded threads alone do not.
fn alone(report: &Report) -> Option<String> {
    let mut functions: BTreeMap<&str, Sampled> = BTreeMap::new();
    for (index, callpath) in report.callpaths.iter() {
        let Some(name) = callpath.region.sampled_function() else { continue };
        let function = functions.entry(name).or_default();
        let all_ns = report.statistics.row(index.row()).inclusive.sum_ns;
        function.all_ns = function.all_ns.saturating_add(all_ns);
        function.workers_ns += report.threads_of(index).map_or(0.0, |sums| sums.workers_ns);
    }
    if !functions.values().any(|function| function.workers_ns > 0.0) {
        return None;
    }
    let part = |function: &Sampled| function.own_ns() / ratio(report.base.ns().max(1), 1);
    let is_long = |of: &(&str, Sampled)| of.1.is_alone() && part(&of.1) >= ALONE_PART;
    let mut alone: Vec<(&str, Sampled)> = functions.into_iter().filter(is_long).collect();
    alone.sort_by(|a, b| part(&b.1).total_cmp(&part(&a.1)));
    let named = alone.iter().take(NAMED_MAX).enumerate().map(|(place, (name, function))| {
        let of = if place == 0 { " of the time" } else { "" };
        format!("{} {}{of}", cut(&shown(name), NAME_COLUMNS), percent_cell(part(function)))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| format!("on one thread alone: {}", named.join(", ")))
}

/// Returns the callpath in which threads lose most because one of them takes longer.
fn uneven(report: &Report) -> Option<String> {
    let lost_ns = |index: CallpathIndex| {
        let sums = report.threads_of(index)?;
        let excess = sums.imbalance().filter(|&excess| excess >= UNEVEN_FROM)?;
        let mean_ns = sums.sum_ns / sums.count()? / f64::from(sums.ranks.max(1));
        Some((index, excess, excess * mean_ns))
    };
    let all = report.callpaths.iter().filter_map(|(index, _)| lost_ns(index));
    let (index, excess, _) = all.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let name = cut(&shown(&report.callpaths.get(index).region.name), NAME_COLUMNS);
    Some(format!("in {name} the longest thread takes {} more than the mean", percent_cell(excess)))
}
