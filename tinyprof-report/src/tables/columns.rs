//! The columns of numbers beside the tree: their selection, their headings, and the order in which
//! they are left out of a narrow table.

use std::ops::RangeInclusive;

use tinyprof_format::model::CallpathIndex;

use crate::facts::numbers::rounded;
use crate::facts::statistics::spread::Spread;
use crate::report::Report;
use crate::tables::tree::{Folded, Line};
use crate::words::amounts::{share_cell, sum_cell};
use crate::words::names::{columns, cut, shown};
use crate::words::units::{below, count_cell, data_cell, percent_cell, time_cell};

/// A column of right-aligned numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Callpaths,
    Visits,
    Inclusive,
    Exclusive,
    Share,
    Bytes,
    Ranks,
    Min,
    Mean,
    Max,
    MaxRank,
    MaxHost,
    Imbalance,
    Lost,
    Variation,
}

/// The maximum width of a host name in the table, in columns.
const HOST_COLUMNS: usize = 16;

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
    /// The columns that are left out, beginning with those that can be derived from others.
    without: &'static [Column],
    /// The minimum width of the tree, or its full width if that is less.
    least_tree: usize,
}

/// The minimum width of the tree, in columns. A narrower tree would be unreadable, so lines exceed
/// the requested width instead.
const NARROWEST_TREE: usize = 12;

/// The layouts, from the richest to the narrowest.
const LAYOUTS: [Layout; 10] = {
    use Column::{
        Bytes, Callpaths, Exclusive, Imbalance, Lost, Max, MaxHost, MaxRank, Mean, Min, Ranks,
        Variation, Visits,
    };
    const fn short(without: &'static [Column], least_tree: usize) -> Layout {
        Layout { full: false, gap: 1, without, least_tree }
    }
    [
        Layout { full: true, gap: 2, without: &[], least_tree: 40 },
        Layout { full: false, gap: 2, without: &[], least_tree: 32 },
        short(&[], 20),
        short(&[Variation], 20),
        short(&[Variation, Min, MaxHost], 18),
        short(&[Variation, Min, MaxHost, Bytes, Callpaths], 18),
        short(&[Variation, Min, MaxHost, Bytes, Callpaths, Imbalance], 16),
        short(&[Variation, Min, MaxHost, Bytes, Callpaths, Imbalance, Mean], 16),
        short(
            &[Variation, Min, MaxHost, Bytes, Callpaths, Imbalance, Mean, Exclusive, MaxRank],
            NARROWEST_TREE,
        ),
        short(
            &[
                Variation, Min, MaxHost, Bytes, Lost, Mean, Exclusive, MaxRank, Visits, Ranks, Max,
                Callpaths,
            ],
            NARROWEST_TREE,
        ),
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
        let cells: Vec<(Column, Vec<String>)> = columns_of(report, lines)
            .into_iter()
            .map(|column| (column, lines.iter().map(|line| cell(report, line, column)).collect()))
            .collect();
        let fits = |layout: &Layout, least_tree: usize| {
            let numbers: usize =
                widths(&cells, layout).iter().map(|(_, width)| layout.gap + width).sum();
            width.checked_sub(numbers).filter(|left| *left >= least_tree)
        };
        let find = |layouts: &'static [Layout], least_tree: &dyn Fn(&Layout) -> usize| {
            layouts.iter().find_map(|layout| Some((layout, fits(layout, least_tree(layout))?)))
        };
        // Names are cut last, unless that would cost columns that matter.
        let found = find(&LAYOUTS[..DISPENSABLE_LAYOUTS], &|_| *tree.start())
            .or_else(|| find(&LAYOUTS, &|layout| layout.least_tree.min(*tree.start())));
        let (layout, left) = found.unwrap_or((&LAYOUTS[LAYOUTS.len() - 1], NARROWEST_TREE));
        let widths = widths(&cells, layout);
        let row = |text: &dyn Fn(Column, &[String]) -> String| {
            let shown = cells.iter().filter(|(column, _)| !layout.without.contains(column));
            shown.zip(&widths).fold(String::new(), |row, ((column, cells), (_, width))| {
                let text = text(*column, cells);
                let padding = (layout.gap + width).saturating_sub(columns(&text));
                format!("{row}{}{text}", " ".repeat(padding))
            })
        };
        let shows = |column| widths.iter().any(|(shown, _)| *shown == column);
        let tells_ranks_alone = shows(Column::MaxRank) && !shows(Column::MaxHost);
        Self {
            tree_width: left.min(*tree.end()),
            titles: (report.ranks > 1).then(|| titles(report, &widths, layout.gap)),
            headings: row(&|column, _| column.heading(layout.full).to_owned()),
            lines: (0..lines.len()).map(|line| row(&|_, cells| cells[line].clone())).collect(),
            placements: if tells_ranks_alone { placements(report, lines) } else { Vec::new() },
        }
    }
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

