//! The lines of a report: the callpath tree in the order of time, with small callpaths folded.

use crate::model::{CallpathIndex, Children};

use super::units::ratio;
use super::{RankStatistics, Report};

/// The fold must not hide a straggler. A callpath that is small over all ranks is shown if on one rank it takes
/// this many times the fold's share of a rank's mean time.
const STRAGGLER: f64 = 10.0;

/// So many roots are shown however small they are, or a run of many equal threads would be one folded line.
const ROOTS_SHOWN: usize = 3;

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line {
    /// A callpath.
    Callpath(CallpathIndex),
    /// Several children of one parent, with all below them.
    Folded(Folded),
}

/// Callpaths that share a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Folded {
    pub(super) depth: u32,
    /// The children and all callpaths below them.
    pub(super) callpaths: usize,
    pub(super) inclusive_ns: u128,
    pub(super) exclusive_ns: u128,
    /// Whether any of the times is an estimate.
    pub(super) estimate: bool,
}

/// Which callpaths share a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fold {
    /// Those below this share of the total inclusive time, unless they take long on a single rank.
    pub(super) below_share: f64,
    /// Those deeper than this, a root having depth 0.
    pub(super) below_depth: u32,
}

/// What is folded where there are too many lines, from little to much.
const HARDER: [Fold; 8] = {
    const fn fold(below_share: f64, below_depth: u32) -> Fold {
        Fold { below_share, below_depth }
    }
    let all = u32::MAX;
    [
        fold(0.02, all),
        fold(0.05, all),
        fold(0.1, all),
        fold(0.1, 12),
        fold(0.2, 8),
        fold(0.2, 4),
        fold(0.5, 2),
        fold(0.5, 1),
    ]
};

/// The lines of the tree in at most `lines_max` lines, if folding more than `below_share` says makes that possible.
pub(super) fn fitting_lines(report: &Report, below_share: f64, lines_max: usize) -> Vec<Line> {
    let mut tree = Tree::new(report, Some(Fold { below_share, below_depth: u32::MAX }));
    let mut found = tree.lines();
    for fold in HARDER {
        if found.len() <= lines_max {
            break;
        }
        let below_share = fold.below_share.max(below_share);
        tree.fold = Some(Fold { below_share, ..fold });
        found = tree.lines();
    }
    found
}

/// The lines of the whole tree, parents first, siblings by the report's metric, then in the order of the table.
pub(super) fn lines(report: &Report, fold: Option<Fold>) -> Vec<Line> {
    Tree::new(report, fold).lines()
}

struct Tree<'a> {
    report: &'a Report,
    children: Children,
    subtrees: Vec<Subtree>,
    fold: Option<Fold>,
}

/// A callpath with all below it.
#[derive(Clone, Copy, Debug)]
struct Subtree {
    exclusive_ns: u128,
    callpaths: u32,
    /// Whether any of the times is an estimate.
    estimate: bool,
}

impl<'a> Tree<'a> {
    fn new(report: &'a Report, fold: Option<Fold>) -> Self {
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
        let children = report.callpaths.children();
        Self { report, children, subtrees, fold }
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        // A stack of our own: a hostile profile may be deeper than the thread's.
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

    /// The lines directly below a callpath, or those of the roots.
    fn below(&self, parent: Option<CallpathIndex>) -> Vec<Line> {
        let mut children =
            self.children[parent.map_or(self.report.callpaths.len(), CallpathIndex::row)].to_vec();
        children.sort_by(|left, right| self.report.in_order(*left, *right));
        let always = if parent.is_none() { ROOTS_SHOWN } else { 0 };
        let (mut shown, mut small) = (Vec::new(), Vec::new());
        for (position, child) in children.into_iter().enumerate() {
            let line = if position >= always && self.is_small(child) { &mut small } else { &mut shown };
            line.push(child);
        }
        let sum = small.iter().fold(Folded::default(), |sum, child| sum.with(&self.folded(*child)));
        let mut lines: Vec<Line> = shown.into_iter().map(Line::Callpath).collect();
        match small.as_slice() {
            [] => {}
            // Its own line is as short as the folded one and says more.
            [only] if sum.callpaths == 1 => lines.push(Line::Callpath(*only)),
            _ => lines.push(Line::Folded(sum)),
        }
        lines
    }

    fn is_small(&self, callpath: CallpathIndex) -> bool {
        let Some(fold) = self.fold else { return false };
        if self.report.callpaths.get(callpath).depth > fold.below_depth {
            return true;
        }
        if self.report.total_ns == 0 {
            return false;
        }
        let least = fold.below_share;
        let inclusive = &self.row(callpath).inclusive;
        ratio(inclusive.sum_ns, self.report.total_ns) < least
            && ratio(u128::from(inclusive.max_ns) * u128::from(self.report.ranks), self.report.total_ns)
                < least * STRAGGLER
    }

    fn row(&self, callpath: CallpathIndex) -> RankStatistics {
        self.report.statistics.row(callpath.row())
    }

    /// A callpath with all below it, as part of a line.
    fn folded(&self, callpath: CallpathIndex) -> Folded {
        let subtree = &self.subtrees[callpath.row()];
        Folded {
            depth: self.report.callpaths.get(callpath).depth,
            callpaths: subtree.callpaths as usize,
            inclusive_ns: self.row(callpath).inclusive.sum_ns,
            exclusive_ns: subtree.exclusive_ns,
            estimate: subtree.estimate,
        }
    }
}

impl Folded {
    /// Both together, for siblings.
    const fn with(&self, sibling: &Self) -> Self {
        Self {
            depth: sibling.depth,
            callpaths: self.callpaths + sibling.callpaths,
            inclusive_ns: self.inclusive_ns.saturating_add(sibling.inclusive_ns),
            exclusive_ns: self.exclusive_ns.saturating_add(sibling.exclusive_ns),
            estimate: self.estimate || sibling.estimate,
        }
    }
}
