//! The sentences below the tree: hosts of ranks, MPI calls, efficiency, hints, notes, and the
//! profiler's overhead.

use super::Report;
use super::columns::Placement;
use super::names::{columns, cut, escaped, wrapped};
use super::notes::{ROUNDED, sentences};
use super::units::percent_cell;
use tinyprof_format::model::Precision;

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
        rounded.into_iter().chain(self.filtered.clone()).chain(sentences(&self.losses)).collect()
    }

    /// Returns MPI calls, efficiency, hints, losses and the profiler's overhead, the most helpful
    /// first.
    pub(super) fn closing(&self, width: usize) -> String {
        let mut text = String::new();
        if let Some(line) = self.mpi_line() {
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
                Some((parallel, communication)) => format!(
                    "efficiency: parallel {} = load balance {load_balance} x communication {}{io}",
                    percent_cell(parallel),
                    percent_cell(communication),
                ),
                None => format!(
                    "efficiency: load balance {load_balance}{io}; communication is not known: no region has the tag COMM"
                ),
            };
            text.push_str(&wrapped(&line, " ", width));
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
        for sentence in sentences(&self.losses) {
            text.push_str(&wrapped(&format!("note: {sentence}"), " ", width));
        }
        if let Some(cost) = &self.overhead {
            text.push_str(&wrapped(&cost.sentence(), " ", width));
        }
        text
    }
}
