//! Waiting as a table.

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;

use crate::lines::{Column, Line, write_more, write_table_of_names};
use crate::names::{columns, cut, wrapped};
use crate::units::{count_cell, percent_cell, ratio, time, time_cell};
use crate::{Report, Waiting, Waits};

const COLUMNS: [Column; 8] = [
    Column::number("waiting", 0),
    Column::number("share", 0),
    Column::number("w/o us", 3),
    Column::number("transfer", 4),
    Column::number("count", 5),
    Column::text("kind", 2),
    Column::text("ranks", 1),
    Column::text("wait for", 1),
];

/// The maximum width of a set of ranks, in columns. JSON and CSV have all of it.
const RANKS_COLUMNS: usize = 12;

/// The minimum width of both callpaths, in columns, for which columns of numbers are left out.
const NARROWEST_CALLPATHS: usize = 64;

/// The text between the two callpaths of a line.
const FOR: &str = " for ";

impl Report {
    /// Returns the waiting of this report's profile as text of `width_columns` columns: the `count`
    /// longest entries, and lines on all of them and on the clocks.
    #[must_use]
    pub fn to_waits_text(&self, waits: &Waits, count: usize, width_columns: u16) -> String {
        let width = usize::from(width_columns);
        let mut text = wrapped(&self.head(width), ", ", width);
        if !waits.are_recorded {
            return text + &wrapped(&self.unknown_waiting(), " ", width);
        }
        // Transfers without waiting are of interest for each pair of ranks.
        let is_shown = |entry: &&Waiting| waits.by_rank || entry.waiting_ns > 0;
        let shown = waits.entries.iter().filter(is_shown).count();
        let lines: Vec<Line<'_>> = waits
            .entries
            .iter()
            .filter(is_shown)
            .take(count)
            .map(|entry| Line {
                cells: self.waiting_cells(entry),
                name: Box::new(|room| self.both_callpaths(entry, room)),
            })
            .collect();
        if !lines.is_empty() {
            write_table_of_names(
                &mut text,
                &COLUMNS,
                ("callpath", NARROWEST_CALLPATHS),
                &lines,
                width,
            );
            write_more(&mut text, shown, count, "line");
        }
        let lines = self.startup_line().into_iter().chain([self.waiting_line(waits)]);
        for line in lines.chain(self.unfollowed_line()) {
            text.push_str(&wrapped(&line, " ", width));
        }
        if let Some(clock) = &self.clock {
            text.push_str(&wrapped(&clock.sentence(), " ", width));
        }
        text
    }

    fn waiting_cells(&self, entry: &Waiting) -> Vec<String> {
        let cell = |ns: u128| if ns == 0 { "-".to_owned() } else { time_cell(ns) };
        let ranks = |ranks: &RankSet| match ranks.is_empty() {
            true => "-".to_owned(),
            false => cut(&ranks.to_string(), RANKS_COLUMNS),
        };
        vec![
            time_cell(entry.waiting_ns),
            if entry.is_startup {
                cell(0)
            } else {
                percent_cell(self.base.share(entry.waiting_ns))
            },
            time_cell(entry.compensated_ns),
            cell(entry.transfer_ns),
            count_cell(entry.count),
            kind(entry),
            ranks(&entry.ranks),
            ranks(&entry.for_ranks),
        ]
    }

    /// Returns the callpath that waits and the one that it waits for, each in half of the room, or
    /// more if the other one is short.
    fn both_callpaths(&self, entry: &Waiting, room: usize) -> String {
        let path = |callpath: Option<CallpathIndex>, room: usize| match callpath {
            Some(callpath) => cut(&self.shown_path(callpath, room), room),
            None => "?".to_owned(),
        };
        let rest = room.saturating_sub(FOR.len());
        let second = columns(&path(entry.for_callpath, rest)).min(rest / 2);
        let first = path(entry.callpath, rest - second);
        let second = path(entry.for_callpath, rest - columns(&first).min(rest));
        cut(&format!("{first}{FOR}{second}"), room)
    }

    fn waiting_line(&self, waits: &Waits) -> String {
        let waiting_ns = waits.waiting_ns();
        if waiting_ns == 0 {
            // The line on what is not followed is next, if there is any.
            return "no waiting is known".to_owned();
        }
        format!(
            "waiting: {}, {} of the time of {} ranks; without measurement {}",
            time(waiting_ns),
            percent_cell(self.base.share(waiting_ns)),
            if waits.of_some_ranks { "these" } else { "all" },
            time(waits.compensated_ns()),
        )
    }
}

/// Returns the pattern, and the part of the waiting that is due to the order of receives.
fn kind(entry: &Waiting) -> String {
    let word = word(entry.pattern);
    if entry.wrong_order_ns == 0 {
        return word.to_owned();
    }
    let part = percent_cell(ratio(entry.wrong_order_ns, entry.waiting_ns));
    format!("{word}, {part} order")
}

/// Returns a pattern in one or two words.
pub(crate) const fn word(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::LateSender => "late sender",
        Pattern::LateReceiver => "late receiver",
        Pattern::WaitAtBarrier => "barrier",
        Pattern::WaitAtAllToAll => "all to all",
        Pattern::LateBroadcast => "late root",
        Pattern::EarlyReduce => "early root",
        Pattern::EarlyScan => "early scan",
        Pattern::WaitAtFence => "fence",
        Pattern::LatePost => "late post",
        Pattern::EarlyWait => "early wait",
        Pattern::LockContention => "lock",
        _ => "other",
    }
}
