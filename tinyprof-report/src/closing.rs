//! The sentences below the tree: hosts of ranks, regions, MPI calls, efficiency, hints, notes, and
//! the profiler's overhead.

use super::Report;
use super::columns::Placement;
use super::names::{columns, cut, escaped, shown, wrapped};
use super::notes::{ROUNDED, sentences};
use super::regions::{Region, costliest};
use super::units::{percent_cell, rounded, time};
use tinyprof_format::model::Precision;

/// The line of the efficiency of a parallel program whose regions declare no activity.
const NO_TAGS: &str = "efficiency: not known: no region has the tag COMM, COMP or IO";

/// The number of regions in the line of regions.
const REGIONS: usize = 3;

/// The maximum width of a region's name there, in columns.
const NAME_COLUMNS: usize = 40;

/// The maximum width of a host name in the line of hosts, in columns.
const HOST_COLUMNS: usize = 20;

/// Returns `hosts: rank 3 on nid00012, rank 17 on nid00013`, with as many of the ranks as fit into
/// one line, in the given order. Empty if the table shows the hosts, or they are unknown.
pub(super) fn hosts_line(placements: &[Placement], width: usize) -> String {
    let mut line = String::new();
    for (number, place) in placements.iter().enumerate() {
        let before = if number == 0 { "hosts: " } else { ", " };
        let next =
            format!("{before}rank {} on {}", place.rank, cut(&escaped(&place.host), HOST_COLUMNS));
        if number > 0 && columns(&line) + columns(&next) > width {
            break;
        }
        line.push_str(&next);
    }
    if !line.is_empty() {
        line.push('\n');
    }
    line
}

impl Report {
    /// Returns a sentence for each kind of loss that occurred, in plain words, including the
    /// rounding of all times and the filter of regions.
    #[must_use]
    pub fn losses_in_words(&self) -> Vec<String> {
        let rounded = (self.precision == Precision::EightBit).then(|| format!("times {ROUNDED}"));
        rounded.into_iter().chain(self.filtered.clone()).chain(self.loss_sentences()).collect()
    }

    fn loss_sentences(&self) -> Vec<String> {
        sentences(&self.losses, self.segments_refused.as_deref())
    }

    /// Returns `regions: alltoall 64.4% of the time in 5 callpaths, fft 20.1%`: the regions with
    /// the most exclusive time. None unless one of them has several callpaths, among which the
    /// table scatters its time.
    fn regions_line(&self) -> Option<String> {
        if self.callpaths_of_regions.is_some() {
            return None;
        }
        let first = costliest(&self.callpaths, &self.statistics, REGIONS, |index| {
            self.base.startup_itself(index) == 0
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
            let share = percent_cell(self.base.share(region.exclusive_ns));
            format!("{} {share}{unit}{callpaths}", cut(&shown(region.name), NAME_COLUMNS))
        };
        let parts: Vec<String> = first.iter().enumerate().map(of).collect();
        Some(format!("regions: {}", parts.join(", ")))
    }

    /// Returns `start-up: 292 ms per rank, of which no share is given`; none without.
    pub(super) fn startup_line(&self) -> Option<String> {
        let startup_ns = self.base.startup_ns();
        let per_rank = if self.ranks > 1 { " per rank" } else { "" };
        let time = time(rounded(startup_ns, self.ranks.max(1).into()));
        (startup_ns > 0)
            .then(|| format!("start-up: {time}{per_rank}, besides the time that shares refer to"))
    }

    /// Returns start-up, regions, MPI calls, efficiency, hints, losses and the profiler's overhead,
    /// the most helpful first.
    pub(super) fn closing(&self, width: usize) -> String {
        let mut text = String::new();
        if let Some(line) = self.startup_line() {
            text.push_str(&wrapped(&line, " ", width));
        }
        // At other levels the report says nothing of waiting.
        let is_level = self.unfollowed.as_ref().is_some_and(|all| all.are_recorded);
        let unfollowed = self.unfollowed_line().filter(|_| is_level);
        for line in self.regions_line().into_iter().chain(self.mpi_line()).chain(unfollowed) {
            text.push_str(&wrapped(&line, " ", width));
        }
        if let Some(found) = &self.efficiency {
            let io = if found.io_share > 0.0 {
                format!("; IO {}", percent_cell(found.io_share))
            } else {
                String::new()
            };
            let load_balance = percent_cell(found.load_balance);
            let line = match found.parallel.zip(found.communication) {
                Some((parallel, communication)) => {
                    let factors = found.serialisation.zip(found.transfer);
                    let communication = match factors {
                        Some((serialisation, transfer)) => format!(
                            "serialisation {} x transfer {}",
                            percent_cell(serialisation),
                            percent_cell(transfer)
                        ),
                        None => format!("communication {}", percent_cell(communication)),
                    };
                    format!(
                        "efficiency: parallel {} = load balance {load_balance} x {communication}{io}",
                        percent_cell(parallel),
                    )
                }
                None => format!(
                    "efficiency: load balance {load_balance}{io}; communication is not known: no region has the tag COMM"
                ),
            };
            text.push_str(&wrapped(&line, " ", width));
        } else if self.ranks > 1 && self.base.ns() > 0 {
            text.push_str(&wrapped(NO_TAGS, " ", width));
        }
        for hint in &self.hints {
            text.push_str(&wrapped(
                &format!("hint: {}. {} {}", hint.headline, hint.evidence, hint.advice),
                " ",
                width,
            ));
        }
        if let Some(because) = &self.incomplete {
            text.push_str(&wrapped(&format!("note: incomplete: {}", escaped(because)), " ", width));
        }
        if self.precision == Precision::EightBit {
            text.push_str(&wrapped(&format!("note: times {ROUNDED}"), " ", width));
        }
        if let Some(filtered) = &self.filtered {
            text.push_str(&wrapped(&format!("note: {filtered}"), " ", width));
        }
        if let Some(handed_on) = self.handed_on() {
            text.push_str(&wrapped(&format!("note: {handed_on}"), " ", width));
        }
        for sentence in self.loss_sentences() {
            text.push_str(&wrapped(&format!("note: {sentence}"), " ", width));
        }
        if let Some(cost) = &self.overhead {
            text.push_str(&wrapped(&cost.sentence(), " ", width));
        }
        text
    }
}
