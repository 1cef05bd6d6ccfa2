//! A comparison for people: a head, the callpaths that matter, and notes on the numbers.

use std::collections::BTreeSet;

use anstyle::Style;
use tinyprof_report::cells::{
    columns, counted, cut, number_cell, percent_cell, time_cell, wrapped,
};
use tinyprof_report::{SortKey, escaped};

use crate::arguments::Estimator;

use super::compare::{Diff, Row, Run, Unit, Verdict};
use crate::paint;

/// The number of profiles of a side that are named in the head.
const NAMED: usize = 3;

/// The fewest executions whose minimum says more than their mean.
const MINIMUM_OF_EXECUTIONS: u32 = 5;

/// The smallest visible change, relative to the base, above which another estimator is suggested.
const MUCH_HIDDEN: f64 = 0.10;

/// A column of numbers.
#[derive(Clone, Copy, Debug)]
enum Column {
    Verdict,
    Base,
    New,
    Difference,
    Interval,
    Change,
    Visible,
    Effect,
}

/// The layouts from widest to narrowest; the first that leaves enough room for paths is used.
const LAYOUTS: [&[Column]; 4] = {
    use Column::{Base, Change, Difference, Effect, Interval, New, Verdict, Visible};
    [
        &[Verdict, Base, New, Difference, Interval, Change, Visible, Effect],
        &[Verdict, Base, New, Difference, Interval, Change, Visible],
        &[Verdict, Base, New, Change, Visible],
        &[Verdict, Change],
    ]
};

/// The fewest columns for a path; fewer would not identify it.
const NARROWEST_PATH: usize = 24;

/// Returns the comparison in `width_columns` columns, with colours.
pub(super) fn text(diff: &Diff, all: bool, width_columns: u16) -> String {
    let width = usize::from(width_columns);
    let is_shown = |row: &&Row| {
        all || row.share >= diff.min_share || matches!(row.verdict, Verdict::Up | Verdict::Down)
    };
    let rows: Vec<&Row> = diff.rows.iter().filter(is_shown).collect();
    let mut text = wrapped(&head(diff), ", ", width);
    text.push_str(&wrapped(&samples(diff), ", ", width));
    let mut text = paint::text(&text);
    write_table(diff, &rows, width, &mut text);
    let hidden = diff.rows.len() - rows.len();
    if hidden > 0 {
        let share = percent_cell(diff.min_share);
        text.push_str(&format!(
            "... {} below {share} of the time\n",
            counted(hidden as u64, "callpath")
        ));
    }
    for note in notes(diff) {
        let note = wrapped(&format!("note: {note}"), " ", width);
        text.push_str(&paint::note(&note));
    }
    text
}

fn head(diff: &Diff) -> String {
    let of = match &diff.metric {
        SortKey::Inclusive => "inclusive time".to_owned(),
        SortKey::Exclusive => "exclusive time".to_owned(),
        other => escaped(&other.to_string()),
    };
    let estimator = match diff.estimator {
        Estimator::Mean => "",
        Estimator::Median => ", the median of each run's executions",
        Estimator::Min => ", the least of each run's executions",
    };
    format!(
        "{} against {}: {of} a rank and execution{estimator}",
        side(&diff.new),
        side(&diff.base)
    )
}

fn side(runs: &[Run]) -> String {
    let named: Vec<String> =
        runs.iter().take(NAMED).map(|run| cut(&escaped(&run.name), 60)).collect();
    let more = runs.len().saturating_sub(NAMED);
    named.join(", ") + &if more > 0 { format!(", and {more} more") } else { String::new() }
}

/// Returns a line such as `samples: 3 runs against 3`.
pub(super) fn samples(diff: &Diff) -> String {
    let compared =
        diff.rows.iter().filter(|row| !matches!(row.verdict, Verdict::New | Verdict::Gone));
    let kinds: BTreeSet<(Unit, bool, usize, usize)> =
        compared.map(|row| (row.unit, row.paired, row.base.values, row.new.values)).collect();
    let kind = |(unit, paired, base, new): &(Unit, bool, usize, usize)| {
        if *paired {
            return format!("{} in pairs", counted(*base as u64, unit.word()));
        }
        format!("{} against {new}", counted(*base as u64, unit.word()))
    };
    let told: Vec<String> = kinds.iter().take(NAMED).map(kind).collect();
    match (told.as_slice(), kinds.len() > NAMED) {
        ([], _) => "no callpath is on both sides".to_owned(),
        (_, more) => {
            format!("samples: {}{}", told.join(", "), if more { ", and others" } else { "" })
        }
    }
}

