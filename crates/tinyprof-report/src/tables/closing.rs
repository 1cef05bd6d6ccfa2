//! The sentences below the tree: start-up, regions, MPI calls, efficiency, hints, notes, and the
//! profiler's overhead.

use tinyprof_format::file::JOINED_RANKS_MIN;
use tinyprof_format::model::Precision;

use crate::facts::numbers::rounded;
use crate::facts::statistics::efficiency::Efficiency;
use crate::facts::statistics::regions::{Region, costliest};
use crate::findings::{Finding, Words};
use crate::report::Report;
use crate::tables::commands_line::commands_lines;
use crate::tables::counters_line::counters_line;
use crate::tables::handed_on::handed_on;
use crate::tables::mpi_line::mpi_line;
use crate::tables::overhead_line::overhead_line;
use crate::tables::samples_line::samples_line;
use crate::tables::threads_line::threads_line;
use crate::tables::unfollowed_line::unfollowed_line;
use crate::words::names::{cut, escaped, shown, wrapped};
use crate::words::notes::{JOINED, ROUNDED, sentences};
use crate::words::units::{percent_cell, time};

/// The line of the efficiency of a parallel program whose regions declare no activity.
const NO_TAGS: &str = "efficiency: not known: no region has the tag COMM, COMP or IO";

/// The part of useful time with a processor below which it is shown as a factor of efficiency.
const PROCESSORS_SHOWN_BELOW: f64 = 0.995;

/// The part of the time without a processor from which on it has a line.
const DELAY_SHOWN_FROM: f64 = 0.01;

/// The number of regions in the line of regions.
const REGIONS: usize = 3;

/// The maximum width of a region's name there, in columns.
const NAME_COLUMNS: usize = 40;

/// Returns the sentences, the most helpful first, in lines of `width` columns.
pub(crate) fn closing(report: &Report, width: usize) -> String {
    // At other levels the report says nothing of waiting.
    let is_level = report.unfollowed.as_ref().is_some_and(|all| all.are_recorded);
    let unfollowed = unfollowed_line(report).filter(|_| is_level);
    let lines = startup_line(report)
        .into_iter()
        .chain(regions_line(report))
        .chain(mpi_line(report))
        .chain(unfollowed)
        .chain(efficiency_line(report))
        .chain(threads_line(report))
        .chain(processors_line(report))
        .chain(samples_line(report))
        .chain(counters_line(report))
        .chain(commands_lines(report))
        .chain(report.findings.iter().map(hint_line))
        .chain(notes(report).into_iter().map(|note| format!("note: {note}")))
        .chain(report.overhead.as_ref().map(overhead_line));
    lines.map(|line| wrapped(&line, " ", width)).collect()
}

fn hint_line(finding: &Finding) -> String {
    let Words { headline, evidence, advice } = &finding.words;
    format!("hint: {headline}. {evidence} {advice}")
}

/// Returns `start-up: 292 ms per rank, besides the time that shares refer to`; none without.
#[must_use]
pub fn startup_line(report: &Report) -> Option<String> {
    let startup_ns = report.base.startup_ns();
    let per_rank = if report.ranks > 1 { " per rank" } else { "" };
    let time = time(rounded(startup_ns, report.ranks.max(1).into()));
    (startup_ns > 0)
        .then(|| format!("start-up: {time}{per_rank}, besides the time that shares refer to"))
}

/// Returns a sentence for each kind of loss that occurred, in plain words, including the rounding
/// of all times and the filter of regions.
#[must_use]
pub fn losses_in_words(report: &Report) -> Vec<String> {
    let filtered = report.filtered.clone();
    rounding(report).into_iter().chain(filtered).chain(losses(report)).collect()
}

fn losses(report: &Report) -> Vec<String> {
    sentences(&report.losses, report.segments_refused.as_deref())
}

fn rounding(report: &Report) -> Option<String> {
    (report.precision == Precision::EightBit).then(|| format!("times {ROUNDED}"))
}