fn columns_of(report: &Report, lines: &[Line]) -> Vec<Column> {
    use Column::{
        Bytes, Callpaths, Exclusive, Imbalance, Inclusive, Lost, Max, MaxHost, MaxRank, Mean, Min,
        Ranks, Share, Variation, Visits,
    };
    let rows = || {
        lines.iter().filter_map(|line| match line {
            Line::Callpath(index) => Some(report.statistics.row(index.row())),
            Line::Folded(_) => None,
        })
    };
    let mut columns: Vec<Column> = report.callpaths_of_regions.iter().map(|_| Callpaths).collect();
    columns.extend([Visits, Inclusive, Exclusive, Share]);
    let transfers = |line: &Line| match line {
        Line::Callpath(index) => report.transfers.contains_key(index),
        Line::Folded(_) => false,
    };
    columns.extend(lines.iter().any(transfers).then_some(Bytes));
    if report.ranks > 1 {
        let partial = rows().any(|row| row.ranks < report.ranks);
        columns.extend(partial.then_some(Ranks));
        columns.extend([Min, Mean, Max, MaxRank]);
        columns.extend(report.host_names.are_several().then_some(MaxHost));
        columns.extend([Imbalance, Lost]);
    }
    let varies = rows().any(|row| row.coefficient_of_variation().is_some());
    columns.extend(varies.then_some(Variation));
    columns
}

/// Returns the columns of a layout with their widths.
fn widths(cells: &[(Column, Vec<String>)], layout: &Layout) -> Vec<(Column, usize)> {
    let shown = cells.iter().filter(|(column, _)| !layout.without.contains(column));
    let width = |(column, cells): &(Column, Vec<String>)| {
        let widest = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        (*column, widest.max(column.heading(layout.full).len()))
    };
    shown.map(width).collect()
}

/// Returns the titles above their groups of columns: `--- title ---`. A group too narrow for its
/// title gets none.
fn titles(report: &Report, widths: &[(Column, usize)], gap: usize) -> String {
    let spread = if report.compares_exclusive() { EXCLUSIVE_SPREAD } else { SPREAD };
    let group = |titles: [&str; 2], compares: bool| {
        let in_group =
            |column: Column| column != Column::Variation && column.compares_ranks() == compares;
        let group = widths.iter().filter(|(column, _)| in_group(*column));
        let width = group.map(|(_, width)| gap + width).sum::<usize>().saturating_sub(gap);
        let title = titles.into_iter().find(|title| title.len() <= width);
        let ruled = title.map_or_else(|| " ".repeat(width), |title| format!("{title:-^width$}"));
        format!("{}{ruled}", " ".repeat(gap))
    };
    let rest = widths.iter().filter(|(column, _)| *column == Column::Variation);
    let rest: usize = rest.map(|(_, width)| gap + width).sum();
    group(SUMS, false) + &group(spread, true) + &" ".repeat(rest)
}

impl Column {
    const fn compares_ranks(self) -> bool {
        matches!(
            self,
            Self::Min
                | Self::Mean
                | Self::Max
                | Self::MaxRank
                | Self::MaxHost
                | Self::Imbalance
                | Self::Lost
        )
    }

