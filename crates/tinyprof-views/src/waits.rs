//! Who waits for whom, as a table.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};
use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::cells::{
    columns, count_cell, cut, percent_cell, ratio, time, time_cell, wrapped,
};
use tinyprof_report::{
    CompensatedRank, Datum, Report, Waiting, Waits, head, joined_note, startup_line,
    unfollowed_line,
};

use crate::clock::{clock_json, clock_line};
use crate::compensated::unknown_waiting;
use crate::json_list::{LongJson, integer};
use crate::paths::{path, shown_path};
use crate::table::{
    Column, Line, row_json, write_csv_headings, write_csv_row, write_more, write_table,
};
use crate::view::View;

type Of = Column<Waiting>;

const COLUMNS: [Of; 13] = [
    Of::new("kind", |_, entry| Datum::text(Some(entry.pattern.name()))).shown_as_words(
        6,
        "kind",
        2,
        |_, entry| kind(entry),
    ),
    Of::new("callpath", |report, entry| path_of(report, entry.callpath)),
    Of::new("for_callpath", |report, entry| path_of(report, entry.for_callpath)),
    Of::new("ranks", |_, entry| Datum::Text(entry.ranks.to_string())).shown_as_words(
        7,
        "ranks",
        1,
        |_, entry| ranks_cell(&entry.ranks),
    ),
    Of::new("for_ranks", |_, entry| Datum::Text(entry.for_ranks.to_string())).shown_as_words(
        8,
        "wait for",
        1,
        |_, entry| for_cell(entry),
    ),
    Of::new("most_for_rank", |_, entry| {
        entry.most.map_or(Datum::None, |(rank, _)| Datum::integer(rank))
    }),
    Of::new("most_ns", |_, entry| entry.most.map_or(Datum::None, |(_, ns)| Datum::Integer(ns))),
    Of::new("count", |_, entry| Datum::integer(entry.count))
        .shown(5, "count", 5, |_, entry| count_cell(entry.count)),
    Of::new("waiting_ns", |_, entry| Datum::Integer(entry.waiting_ns)).shown(
        1,
        "waiting",
        0,
        |_, entry| time_cell(entry.waiting_ns),
    ),
    Of::new("compensated_ns", |_, entry| Datum::Integer(entry.compensated_ns)).shown(
        3,
        "adjusted",
        3,
        |_, entry| time_cell(entry.compensated_ns),
    ),
    Of::new("transfer_ns", |_, entry| Datum::Integer(entry.transfer_ns)).shown(
        4,
        "transfer",
        4,
        |_, entry| match entry.transfer_ns {
            0 => "-".to_owned(),
            ns => time_cell(ns),
        },
    ),
    Of::new("wrong_order_ns", |_, entry| Datum::Integer(entry.wrong_order_ns)),
    Of::new("share", |report, entry| Datum::float(share(report, entry))).shown(
        2,
        "share",
        0,
        |report, entry| share(report, entry).map_or_else(|| "-".to_owned(), percent_cell),
    ),
];

/// The maximum width of a set of ranks, in columns. JSON and CSV have all of it.
const RANKS_COLUMNS: usize = 12;

/// The maximum width of the other ranks, beside the one that is waited for longest.
const OTHERS_COLUMNS: usize = 9;

/// The part of the waiting that is for one rank, beyond which it is told.
const MOST: f64 = 0.5;

/// The most kinds that the line of all waiting names.
const KINDS_SHOWN: usize = 4;

/// The text between the two callpaths of a line, or before the second one below the first.
const FOR: &str = " for ";