/// Returns the note on waiting of single ranks, if it may not be their own.
#[must_use]
pub fn joined_note(report: &Report) -> Option<&'static str> {
    let has_edges = report.unfollowed.as_ref().is_some_and(|all| all.are_recorded);
    (has_edges && report.ranks >= JOINED_RANKS_MIN).then_some(JOINED)
}

fn notes(report: &Report) -> Vec<String> {
    let incomplete = report.incomplete.as_ref();
    let incomplete = incomplete.map(|because| format!("incomplete: {}", escaped(because)));
    let notes = incomplete.into_iter().chain(rounding(report)).chain(report.filtered.clone());
    let notes = notes.chain(joined_note(report).map(str::to_owned));
    notes.chain(handed_on(report)).chain(losses(report)).collect()
}

/// Returns `regions: alltoall 64.4% of the time in 5 callpaths, fft 20.1%`: the regions with the
/// most exclusive time. None unless one of them has several callpaths, among which the table
/// scatters its time.
fn regions_line(report: &Report) -> Option<String> {
    if report.callpaths_of_regions.is_some() {
        return None;
    }
    let first = costliest(&report.callpaths, &report.statistics, REGIONS, |index| {
        report.base.startup_itself(index) == 0
    });
    if !first.iter().any(|region| region.callpaths > 1) {
        return None;
    }
    let of = |(place, region): (usize, &Region<'_>)| {
        let unit = if place == 0 { " of the time" } else { "" };
        let callpaths = match region.callpaths {
            1 => String::new(),
            many => format!(" in {many} callpaths"),
        };
        let share = percent_cell(report.base.share(region.exclusive_ns));
        format!("{} {share}{unit}{callpaths}", cut(&shown(region.name), NAME_COLUMNS))
    };
    let parts: Vec<String> = first.iter().enumerate().map(of).collect();
    Some(format!("regions: {}", parts.join(", ")))
}

fn efficiency_line(report: &Report) -> Option<String> {
    let Some(found) = &report.efficiency else {
        return (report.ranks > 1 && report.base.ns() > 0).then(|| NO_TAGS.to_owned());
    };
    let load_balance = percent_cell(found.load_balance);
    let io = match found.io_share > 0.0 {
        true => format!("; IO {}", percent_cell(found.io_share)),
        false => String::new(),
    };
    Some(match found.parallel.zip(communication_factors(found)) {
        Some((parallel, communication)) => {
            let kept = found.processors.filter(|&part| part < PROCESSORS_SHOWN_BELOW);
            let (at_most, processors) = kept.map_or(("", String::new()), |part| {
                ("at most ", format!(" x processors {}", percent_cell(part)))
            });
            format!(
                "efficiency: parallel {at_most}{} = load balance {load_balance} x {communication}{processors}{io}",
                percent_cell(parallel),
            )
        }
        None => format!(
            "efficiency: load balance {load_balance}{io}; communication is not known: no region has the tag COMM"
        ),
    })
}

/// Returns `processors: 1.20 s of 4.80 s per rank; ready to run, but without a processor, for 74.9%
/// of the time`; none if that is little, or not known.
fn processors_line(report: &Report) -> Option<String> {
    let times = report.statistics.times();
    let delay = times.delay_share().filter(|&share| share >= DELAY_SHOWN_FROM)?;
    let per_rank = if report.ranks > 1 { " per rank" } else { "" };
    let a_rank = |sum_ns: u128| time(rounded(sum_ns, times.followed_ranks.max(1).into()));
    Some(format!(
        "processors: busy for {} of {}{per_rank}; ready to run, but without a processor, for {} of the time of its threads",
        a_rank(times.cpu_ns),
        a_rank(times.wall_ns),
        percent_cell(delay),
    ))
}

/// Returns the efficiency of communication, or its factors where they are known.
fn communication_factors(found: &Efficiency) -> Option<String> {
    let communication = found.communication?;
    Some(match found.serialisation.zip(found.transfer) {
        Some((serialisation, transfer)) => format!(
            "serialisation {} x transfer {}",
            percent_cell(serialisation),
            percent_cell(transfer)
        ),
        None => format!("communication {}", percent_cell(communication)),
    })
}
