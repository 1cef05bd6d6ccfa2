//! The report as text: a head line, the callpath tree with its numbers, the metrics, and the
//! sentences of `closing` below.

use crate::report::Report;
use crate::tables::closing::closing;
use crate::tables::columns::Numbers;
use crate::tables::flat_regions::flat_regions;
use crate::tables::head::head;
use crate::tables::hosts_line::hosts_line;
use crate::tables::metric_block::{metric_block, metric_lines};
use crate::tables::tree::{Line, fitting_lines, lines};
use crate::words::names::{columns, cut, shown};

/// The assumed width of a folded line in the layout of a table, in columns: enough for the number
/// of callpaths and the words after it.
const FOLDED_COLUMNS: usize = 20;

/// The part of the time beyond which folded callpaths are followed by a flat list of regions.
const FOLDED_PART_MAX: f64 = 1.0 / 3.0;

/// The number of regions in the flat list.
const FLAT_REGIONS: usize = 10;

/// The minimum number of lines for the tree, however much follows below it.
const TREE_LINES_MIN: usize = 10;

/// The minimum number of lines for metrics, however large the tree is: the headings, three metrics,
/// and the number of the others.
const METRIC_LINES_MIN: usize = 5;

/// Layout options of a text report.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TextOptions {
    /// The width of the terminal, in columns. Numbers that do not fit are left out; below about 35
    /// columns lines overflow.
    pub width_columns: u16,
    /// The share of the total inclusive time below which callpaths are folded into one line per
    /// parent, unless they take long on a single rank. None folds nothing.
    pub fold_below_share: Option<f64>,
    /// The desired maximum number of lines. If the report would be longer, more callpaths and
    /// metrics are folded, as far as that helps. The callpaths with the greatest exclusive time and
    /// the subjects of hints are kept, with those above them.
    pub lines_max: u16,
}

impl Default for TextOptions {
    /// Returns 100 columns and folding below 1 %, or more where the report would not fit one screen
    /// of 40 lines.
    fn default() -> Self {
        Self { width_columns: 100, fold_below_share: Some(0.01), lines_max: 40 }
    }
}

impl TextOptions {
    /// Returns the options with this width.
    #[must_use]
    pub const fn with_width(self, columns: u16) -> Self {
        Self { width_columns: columns, ..self }
    }

    /// Returns the options without folding.
    #[must_use]
    pub const fn unfolded(self) -> Self {
        Self { fold_below_share: None, ..self }
    }
}

impl Report {
    /// Returns the report as text: a head line, the callpath tree sorted by inclusive time, the
    /// metrics, the efficiency, the hints, a note for each loss, and the profiler's overhead.
    ///
    /// Visits, inclusive and exclusive time and the share are those of all ranks together. Minimum,
    /// mean, maximum and imbalance (maximum / mean - 1) compare the inclusive times of the ranks
    /// that visited the callpath; the lost time is the sum over these ranks of maximum - mean. The
    /// variation is that of executions on the same rank. Columns that do not fit are left out; if
    /// that is the host of the slowest rank, it is shown in a line below. The formulas are in
    /// `docs/report.md`. A time that is an estimate, because a budget let only some visits be
    /// timed, is marked with `~`. Columns are aligned, control characters in names are escaped, and
    /// every line ends in a newline.
    #[must_use]
    pub fn to_text(&self, options: &TextOptions) -> String {
        let width = usize::from(options.width_columns);
        let mut text = head(self, width);
        let closing = closing(self, width);
        if self.callpaths.is_empty() {
            text.push_str("no region was visited\n");
        } else {
            // The titles, the headings, the hosts, and the path of the profile.
            let others =
                [&text, &closing].map(|part| part.lines().count()).iter().sum::<usize>() + 4;
            let room = usize::from(options.lines_max).saturating_sub(others);
            let metrics_min = metric_lines(self).min(METRIC_LINES_MIN);
            let (lines, flat) = match options.fold_below_share {
                Some(below_share) => {
                    folded_lines(self, below_share, room.saturating_sub(metrics_min), width)
                }
                None => (lines(self), String::new()),
            };
            write_table(self, &lines, width, &mut text);
            text.push_str(&flat);
            let left = match options.fold_below_share {
                Some(_) => {
                    let above = lines.len() + flat.lines().count();
                    room.saturating_sub(above).max(metrics_min)
                }
                None => usize::MAX,
            };
            text.push_str(&metric_block(self, width, left));
        }
        text + &closing
    }
}

