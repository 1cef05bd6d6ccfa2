//! The tree as lines of text, for the screen and for `--once`. Names are escaped and cut here.

use std::time::Duration;

use tinyprof_picture::Few;
use tinyprof_report::cells::{
    columns, counted, cut, number_cell, percent_cell, shown, sum_cell, time_cell,
};
use tinyprof_report::escaped;

use super::frame::{Frame, Row};
use super::view::View;
use super::whole::HOSTS_MAX;

/// The columns of numbers, each preceded by a space: heads and widths.
const COLUMNS: [(&str, usize); 8] = [
    ("inclusive", 9),
    ("exclusive", 9),
    ("share", 6),
    ("now", 6),
    ("visits", 7),
    ("visits/s", 8),
    ("ranks", 5),
    ("imbal", 6),
];
/// The narrowest screen that has columns of exclusive times and ranks.
const WIDE: usize = 90;
const NARROW_LACKS: [usize; 2] = [1, 6];
const NAME_MAX: usize = 60;
/// The hosts or ranks that are named in a line.
const NAMED: usize = 3;

/// Returns the facts of the job in one line: its name, ranks and hosts, how long it has run, and
/// the age of the data.
pub(super) fn job_line(frame: &Frame) -> String {
    let picture = &frame.sample.picture;
    let all = counted(picture.size.into(), "rank");
    let ranks = match picture.ranks.len() {
        known if known < picture.size.into() => format!("{known} of {all}"),
        _ => all,
    };
    let elapsed =
        picture.elapsed_ns.map_or_else(String::new, |ns| format!(", ran {}", time_cell(ns.into())));
    let hosts = counted(picture.hosts.into(), "host");
    let efficiency = frame.efficiency().and_then(|of| of.parallel);
    let efficiency =
        efficiency.map_or_else(String::new, |of| format!(", efficiency {}", percent_cell(of)));
    let iterations = frame.iterations.as_ref();
    let iterations = iterations.map_or_else(String::new, |of| format!("; {}", of.text()));
    format!(
        "{}: {ranks} on {hosts}{elapsed}{efficiency}{iterations}; {}, {} old",
        escaped(&picture.name),
        escaped(&frame.sample.source),
        time_cell(picture.age_ns.into())
    )
}

/// Returns losses, missing hosts, and ranks that do not move; empty if there are none.
pub(super) fn losses_line(frame: &Frame) -> String {
    let picture = &frame.sample.picture;
    let losses = &picture.losses;
    let kinds = [
        (losses.records_unreadable, "record not read"),
        (losses.records_torn, "record caught in a change"),
        (losses.visits_not_recorded, "visit not recorded"),
    ];
    let said = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} x {what}"));
    let missing = few(&picture.missing, |one| {
        format!("nothing of {}: {}", escaped(&one.host), escaped(&one.why))
    });
    let still = few(&picture.still, |one| {
        let since = time_cell(one.since_ns.into());
        let how = if one.is_stopped { "is stopped, and has" } else { "has" };
        format!("rank {} on {} {how} not moved for {since}", one.rank, escaped(&one.host))
    });
    said.chain(missing).chain(still).collect::<Vec<_>>().join(", ")
}

/// Returns some of many, and how many more there are.
fn few<T>(few: &Few<T>, said: impl Fn(&T) -> String) -> Vec<String> {
    let mut all: Vec<String> = few.worst.iter().take(NAMED).map(said).collect();
    match few.count.saturating_sub(all.len() as u64) {
        0 => {}
        more => all.push(format!("and {more} more")),
    }
    all
}

/// Returns why ranks wait, in lines of `width` columns; one line if it is not known.
pub(super) fn why_lines(frame: &Frame, width: u16) -> Vec<String> {
    match &frame.sample.why {
        Some(why) => why.first_lines(width).lines().map(str::to_owned).collect(),
        None => vec![why_not(frame).to_owned()],
    }
}

/// Returns the reason for which nothing is known of why.
fn why_not(frame: &Frame) -> &'static str {
    let picture = &frame.sample.picture;
    if !picture.is_whole() {
        "Nothing is known of why: not all ranks are in the picture"
    } else if picture.hosts as usize > HOSTS_MAX {
        "Nothing is known of why on so many hosts: save a profile, and ask tinyprof why"
    } else {
        "Nothing is known of why: there are no calls of MPI, or not all hosts have told of them yet"
    }
}

/// Returns the head of the table.
pub(super) fn head(frame: &Frame, width: usize) -> String {
    let interval = frame
        .interval
        .map_or_else(String::new, |interval| format!(" (now: last {})", seconds(interval)));
    let name = format!("callpath{interval}");
    line(&name, &COLUMNS.map(|(head, _)| head.to_owned()), width)
}

/// Returns a callpath as a line of the table.
pub(super) fn row(row: &Row, view: &View, width: usize) -> String {
    let mark = if row.children.is_empty() {
        ' '
    } else if view.is_collapsed(row) {
        '+'
    } else {
        '-'
    };
    // A deep tree must not push the names off the screen.
    let indent = (row.depth as usize * 2).min(width / 6);
    let name = format!("{:indent$}{mark} {}", "", shown(&row.name));
    let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "-".to_owned());
    let cells = [
        sum_cell(&row.inclusive, None),
        sum_cell(&row.exclusive, Some(row.inclusive.shown_ns(None).1)),
        percent_cell(row.share),
        or_dash(row.recent.map(|recent| percent_cell(recent.share))),
        number_cell(whole(row.visits)),
        or_dash(row.recent.map(|recent| number_cell(rounded(recent.visits_per_s)))),
        row.ranks.to_string(),
        or_dash(row.imbalance.map(percent_cell)),
    ];
    line(&name, &cells, width)
}

fn line(name: &str, cells: &[String; 8], width: usize) -> String {
    let is_shown = |at: usize| width >= WIDE || !NARROW_LACKS.contains(&at);
    let numbers: usize = COLUMNS
        .iter()
        .enumerate()
        .filter(|(at, _)| is_shown(*at))
        .map(|(_, (_, width))| width + 1)
        .sum();
    let name_width = width.saturating_sub(numbers).min(NAME_MAX);
    let name = cut(name, name_width);
    let mut line = format!("{name}{:1$}", "", name_width.saturating_sub(columns(&name)));
    for (at, (cell, (_, width))) in cells.iter().zip(COLUMNS).enumerate() {
        if is_shown(at) {
            line.push_str(&format!(" {cell:>width$}"));
        }
    }
    cut(&line, width)
}

/// Returns a time for people.
pub(super) fn seconds(time: Duration) -> String {
    time_cell(time.as_nanos())
}

#[expect(clippy::cast_precision_loss, reason = "a cell shows four digits")]
const fn whole(count: u64) -> f64 {
    count as f64
}

/// Rounds rates above 10 to integers.
fn rounded(rate: f64) -> f64 {
    if rate < 10.0 { rate } else { rate.round() }
}