fn write_table(diff: &Diff, rows: &[&Row], width: usize, text: &mut String) {
    if rows.is_empty() {
        return;
    }
    let lay_out = |layout: &[Column]| -> Vec<String> {
        let mut lines = vec![String::new(); rows.len() + 1];
        for column in layout {
            let heading = column.heading().to_owned();
            let cells: Vec<String> = std::iter::once(heading)
                .chain(rows.iter().map(|row| cell(diff, row, *column)))
                .collect();
            let widest = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
            for (line, cell) in lines.iter_mut().zip(&cells) {
                let padding = " ".repeat(widest - columns(cell));
                match column {
                    Column::Verdict => line.push_str(&format!("{cell}{padding}  ")),
                    _ => line.push_str(&format!("{padding}{cell}  ")),
                }
            }
        }
        lines
    };
    let laid_out = LAYOUTS.iter().map(|layout| lay_out(layout));
    let mut taken = Vec::new();
    for lines in laid_out {
        let fits = columns(&lines[0]) + NARROWEST_PATH <= width;
        taken = lines;
        if fits {
            break;
        }
    }
    let room = width.saturating_sub(columns(&taken[0])).max(NARROWEST_PATH);
    let mut lines = taken.into_iter();
    text.push_str(&format!("{}callpath\n", lines.next().unwrap_or_default()));
    for (row, line) in rows.iter().zip(lines) {
        let style = match row.verdict {
            _ if diff.fails(row) => paint::WORSE.bold(),
            Verdict::Up => paint::WORSE,
            Verdict::Down => paint::BETTER,
            _ => Style::new(),
        };
        let line = format!("{line}{}", diff.names.shown_path(row.callpath, room));
        text.push_str(&paint::painted(&line, style));
        text.push('\n');
    }
}

impl Column {
    const fn heading(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Base => "base",
            Self::New => "new",
            Self::Difference => "difference",
            Self::Interval => "+-95%",
            Self::Change => "change",
            Self::Visible => "visible",
            Self::Effect => "g",
        }
    }
}

/// Returns a cell of the table: ASCII without spaces, or `-` for a number that cannot be
/// determined.
fn cell(diff: &Diff, row: &Row, column: Column) -> String {
    let amount = |amount: f64| amount_cell(&diff.metric, amount);
    let mean = |side: &super::compare::Side| match side.runs {
        0 => "-".to_owned(),
        _ if side.estimate_variance > 0.0 => format!("~{}", amount(side.mean)),
        _ => amount(side.mean),
    };
    let told = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
    match column {
        Column::Verdict => row.verdict.word().to_owned(),
        Column::Base => mean(&row.base),
        Column::New => mean(&row.new),
        Column::Difference => signed(row.difference, amount),
        Column::Interval => told(row.test.map(|test| amount(test.half_width))),
        Column::Change => {
            let mark = if diff.fails(row) { "!" } else { "" };
            told(row.change().map(|change| signed(change, percent_cell))) + mark
        }
        Column::Visible => told(row.smallest_change().map(percent_cell)),
        Column::Effect => told(
            row.hedges_g
                .map(|g| signed(g, |g| if g < 99.95 { format!("{g:.1}") } else { ">100".into() })),
        ),
    }
}

fn signed(number: f64, cell: impl Fn(f64) -> String) -> String {
    let sign = if number < 0.0 {
        "-"
    } else if number > 0.0 {
        "+"
    } else {
        ""
    };
    let cell = cell(number.abs());
    // A bound has no sign: the difference beside it has.
    if cell.starts_with(['<', '>']) { cell } else { format!("{sign}{cell}") }
}

