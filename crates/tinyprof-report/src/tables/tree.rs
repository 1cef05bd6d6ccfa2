//! The lines of a report: the callpath tree sorted by time, with small callpaths folded.

use tinyprof_format::model::{CallpathIndex, Children};

use crate::facts::statistics::rank::RankStatistics;
use crate::report::Report;
use crate::tables::selection::Selection;

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Line {
    /// A callpath.
    Callpath(CallpathIndex),
    /// Several children of one parent, with all callpaths below them.
    Folded(Folded),
}

/// Callpaths that share a line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Folded {
    pub(crate) depth: u32,
    /// The number of these children and of all callpaths below them.
    pub(crate) callpaths: usize,
    pub(crate) inclusive_ns: u128,
    pub(crate) exclusive_ns: u128,
    /// The part of the inclusive time that is start-up.
    pub(crate) startup_ns: u128,
    /// True if any of the times is an estimate.
    pub(crate) estimate: bool,
}

/// Returns the lines of the tree with the costliest callpaths, in at most `lines_max` lines.
/// Callpaths below `below_share` of the time are folded even if there is room. See [`Selection`].
pub(crate) fn fitting_lines(report: &Report, below_share: f64, lines_max: usize) -> Vec<Line> {
    let children = report.callpaths.children();
    let selection = Selection::new(report, &children, below_share, lines_max);
    Tree::new(report, &children, Some(&selection)).lines()
}

/// Returns the lines of the whole tree: parents first, siblings sorted by the report's metric, then
/// in the order of the table.
pub(crate) fn lines(report: &Report) -> Vec<Line> {
    Tree::new(report, &report.callpaths.children(), None).lines()
}

/// Returns the callpaths in the order of the whole tree: see `lines`.
#[must_use]
pub fn in_tree_order(report: &Report) -> Vec<CallpathIndex> {
    let callpath = |line| match line {
        Line::Callpath(index) => Some(index),
        Line::Folded(_) => None,
    };
    lines(report).into_iter().filter_map(callpath).collect()
}

struct Tree<'a> {
    report: &'a Report,
    children: &'a Children,
    subtrees: Vec<Subtree>,
    /// The callpaths with a line of their own; none if every callpath has one.
    selection: Option<&'a Selection<'a>>,
}

/// A callpath with all callpaths below it.
#[derive(Clone, Copy, Debug)]
struct Subtree {
    exclusive_ns: u128,
    callpaths: u32,
    /// True if any of the times is an estimate.
    estimate: bool,
}

impl<'a> Tree<'a> {
    fn new(
        report: &'a Report,
        children: &'a Children,
        selection: Option<&'a Selection<'a>>,
    ) -> Self {
        let alone = |row: RankStatistics| Subtree {
            exclusive_ns: row.exclusive.sum_ns,
            callpaths: 1,
            estimate: row.inclusive.is_estimate(),
        };
        let mut subtrees: Vec<Subtree> = report.statistics.rows().map(alone).collect();
        for (row, callpath) in report.callpaths.rows().iter().enumerate().rev() {
            if let Some(parent) = callpath.parent {
                let below = subtrees[row];
                let above = &mut subtrees[parent.row()];
                above.callpaths += below.callpaths;
                above.exclusive_ns = above.exclusive_ns.saturating_add(below.exclusive_ns);
                above.estimate |= below.estimate;
            }
        }
        Self { report, children, subtrees, selection }
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        // An explicit stack: a hostile profile may be deeper than the thread's stack.
        let mut waiting = self.below(None);
        waiting.reverse();
        while let Some(line) = waiting.pop() {
            lines.push(line);
            if let Line::Callpath(index) = line {
                waiting.extend(self.below(Some(index)).into_iter().rev());
            }
        }
        lines
    }

    /// Returns the lines directly below a callpath, or those of the roots.
    fn below(&self, parent: Option<CallpathIndex>) -> Vec<Line> {
        let mut children =
            self.children[parent.map_or(self.report.callpaths.len(), CallpathIndex::row)].to_vec();
        children.sort_by(|left, right| self.report.in_order(*left, *right));
        let is_shown =
            |child: &CallpathIndex| self.selection.is_none_or(|these| these.is_shown(child.row()));
        let (shown, small): (Vec<_>, Vec<_>) = children.into_iter().partition(is_shown);
        let sum = small.iter().fold(Folded::default(), |sum, child| sum.with(&self.folded(*child)));
        let mut lines: Vec<Line> = shown.into_iter().map(Line::Callpath).collect();
        match small.as_slice() {
            [] => {}
            // A line of its own is as short as the folded one and shows more.
            [only] if sum.callpaths == 1 => lines.push(Line::Callpath(*only)),
            _ => lines.push(Line::Folded(sum)),
        }
        lines
    }

    fn row(&self, callpath: CallpathIndex) -> RankStatistics {
        self.report.statistics.row(callpath.row())
    }

    /// Returns a callpath with all below it, as part of a line.
    fn folded(&self, callpath: CallpathIndex) -> Folded {
        let subtree = &self.subtrees[callpath.row()];
        Folded {
            depth: self.report.callpaths.get(callpath).depth,
            callpaths: subtree.callpaths as usize,
            inclusive_ns: self.row(callpath).inclusive.sum_ns,
            exclusive_ns: subtree.exclusive_ns,
            startup_ns: self.report.base.startup_in(callpath),
            estimate: subtree.estimate,
        }
    }
}

impl Folded {
    /// Returns the sum of two siblings.
    const fn with(&self, sibling: &Self) -> Self {
        Self {
            depth: sibling.depth,
            callpaths: self.callpaths + sibling.callpaths,
            inclusive_ns: self.inclusive_ns.saturating_add(sibling.inclusive_ns),
            exclusive_ns: self.exclusive_ns.saturating_add(sibling.exclusive_ns),
            startup_ns: self.startup_ns.saturating_add(sibling.startup_ns),
            estimate: self.estimate || sibling.estimate,
        }
    }
}