/// The waiting of a profile, the longest first.
///
/// The text has the first entries, and lines on all of them and on the clocks. CSV and JSON have
/// all entries:
///
/// * `waits`: for each entry the `kind`, such as `late_sender`; the `callpath` that waits and
///   `for_callpath`, null where it is not known; `ranks` and `for_ranks` as text like `1-6`;
///   `count`, `waiting_ns`, `compensated_ns` and `transfer_ns`, summed over ranks; `share` of the
///   time of all ranks, null for start-up; `wrong_order_ns`, the part of the waiting that is due to
///   order.
/// * `mpi_ns`: the time of all ranks in MPI calls, and `unfollowed_ns`, the part of it in calls of
///   which it is not known for whom they wait.
/// * `clock`: the facts of the clocks of all ranks, added up; null if the profile is not of level
///   `messages`.
/// * `compensated`: for each `rank` the time of its roots as it was measured, less what its own
///   measuring cost (`local_ns`), and less all delays (`parallel_ns`), with `uncertainty_ns`.
#[derive(Clone, Copy, Debug)]
pub struct WaitsView<'a> {
    report: &'a Report,
    waits: &'a Waits,
    count: usize,
}

impl<'a> WaitsView<'a> {
    /// Returns the table of this waiting of the report's profile, whose text has `count` lines.
    #[must_use]
    pub const fn new(report: &'a Report, waits: &'a Waits, count: usize) -> Self {
        Self { report, waits, count }
    }

    fn waiting_line(&self) -> String {
        let waiting_ns = self.waits.waiting_ns();
        if waiting_ns == 0 {
            // The line on what is not followed is next, if there is any.
            return "no waiting is known".to_owned();
        }
        format!(
            "waiting: {}, {} of the time of {} ranks{}; without measurement {}",
            time(waiting_ns),
            percent_cell(self.report.base.share(waiting_ns)),
            if self.waits.of_some_ranks { "these" } else { "all" },
            self.kinds(),
            time(self.waits.compensated_ns()),
        )
    }

    /// Returns the kinds with the most waiting after start-up, each with its sum.
    fn kinds(&self) -> String {
        let mut sums = BTreeMap::new();
        let counted = |entry: &&Waiting| share(self.report, entry).is_some();
        for entry in self.waits.entries.iter().filter(counted) {
            *sums.entry(entry.pattern.words()).or_insert(0) += entry.waiting_ns;
        }
        let mut sums: Vec<(String, u128)> = sums.into_iter().filter(|(_, ns)| *ns > 0).collect();
        sums.sort_by_key(|(_, ns)| Reverse(*ns));
        let shown = sums.iter().take(KINDS_SHOWN).enumerate();
        let words = shown.map(|(number, (words, ns))| {
            format!("{}{words} {}", if number == 0 { ": " } else { ", " }, time(*ns))
        });
        words.collect()
    }
}

impl View for WaitsView<'_> {
    fn text(&self, width_columns: u16) -> String {
        let Self { report, waits, count } = *self;
        let width = usize::from(width_columns);
        let mut text = head(report, width);
        if !waits.are_recorded {
            return text + &wrapped(&unknown_waiting(report), " ", width);
        }
        for line in startup_line(report).into_iter().chain([self.waiting_line()]) {
            text.push_str(&wrapped(&line, " ", width));
        }
        // Transfers without waiting are of interest for each pair of ranks.
        let is_shown = |entry: &&Waiting| waits.by_rank || entry.waiting_ns > 0;
        let shown: Vec<&Waiting> = waits.entries.iter().filter(is_shown).collect();
        if count > 0 && !shown.is_empty() {
            let first: Vec<Line<'_, _>> = shown
                .iter()
                .take(count)
                .map(|entry| Line::new(*entry, |room| both_callpaths(report, entry, room)))
                .collect();
            write_table(&mut text, report, &COLUMNS, &first, "callpath", width);
            write_more(&mut text, shown.len(), count, "line");
        }
        let lines =
            unfollowed_line(report).into_iter().chain(report.clock.as_ref().map(clock_line));
        for line in lines.chain(joined_note(report).map(|note| format!("note: {note}"))) {
            text.push_str(&wrapped(&line, " ", width));
        }
        text
    }

    fn json(&self) -> LongJson<'_> {
        let Self { report, waits, .. } = *self;
        let members = json!({
            "name": report.name,
            "ranks": report.ranks,
            "total_inclusive_ns": integer(report.base.ns()),
            "startup_ns": integer(report.base.startup_ns()),
            "by_rank": waits.by_rank,
            "waiting_ns": integer(waits.waiting_ns()),
            "compensated_ns": integer(waits.compensated_ns()),
            "mpi_ns": report.unfollowed.as_ref().map(|all| integer(all.mpi_ns())),
            "unfollowed_ns": report.unfollowed.as_ref().map(|all| integer(all.ns())),
            "clock": report.clock.as_ref().map(clock_json),
            "compensated": report.compensated.iter().map(of_rank).collect::<Vec<_>>(),
        });
        LongJson::new(members, "waits", || {
            waits.entries.iter().map(|entry| row_json(&COLUMNS, report, entry))
        })
    }

    fn write_csv(&self, to: &mut dyn Write) -> io::Result<()> {
        write_csv_headings(&COLUMNS, to)?;
        let mut entries = self.waits.entries.iter();
        entries.try_for_each(|entry| write_csv_row(&COLUMNS, self.report, entry, to))
    }
}

