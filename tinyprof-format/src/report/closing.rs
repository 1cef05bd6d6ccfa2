//! What stands below the tree in words: where ranks are, how well they were used, what stands out,
//! and what the profiler itself has cost.

use super::Report;
use super::columns::Placement;
use super::names::{columns, cut, escaped, wrapped};
use super::notes::{ROUNDED, sentences};
use super::units::percent_cell;
use crate::model::Precision;

/// Names of hosts in the line that has room for several take at most so many columns.
const HOST_COLUMNS: usize = 20;

/// `hosts: rank 3 on nid00012, rank 17 on nid00013`: as many of the ranks as fit into one line, in
/// their order; nothing where the hosts are in the table, or not known.
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
    /// Efficiency, hints, losses, and the profiler's own cost: in the order in which they help.
    pub(super) fn closing(&self, width: usize) -> String {
        let mut text = String::new();
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
                &format!("hint: {}. {}", hint.headline, hint.evidence),
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
        if let Some(cost) = &self.own_cost {
            text.push_str(&wrapped(&cost.sentence(), " ", width));
        }
        text
    }
}