/// Returns the lines of the folded tree and the list of regions that follows it, if any, in
/// `room` lines together.
fn folded_lines(
    report: &Report,
    below_share: f64,
    room: usize,
    width: usize,
) -> (Vec<Line>, String) {
    let fitting = |room: usize| fitting_lines(report, below_share, room.max(TREE_LINES_MIN));
    let lines = fitting(room);
    let folded = lines.iter().map(|line| match line {
        Line::Folded(folded) => folded.exclusive_ns,
        Line::Callpath(_) => 0,
    });
    let folded_ns = folded.fold(0_u128, u128::saturating_add);
    let is_region = report.callpaths_of_regions.is_some();
    if is_region || report.base.share(folded_ns) <= FOLDED_PART_MAX {
        return (lines, String::new());
    }
    match flat_regions(report, FLAT_REGIONS, width) {
        Some(flat) => (fitting(room.saturating_sub(flat.lines().count())), flat),
        None => (lines, String::new()),
    }
}

fn write_table(report: &Report, lines: &[Line], line_width: usize, text: &mut String) {
    let widest = |room: usize| {
        let labels =
            lines.iter().map(|line| 2 * depth(report, line) + columns(&label(report, line, room)));
        labels.max().unwrap_or(0).max(report.row_word().len())
    };
    let tree = widest(FOLDED_COLUMNS)..=widest(usize::MAX);
    let numbers = Numbers::new(report, lines, &tree, line_width);
    let width = numbers.tree_width;
    let mut write = |tree: &str, numbers: &str| {
        let padding = " ".repeat(width.saturating_sub(columns(tree)));
        text.push_str(format!("{tree}{padding}{numbers}").trim_end());
        text.push('\n');
    };
    if let Some(titles) = &numbers.titles {
        write("", titles);
    }
    write(&cut(report.row_word(), width), &numbers.headings);
    for (line, numbers) in lines.iter().zip(&numbers.lines) {
        let indent = indent(depth(report, line), width);
        let room = width.saturating_sub(indent.len());
        write(&cut(&format!("{indent}{}", cut(&label(report, line, room), room)), width), numbers);
    }
    text.push_str(&hosts_line(&numbers.placements, line_width));
}

fn depth(report: &Report, line: &Line) -> usize {
    match line {
        Line::Callpath(index) => report.callpaths.get(*index).depth as usize,
        Line::Folded(folded) => folded.depth as usize,
    }
}

/// Returns the text of a line of the tree, in a shorter form if there is one and the long one
/// does not fit into `room`.
fn label(report: &Report, line: &Line, room: usize) -> String {
    match line {
        Line::Callpath(index) => shown(&report.callpaths.get(*index).region.name),
        Line::Folded(folded) => {
            let shortest = format!("... {}", folded.callpaths);
            let forms = [
                format!("{shortest} smaller {}s", report.row_word()),
                format!("{shortest} smaller"),
            ];
            forms.into_iter().find(|form| form.len() <= room).unwrap_or(shortest)
        }
    }
}

/// Returns the indent of a name at this depth. If spaces would fill more than half of the tree's
/// columns, the indent shows the depth as a number.
#[must_use]
pub fn indent(depth: usize, width: usize) -> String {
    let deepest = width / 2;
    if 2 * depth <= deepest {
        return " ".repeat(2 * depth);
    }
    format!("{:>deepest$}", format!("{depth}> "))
}
