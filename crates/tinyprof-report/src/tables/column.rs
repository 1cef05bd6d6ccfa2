//! The columns of numbers beside the tree: all that is said of each stands here once.

use std::ops::Range;

use tinyprof_format::model::CallpathIndex;

use crate::facts::numbers::rounded;
use crate::facts::statistics::rank::RankStatistics;
use crate::facts::statistics::spread::Spread;
use crate::facts::totals::waits::WaitedFor;
use crate::report::Report;
use crate::tables::tree::{Folded, Line};
use crate::words::amounts::{share_cell, sum_cell};
use crate::words::names::{cut, shown};
use crate::words::units::{below, count_cell, data_cell, percent_cell, time_cell};

/// The maximum width of a host name in the table, in columns.
const HOST_COLUMNS: usize = 16;

/// The columns below the same title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// Sums over ranks.
    Sums,
    /// Comparisons of ranks.
    Ranks,
    /// No title.
    None,
}

/// A column of right-aligned numbers. Cells are ASCII without spaces, so that `awk` can split them.
pub(crate) struct Column {
    pub(crate) heading: &'static str,
    pub(crate) short: &'static str,
    pub(crate) group: Group,
    /// The layouts that leave the column out: 0 is the widest.
    pub(crate) left_out: Range<usize>,
    /// Returns whether a table of these lines has the column.
    pub(crate) is_there: fn(&Report, &[Line]) -> bool,
    cell: fn(&Cell<'_>) -> String,
    /// Returns the cell of a line of folded callpaths. They may have been visited by different
    /// ranks and have no common spread, so only sums are shown.
    folded: fn(&Report, &Folded) -> String,
}

/// A callpath whose cells are asked for.
struct Cell<'a> {
    report: &'a Report,
    index: CallpathIndex,
    row: RankStatistics,
    /// The inclusive time of the parent: a child cannot have taken more.
    bound_ns: Option<u128>,
}

impl Cell<'_> {
    /// Returns the times by which the table compares ranks.
    fn spread(&self) -> &Spread {
        self.report.compared(&self.row)
    }

    /// Returns a cell that has a meaning only if a rank visited the callpath.
    fn visited(&self, cell: impl FnOnce() -> String) -> String {
        if self.row.ranks == 0 { "-".to_owned() } else { cell() }
    }
}

const ALWAYS: fn(&Report, &[Line]) -> bool = |_, _| true;
const SEVERAL: fn(&Report, &[Line]) -> bool = |report, _| report.ranks > 1;
const EMPTY: fn(&Report, &Folded) -> String = |_, _| String::new();
const NEVER: Range<usize> = 0..0;

