//! The layout of the numbers beside the tree, and the order in which columns are left out of a
//! narrow table.

use std::ops::RangeInclusive;

use crate::facts::statistics::spread::Spread;
use crate::report::Report;
use crate::tables::column::{COLUMNS, Column, Group, MAX_HOST, MAX_RANK};
use crate::tables::tree::Line;
use crate::words::names::{columns, names_share};

/// The titles of the columns that sum over ranks, longest first; the first that fits is used.
const SUMS: [&str; 2] = [" all ranks together ", " all ranks "];
/// The titles of the columns that compare ranks.
const SPREAD: [&str; 2] = [" inclusive, rank by rank ", " incl. by rank "];
const EXCLUSIVE_SPREAD: [&str; 2] = [" exclusive, rank by rank ", " excl. by rank "];

/// A layout of the numbers.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// True for full headings, false for short ones.
    full: bool,
    /// The number of spaces before a column.
    gap: usize,
    /// The minimum width of the tree, or its full width if that is less.
    least_tree: usize,
}

/// The minimum width of the tree, in columns. A narrower tree would be unreadable, so lines exceed
/// the requested width instead.
const NARROWEST_TREE: usize = 12;

/// The layouts, from the richest to the narrowest. See [`Column::left_out`].
const LAYOUTS: [Layout; 10] = {
    const fn short(least_tree: usize) -> Layout {
        Layout { full: false, gap: 1, least_tree }
    }
    [
        Layout { full: true, gap: 2, least_tree: 40 },
        Layout { full: false, gap: 2, least_tree: 32 },
        short(20),
        short(20),
        short(18),
        short(18),
        short(16),
        short(16),
        short(NARROWEST_TREE),
        short(NARROWEST_TREE),
    ]
};

/// The number of layouts whose missing columns are worth less than whole names.
const DISPENSABLE_LAYOUTS: usize = 6;

/// The numbers of a table as aligned text.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// The width that is left for the tree, in columns.
    pub(crate) tree_width: usize,
    /// The titles above the headings; none for a single rank.
    pub(crate) titles: Option<String>,
    pub(crate) headings: String,
    /// The text of each line, all of the same width.
    pub(crate) lines: Vec<String>,
    /// The hosts of the ranks named in the table, if it has no column for them. The rank for which
    /// the others lose the most time comes first.
    pub(crate) placements: Vec<Placement>,
}

/// A rank and its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) rank: u32,
    pub(crate) host: String,
}