fn amount_cell(metric: &SortKey, amount: f64) -> String {
    match metric {
        SortKey::Inclusive | SortKey::Exclusive =>
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a rounded time is shown"
            )]
            time_cell(amount.round() as u128)
        }
        _ => number_cell(amount),
    }
}

/// Returns the notes that are needed to read the numbers.
pub(super) fn notes(diff: &Diff) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(limit) = diff.fail_above {
        let above = diff.rows.iter().filter(|row| diff.fails(row)).count();
        let are = if above == 1 { "is" } else { "are" };
        notes.push(format!(
            "{} {are} up by more than {} (!)",
            counted(above as u64, "callpath"),
            percent_cell(limit)
        ));
        let powerless: Vec<&Row> = diff.rows.iter().filter(|row| diff.is_powerless(row)).collect();
        let smallest = powerless.iter().filter_map(|row| row.smallest_change());
        if let Some(smallest) = smallest.min_by(f64::total_cmp) {
            notes.push(format!(
                "{} could not have failed at {}: less than {} cannot be told from chance there; compare more runs",
                counted(powerless.len() as u64, "callpath"),
                percent_cell(limit),
                percent_cell(smallest),
            ));
        }
    }
    if let Some(smallest) = least_visible(diff) {
        notes.push(format!(
            "less than {} of the time cannot be told from chance: tinyprof diff --estimator min ignores executions that \
             other work slowed",
            percent_cell(smallest),
        ));
    }
    let has = |unit: Unit| {
        diff.rows
            .iter()
            .any(|row| row.unit == unit && !matches!(row.verdict, Verdict::New | Verdict::Gone))
    };
    let mut note = |is: bool, what: &str| {
        if is {
            notes.push(what.to_owned());
        }
    };
    let alone = diff.base.len() == 1 || diff.new.len() == 1;
    note(
        has(Unit::Runs) && alone,
        "one side has one run only, which does not tell change from chance: compare several with several",
    );
    note(
        diff.estimator != Estimator::Mean && diff.base.len() == 1 && diff.new.len() == 1,
        "--estimator makes one value of each run: it has no effect on two single runs",
    );
    note(
        has(Unit::Executions),
        "a value is an execution of one run: what differs from run to run is not in the intervals; compare several runs",
    );
    note(
        has(Unit::Ranks),
        "a value is a rank of one run, and ranks wait for each other: intervals may be too narrow, compare several runs",
    );
    note(
        has(Unit::Single),
        "there is one value on a side, which does not tell change from chance: compare several runs",
    );
    note(
        diff.rows.iter().any(|row| row.folded),
        "executions were folded: a value stands for several of them",
    );
    let differ = |of: fn(&Run) -> u64| {
        let found: BTreeSet<u64> = diff.runs().map(of).collect();
        let told = found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        (found.len() > 1).then_some(told)
    };
    if let Some(ranks) = differ(|run| run.ranks as u64) {
        notes.push(format!(
            "the runs have different numbers of ranks ({ranks}): amounts are those of one rank"
        ));
    }
    if let Some(executions) = differ(|run| run.executions.into()) {
        notes.push(format!(
            "the runs have different numbers of executions ({executions}): amounts are those of one"
        ));
    }
    for run in diff.runs().filter(|run| run.incomplete) {
        notes.push(format!("{} is incomplete, see tinyprof info", escaped(&run.name)));
    }
    let estimated = |row: &Row| row.base.estimate_variance + row.new.estimate_variance > 0.0;
    if diff.rows.iter().any(estimated) {
        notes.push("~ is an estimate, as a budget let only some visits be timed".to_owned());
    }
    notes
}

/// Returns the smallest visible change of the callpath with the greatest share, if the means of
/// runs hide much and the runs have enough executions for a minimum.
fn least_visible(diff: &Diff) -> Option<f64> {
    let of_means = diff.estimator == Estimator::Mean
        && diff.runs().all(|run| run.executions >= MINIMUM_OF_EXECUTIONS);
    let runs = diff.rows.iter().filter(|row| of_means && row.unit == Unit::Runs);
    let largest = runs.max_by(|a, b| a.share.total_cmp(&b.share))?;
    largest.smallest_change().filter(|&change| change > MUCH_HIDDEN)
}