const fn column(
    (heading, short): (&'static str, &'static str),
    group: Group,
    left_out: Range<usize>,
    is_there: fn(&Report, &[Line]) -> bool,
    cell: fn(&Cell<'_>) -> String,
    folded: fn(&Report, &Folded) -> String,
) -> Column {
    Column { heading, short, group, left_out, is_there, cell, folded }
}

/// The columns, from the left.
pub(crate) static COLUMNS: [Column; 17] = {
    use Group::{None as Alone, Ranks, Sums};
    [
        column(
            ("callpaths", "paths"),
            Sums,
            5..10,
            |report, _| report.callpaths_of_regions.is_some(),
            |at| {
                let counts = at.report.callpaths_of_regions.as_ref();
                counts.map_or_else(String::new, |counts| counts[at.index.row()].to_string())
            },
            EMPTY,
        ),
        column(("visits", "visits"), Sums, 9..10, ALWAYS, |at| count_cell(at.row.visits), EMPTY),
        column(
            ("inclusive", "incl."),
            Sums,
            NEVER,
            ALWAYS,
            |at| at.visited(|| sum_cell(&at.row.inclusive, at.bound_ns)),
            |_, folded| marked(folded.estimate, time_cell(folded.inclusive_ns)),
        ),
        column(
            ("exclusive", "excl."),
            Sums,
            8..10,
            ALWAYS,
            |at| match at.report.threads_at_once(at.index) {
                Some(_) => "-".to_owned(),
                None => at.visited(|| {
                    let bound_ns = at.row.inclusive.shown_ns(at.bound_ns).1;
                    sum_cell(&at.row.exclusive, Some(bound_ns))
                }),
            },
            |_, folded| marked(folded.estimate, time_cell(folded.exclusive_ns)),
        ),
        column(("share", "share"), Sums, NEVER, ALWAYS, share, folded_share),
        column(
            ("threads", "thr."),
            Sums,
            7..10,
            |report, lines| lines.iter().any(|line| has_threads(report, line)),
            |at| {
                let busy = at.report.busy_threads(at.index);
                busy.map_or_else(|| "-".to_owned(), |busy| format!("{busy:.1}"))
            },
            EMPTY,
        ),
        column(
            ("bytes", "bytes"),
            Sums,
            5..10,
            |report, lines| lines.iter().any(|line| has_transfers(report, line)),
            |at| {
                let transfers = at.report.transfers.get(&at.index);
                transfers.map_or_else(|| "-".to_owned(), |all| data_cell(all.total().bytes))
            },
            EMPTY,
        ),
        column(
            ("ranks", "ranks"),
            Sums,
            9..10,
            |report, lines| report.ranks > 1 && rows(report, lines).any(|r| r.ranks < report.ranks),
            |at| match at.row.ranks >= at.report.ranks {
                true => "all".to_owned(),
                false => format!("{}/{}", at.row.ranks, at.report.ranks),
            },
            EMPTY,
        ),
        column(
            ("min", "min"),
            Ranks,
            4..10,
            SEVERAL,
            |at| at.visited(|| time_cell(at.spread().min_ns.into())),
            EMPTY,
        ),
        column(
            ("mean", "mean"),
            Ranks,
            7..10,
            SEVERAL,
            |at| at.visited(|| time_cell(rounded(at.spread().sum_ns, at.row.ranks.into()))),
            EMPTY,
        ),
        column(
            ("max", "max"),
            Ranks,
            9..10,
            SEVERAL,
            |at| at.visited(|| time_cell(at.spread().max_ns.into())),
            EMPTY,
        ),
        column(
            (MAX_RANK, "at"),
            Ranks,
            8..10,
            SEVERAL,
            |at| at.visited(|| at.spread().max_rank.to_string()),
            EMPTY,
        ),
        column(
            ("waits for", "for"),
            Ranks,
            7..10,
            |report, lines| lines.iter().any(|line| waited_for(report, line).is_some()),
            |at| {
                at.report.waited_for.get(&at.index).map_or_else(|| "-".to_owned(), WaitedFor::text)
            },
            EMPTY,
        ),
        column(
            (MAX_HOST, "host"),
            Ranks,
            4..10,
            |report, _| report.ranks > 1 && report.host_names.are_several(),
            |at| at.visited(|| host(at).unwrap_or_else(|| "-".to_owned())),
            EMPTY,
        ),
        column(
            ("imbalance", "imbal"),
            Ranks,
            6..9,
            SEVERAL,
            |at| percent_or_dash(at.row.imbalance(at.spread())),
            EMPTY,
        ),
        column(
            ("lost", "lost"),
            Ranks,
            9..10,
            SEVERAL,
            |at| at.visited(|| time_cell(at.row.lost_ns(at.spread()))),
            EMPTY,
        ),
        column(
            ("variation", "var"),
            Alone,
            3..10,
            |report, lines| rows(report, lines).any(|row| row.coefficient_of_variation().is_some()),
            |at| at.visited(|| percent_or_dash(at.row.coefficient_of_variation())),
            EMPTY,
        ),
    ]
};

/// The headings of the columns of the slowest rank and its host.
pub(crate) const MAX_RANK: &str = "at rank";
pub(crate) const MAX_HOST: &str = "on host";

impl Column {
    /// Returns the cell of a line.
    pub(crate) fn cell(&self, report: &Report, line: &Line) -> String {
        match line {
            Line::Folded(folded) => (self.folded)(report, folded),
            Line::Callpath(index) => {
                let parent = report.callpaths.get(*index).parent;
                let bound_ns = parent.map(|at| report.statistics.row(at.row()).inclusive.sum_ns);
                let row = report.statistics.row(index.row());
                (self.cell)(&Cell { report, index: *index, row, bound_ns })
            }
        }
    }
}

/// Returns the rows of the lines that are callpaths.
fn rows<'a>(report: &'a Report, lines: &'a [Line]) -> impl Iterator<Item = RankStatistics> {
    lines.iter().filter_map(|line| match line {
        Line::Callpath(index) => Some(report.statistics.row(index.row())),
        Line::Folded(_) => None,
    })
}

fn has_transfers(report: &Report, line: &Line) -> bool {
    matches!(line, Line::Callpath(index) if report.transfers.contains_key(index))
}

fn waited_for<'a>(report: &'a Report, line: &Line) -> Option<&'a WaitedFor> {
    match line {
        Line::Callpath(index) => report.waited_for.get(index),
        Line::Folded(_) => None,
    }
}

fn has_threads(report: &Report, line: &Line) -> bool {
    matches!(line, Line::Callpath(index) if report.threads_of(*index).is_some())
}

fn share(at: &Cell<'_>) -> String {
    at.visited(|| {
        // Regions overlap in inclusive time.
        let is_region = at.report.callpaths_of_regions.is_some();
        let time = if is_region { &at.row.exclusive } else { &at.row.inclusive };
        let (mark, ns) = time.shown_ns(at.bound_ns);
        let base = &at.report.base;
        let ns = at.report.time_of_one_thread(at.index, ns);
        below(mark, share_cell(base, ns, base.startup_in(at.index)))
    })
}

fn folded_share(report: &Report, folded: &Folded) -> String {
    let ns = match report.callpaths_of_regions {
        Some(_) => folded.exclusive_ns,
        None => folded.inclusive_ns,
    };
    share_cell(&report.base, ns, folded.startup_ns)
}

fn host(at: &Cell<'_>) -> Option<String> {
    let name = at.report.host_names.short_name(at.spread().max_host)?;
    Some(cut(&shown(name), HOST_COLUMNS))
}

fn percent_or_dash(part: Option<f64>) -> String {
    part.map_or_else(|| "-".to_owned(), percent_cell)
}

/// Returns a time, with a mark if it is an estimate because some visits were not timed.
fn marked(estimate: bool, time: String) -> String {
    if estimate { format!("~{time}") } else { time }
}