impl Numbers {
    /// Lays out the numbers of `lines`, together with the tree, in `width` columns. The tree needs
    /// `tree.start()` columns, and can use at most `tree.end()`.
    pub(crate) fn new(
        report: &Report,
        lines: &[Line],
        tree: &RangeInclusive<usize>,
        width: usize,
    ) -> Self {
        let cells: Vec<(&'static Column, Vec<String>)> = columns_of(report, lines)
            .into_iter()
            .map(|column| (column, lines.iter().map(|line| column.cell(report, line)).collect()))
            .collect();
        let (layout, left) = chosen(&cells, *tree.start(), width);
        let gap = LAYOUTS[layout].gap;
        let widths = widths(&cells, layout);
        let row = |text: &dyn Fn(&Column, &[String]) -> String| {
            let shown = cells.iter().filter(|(column, _)| !column.left_out.contains(&layout));
            shown.zip(&widths).fold(String::new(), |row, ((column, cells), (_, width))| {
                let text = text(column, cells);
                let padding = (gap + width).saturating_sub(columns(&text));
                format!("{row}{}{text}", " ".repeat(padding))
            })
        };
        let shows = |heading| widths.iter().any(|(shown, _)| shown.heading == heading);
        let tells_ranks_alone = shows(MAX_RANK) && !shows(MAX_HOST);
        Self {
            tree_width: left.min(*tree.end()),
            titles: (report.ranks > 1).then(|| titles(report, &widths, gap)),
            headings: row(&|column, _| heading(column, layout).to_owned()),
            lines: (0..lines.len()).map(|line| row(&|_, cells| cells[line].clone())).collect(),
            placements: if tells_ranks_alone { placements(report, lines) } else { Vec::new() },
        }
    }
}

/// Returns the layout for a table of this width, and the width that it leaves for the tree, whose
/// longest name takes `names` columns.
///
/// Names are cut last, unless that would cost columns that matter. Where the longest has no room,
/// names have their share of the width, and then what they have without dispensable columns.
fn chosen(cells: &[(&'static Column, Vec<String>)], names: usize, width: usize) -> (usize, usize) {
    let fits = |layout: usize, least_tree: usize| {
        let gap = LAYOUTS[layout].gap;
        let numbers: usize = widths(cells, layout).iter().map(|(_, width)| gap + width).sum();
        let left = width.checked_sub(numbers).filter(|left| *left >= least_tree)?;
        Some((layout, left))
    };
    // Names are not cut for long headings.
    let with_room = |first: usize, least_tree: usize| {
        (first..DISPENSABLE_LAYOUTS).find_map(|layout| fits(layout, least_tree))
    };
    let share = names.min(names_share(width));
    let narrow = || {
        (DISPENSABLE_LAYOUTS - 1..LAYOUTS.len())
            .find_map(|layout| fits(layout, LAYOUTS[layout].least_tree.min(names)))
    };
    let found = with_room(0, names).or_else(|| with_room(1, share)).or_else(narrow);
    found.unwrap_or((LAYOUTS.len() - 1, NARROWEST_TREE))
}

/// Returns the hosts of the slowest ranks of `lines`, each rank once. The rank for which the others
/// lose the most time comes first.
fn placements(report: &Report, lines: &[Line]) -> Vec<Placement> {
    let mut slowest: Vec<(u128, Spread)> = Vec::new();
    for line in lines {
        if let Line::Callpath(index) = line {
            let row = report.statistics.row(index.row());
            let spread = report.compared(&row);
            slowest.push((row.lost_ns(spread), *spread));
        }
    }
    slowest.sort_by_key(|(lost_ns, _)| std::cmp::Reverse(*lost_ns));
    let mut placements: Vec<Placement> = Vec::new();
    for (_, spread) in slowest {
        let known = placements.iter().any(|place| place.rank == spread.max_rank);
        if let Some(host) = report.host_names.short_name(spread.max_host).filter(|_| !known) {
            placements.push(Placement { rank: spread.max_rank, host: host.to_owned() });
        }
    }
    placements
}

/// Returns the columns of a table of these lines.
fn columns_of(report: &Report, lines: &[Line]) -> Vec<&'static Column> {
    COLUMNS.iter().filter(|column| (column.is_there)(report, lines)).collect()
}

/// Returns the columns of a layout with their widths.
fn widths(
    cells: &[(&'static Column, Vec<String>)],
    layout: usize,
) -> Vec<(&'static Column, usize)> {
    let shown = cells.iter().filter(|(column, _)| !column.left_out.contains(&layout));
    let width = |(column, cells): &(&'static Column, Vec<String>)| {
        let widest = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        (*column, widest.max(heading(column, layout).len()))
    };
    shown.map(width).collect()
}

fn heading(column: &Column, layout: usize) -> &'static str {
    if LAYOUTS[layout].full { column.heading } else { column.short }
}

/// Returns the titles above their groups of columns: `--- title ---`. A group too narrow for its
/// title gets none.
fn titles(report: &Report, widths: &[(&'static Column, usize)], gap: usize) -> String {
    let spread = if report.compares_exclusive() { EXCLUSIVE_SPREAD } else { SPREAD };
    let width_of = |group: Group| -> usize {
        let columns = widths.iter().filter(|(column, _)| column.group == group);
        columns.map(|(_, width)| gap + width).sum()
    };
    let titled = |titles: [&str; 2], group: Group| {
        let width = width_of(group).saturating_sub(gap);
        let title = titles.into_iter().find(|title| title.len() <= width);
        let ruled = title.map_or_else(|| " ".repeat(width), |title| format!("{title:-^width$}"));
        format!("{}{ruled}", " ".repeat(gap))
    };
    let rest = " ".repeat(width_of(Group::None));
    titled(SUMS, Group::Sums) + &titled(spread, Group::Ranks) + &rest
}