    const fn heading(self, full: bool) -> &'static str {
        match (self, full) {
            (Self::Callpaths, true) => "callpaths",
            (Self::Callpaths, false) => "paths",
            (Self::Visits, _) => "visits",
            (Self::Inclusive, true) => "inclusive",
            (Self::Inclusive, false) => "incl.",
            (Self::Exclusive, true) => "exclusive",
            (Self::Exclusive, false) => "excl.",
            (Self::Share, _) => "share",
            (Self::Bytes, _) => "bytes",
            (Self::Ranks, _) => "ranks",
            (Self::Min, _) => "min",
            (Self::Mean, _) => "mean",
            (Self::Max, _) => "max",
            (Self::MaxRank, true) => "at rank",
            (Self::MaxRank, false) => "at",
            (Self::Imbalance, true) => "imbalance",
            (Self::Imbalance, false) => "imbal",
            (Self::MaxHost, true) => "on host",
            (Self::MaxHost, false) => "host",
            (Self::Lost, _) => "lost",
            (Self::Variation, true) => "variation",
            (Self::Variation, false) => "var",
        }
    }
}

/// Returns a number as shown in the table. ASCII without spaces, so that `awk` can split the
/// columns.
fn cell(report: &Report, line: &Line, column: Column) -> String {
    match line {
        Line::Callpath(index) => callpath_cell(report, index.row(), column),
        Line::Folded(folded) => folded_cell(report, folded, column),
    }
}

fn callpath_cell(report: &Report, row: usize, column: Column) -> String {
    let parent = report.callpaths.rows()[row].parent;
    let index = CallpathIndex::new(row);
    let gave_work_away = report.threads_at_once(index).is_some();
    let row = &report.statistics.row(row);
    let inclusive = &row.inclusive;
    // A child cannot have taken more time than its parent.
    let bound_ns = parent.map(|at| report.statistics.row(at.row()).inclusive.sum_ns);
    let spread = report.compared(row);
    match column {
        Column::Callpaths => {
            let counts = report.callpaths_of_regions.as_ref();
            counts.map_or_else(String::new, |counts| counts[index.row()].to_string())
        }
        Column::Visits => count_cell(row.visits),
        Column::Bytes => {
            let transfers = report.transfers.get(&index);
            transfers.map_or_else(|| "-".to_owned(), |all| data_cell(all.total().bytes))
        }
        Column::Ranks if row.ranks >= report.ranks => "all".to_owned(),
        Column::Ranks => format!("{}/{}", row.ranks, report.ranks),
        _ if row.ranks == 0 => "-".to_owned(),
        Column::Inclusive => sum_cell(inclusive, bound_ns),
        Column::Exclusive if gave_work_away => "-".to_owned(),
        Column::Exclusive => sum_cell(&row.exclusive, Some(inclusive.shown_ns(bound_ns).1)),
        Column::Share => {
            // Regions overlap in inclusive time.
            let is_region = report.callpaths_of_regions.is_some();
            let time = if is_region { &row.exclusive } else { inclusive };
            let (mark, ns) = time.shown_ns(bound_ns);
            below(mark, share_cell(&report.base, ns, report.base.startup_in(index)))
        }
        Column::Min => time_cell(spread.min_ns.into()),
        Column::Mean => time_cell(rounded(spread.sum_ns, row.ranks.into())),
        Column::Max => time_cell(spread.max_ns.into()),
        Column::MaxRank => spread.max_rank.to_string(),
        Column::MaxHost => {
            let host = report.host_names.short_name(spread.max_host);
            host.map_or_else(|| "-".to_owned(), |name| cut(&shown(name), HOST_COLUMNS))
        }
        Column::Imbalance => row.imbalance(spread).map_or_else(|| "-".to_owned(), percent_cell),
        Column::Lost => time_cell(row.lost_ns(spread)),
        Column::Variation => {
            row.coefficient_of_variation().map_or_else(|| "-".to_owned(), percent_cell)
        }
    }
}

/// Returns a cell of a line of folded callpaths. They may have been visited by different ranks and
/// have no common spread, so only sums are shown.
fn folded_cell(report: &Report, folded: &Folded, column: Column) -> String {
    match column {
        Column::Inclusive => marked(folded.estimate, time_cell(folded.inclusive_ns)),
        Column::Exclusive => marked(folded.estimate, time_cell(folded.exclusive_ns)),
        Column::Share if report.callpaths_of_regions.is_some() => {
            share_cell(&report.base, folded.exclusive_ns, folded.startup_ns)
        }
        Column::Share => share_cell(&report.base, folded.inclusive_ns, folded.startup_ns),
        _ => String::new(),
    }
}

/// Returns a time, with a mark if it is an estimate because some visits were not timed.
fn marked(estimate: bool, time: String) -> String {
    if estimate { format!("~{time}") } else { time }
}