fn of_rank(of_rank: &CompensatedRank) -> Value {
    json!({
        "rank": of_rank.rank,
        "measured_ns": of_rank.measured_ns,
        "local_ns": of_rank.local_ns,
        "parallel_ns": of_rank.parallel_ns,
        "uncertainty_ns": of_rank.uncertainty_ns,
        "propagated_uncertainty_ns": of_rank.propagated_uncertainty_ns,
        "unfollowed_ns": of_rank.unfollowed_ns,
    })
}

fn path_of(report: &Report, callpath: Option<CallpathIndex>) -> Datum {
    Datum::text(callpath.and_then(|at| path(report, at)))
}

fn share(report: &Report, entry: &Waiting) -> Option<f64> {
    (!entry.is_startup).then(|| report.base.share(entry.waiting_ns))
}

fn ranks_cell(ranks: &RankSet) -> String {
    if ranks.is_empty() { "-".to_owned() } else { ranks.within(RANKS_COLUMNS) }
}

/// Returns the ranks that are waited for. Where one is the cause of most, it comes first, with its
/// part: `2 (88.0%), 0-1,3`.
fn for_cell(entry: &Waiting) -> String {
    let Some((rank, ns)) = entry.most.filter(|_| entry.for_ranks.len() > 1) else {
        return ranks_cell(&entry.for_ranks);
    };
    let part = ratio(ns, entry.waiting_ns);
    if part <= MOST {
        return ranks_cell(&entry.for_ranks);
    }
    let others: RankSet = entry.for_ranks.iter().filter(|other| *other != rank).collect();
    format!("{rank} ({}), {}", percent_cell(part), others.within(OTHERS_COLUMNS))
}

/// Returns the callpath that waits and the one that it waits for: in a line if both have room, each
/// with as much of it as the other one leaves, or the second below the first.
fn both_callpaths(report: &Report, entry: &Waiting, room: usize) -> String {
    let path = |callpath: Option<CallpathIndex>, room: usize| match callpath {
        Some(callpath) => cut(&shown_path(report, callpath, room), room),
        None => "?".to_owned(),
    };
    let own = |callpath: Option<CallpathIndex>| {
        callpath.map_or(1, |callpath| columns(&shown_path(report, callpath, 0)))
    };
    let rest = room.saturating_sub(FOR.len());
    if own(entry.callpath) + own(entry.for_callpath) > rest {
        let second = path(entry.for_callpath, rest + 1);
        return format!("{}\n{}{second}", path(entry.callpath, room), FOR.trim_start());
    }
    let second = columns(&path(entry.for_callpath, rest - own(entry.callpath))).min(rest / 2);
    let first = path(entry.callpath, rest - second.max(own(entry.for_callpath)));
    let second = path(entry.for_callpath, rest - columns(&first));
    format!("{first}{FOR}{second}")
}

/// Returns the pattern, and the part of the waiting that is due to the order of receives.
fn kind(entry: &Waiting) -> String {
    let words = entry.pattern.words();
    if entry.wrong_order_ns == 0 {
        return words;
    }
    let part = percent_cell(ratio(entry.wrong_order_ns, entry.waiting_ns));
    format!("{words}, {part} order")
}
