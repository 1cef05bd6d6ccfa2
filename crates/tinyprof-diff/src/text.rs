//! A comparison for people: a head, the callpaths that matter, and notes on the numbers.

use tinyprof_report::cells::{
    columns, counted, cut, number_cell, percent_cell, time_cell, wrapped,
};
use tinyprof_report::{SortKey, escaped};

use super::compare::{Diff, Row, SideValues, Verdict};
use super::options::Estimator;
use super::run::Run;

/// The number of profiles of a side that are named in the head.
const NAMED: usize = 3;

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

/// A line of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The text, without a line break.
    pub text: String,
    /// Its meaning, for colours.
    pub mark: Mark,
}

/// The meaning of a line, which is in its text, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The first line.
    Head,
    /// A line without special meaning.
    Plain,
    /// A callpath that is above the limit.
    AboveLimit,
    /// A callpath that is greater by more than chance.
    Up,
    /// A callpath that is less by more than chance.
    Down,
    /// A note.
    Note,
}

impl Diff {
    /// Returns the text of [`lines`](Self::lines).
    #[must_use]
    pub fn to_text(&self, all: bool, width_columns: u16) -> String {
        self.lines(all, width_columns).into_iter().map(|line| line.text + "\n").collect()
    }

    /// Returns the comparison in `width_columns` columns. Callpaths below the smallest share of the
    /// options are left out, unless `all` is set; a line counts them, and those that are up or
    /// down.
    #[must_use]
    pub fn lines(&self, all: bool, width_columns: u16) -> Vec<Line> {
        let width = usize::from(width_columns);
        let min_share = self.options.min_share;
        let (rows, hidden): (Vec<&Row>, Vec<&Row>) =
            self.rows.iter().partition(|row| all || row.share >= min_share);
        let mut lines = marked(Mark::Plain, &wrapped(&head(self), ", ", width));
        if let Some(differs) = self.differs() {
            lines.extend(marked(Mark::Plain, &wrapped(&differs, "; ", width)));
        }
        lines.extend(marked(Mark::Plain, &wrapped(&self.samples(), ", ", width)));
        lines[0].mark = Mark::Head;
        lines.extend(table(self, &rows, width));
        lines.extend(hidden_line(&hidden, min_share));
        for note in self.notes() {
            let note = wrapped(&format!("note: {note}"), " ", width);
            lines.extend(marked(Mark::Note, &note));
        }
        lines
    }
}

/// Returns a line such as `... 6 callpaths below 1.0% of the time, 1 of them up`; none if nothing
/// is hidden.
fn hidden_line(hidden: &[&Row], min_share: f64) -> Option<Line> {
    let of = |verdict: Verdict| hidden.iter().filter(|row| row.verdict == verdict).count();
    let changed = [Verdict::Up, Verdict::Down]
        .map(|verdict| (of(verdict), verdict.word()))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!(", {count} of them {word}"));
    let count = counted(hidden.len() as u64, "callpath");
    let text = format!("... {count} below {} of the time", percent_cell(min_share));
    (!hidden.is_empty())
        .then(|| Line { text: text + &changed.collect::<String>(), mark: Mark::Plain })
}

fn marked(mark: Mark, text: &str) -> Vec<Line> {
    text.lines().map(|line| Line { text: line.to_owned(), mark }).collect()
}

fn head(diff: &Diff) -> String {
    let of = match &diff.options.metric {
        SortKey::Inclusive => "inclusive time".to_owned(),
        SortKey::Exclusive => "exclusive time".to_owned(),
        other => escaped(&other.to_string()),
    };
    let estimator = match diff.options.estimator {
        Estimator::Mean => "",
        Estimator::Median => ", the median of each run's executions",
        Estimator::Min => ", the least of each run's executions",
    };
    format!(
        "{} against {}: {of} per rank and execution{estimator}",
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

fn table(diff: &Diff, rows: &[&Row], width: usize) -> Vec<Line> {
    if rows.is_empty() {
        return Vec::new();
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
    let heading = format!("{}callpath", lines.next().unwrap_or_default());
    let mut table = vec![Line { text: heading, mark: Mark::Plain }];
    table.extend(rows.iter().zip(lines).map(|(row, line)| {
        let mark = match row.verdict {
            _ if diff.fails(row) => Mark::AboveLimit,
            Verdict::Up => Mark::Up,
            Verdict::Down => Mark::Down,
            _ => Mark::Plain,
        };
        Line { text: line + &diff.names.shown_path(row.callpath, room), mark }
    }));
    table
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
    let amount = |amount: f64| amount_cell(&diff.options.metric, amount);
    let mean = |side: &SideValues| match side.runs {
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
