//! Selection of the callpaths with a line of their own in a table of limited length: the costliest,
//! and their callers.

use tinyprof_format::model::{CallpathIndex, Children};

use crate::facts::sort_key::SortKey;
use crate::report::Report;

/// The factor that keeps folding from hiding a straggler. A callpath that is small over all ranks
/// is shown if on one rank it takes this many times the fold's share of a rank's mean time.
const STRAGGLER: f64 = 10.0;

/// The number of roots that are shown however small they are. Otherwise a run of many equal threads
/// would be one folded line.
const ROOTS_SHOWN: usize = 3;

/// A selection of callpaths that contains, with every callpath, all those above it.
pub(crate) struct Selection<'a> {
    report: &'a Report,
    children: &'a Children,
    is_shown: Vec<bool>,
    /// The number of hidden children of each callpath; the last element is that of the roots.
    hidden: Vec<usize>,
    /// The number of lines of the table: one for each callpath that is shown, and one for the
    /// hidden children of each.
    lines: usize,
}

impl<'a> Selection<'a> {
    /// Selects callpaths in this order: the largest roots; the subjects of hints; then the
    /// callpaths with the greatest exclusive time, or the greatest value of the report's metric, as
    /// long as there is room in `lines_max`. Callpaths below `below_share` of the time are left
    /// out, unless they are large on a single rank.
    ///
    /// # Cost
    /// Sorts the callpaths that are not small.
    pub(crate) fn new(
        report: &'a Report,
        children: &'a Children,
        below_share: f64,
        lines_max: usize,
    ) -> Self {
        let callpaths = report.callpaths.len();
        let roots = children[callpaths].len();
        let mut hidden = vec![0; callpaths + 1];
        hidden[callpaths] = roots;
        let is_shown = vec![false; callpaths];
        let mut selection =
            Self { report, children, is_shown, hidden, lines: usize::from(roots > 0) };
        let mut first: Vec<CallpathIndex> = children[callpaths].to_vec();
        first.sort_by(|left, right| report.in_order(*left, *right));
        first.truncate(ROOTS_SHOWN);
        first.extend(report.findings.iter().filter_map(|finding| finding.place));
        for index in first {
            selection.show_with_parents(index, usize::MAX);
        }
        let indices = report.callpaths.iter().map(|(index, _)| index);
        let mut large: Vec<CallpathIndex> =
            indices.filter(|index| !is_small(report, *index, below_share)).collect();
        let metric = report.metric.as_ref().unwrap_or(&SortKey::Exclusive);
        large.sort_by(|left, right| report.in_order_of(metric, *left, *right));
        for index in large {
            selection.show_with_parents(index, lines_max);
        }
        selection
    }

    /// Returns true if the callpath in this row has a line of its own.
    pub(crate) fn is_shown(&self, row: usize) -> bool {
        self.is_shown[row]
    }

    /// Shows a callpath and those above it, unless there would be more lines than `lines_max`.
    fn show_with_parents(&mut self, index: CallpathIndex, lines_max: usize) {
        let mut chain = Vec::new();
        let mut above = Some(index);
        while let Some(at) = above.filter(|at| !self.is_shown[at.row()]) {
            chain.push(at);
            above = self.report.callpaths.get(at).parent;
        }
        // At best, the chain replaces the line in which it was folded.
        if self.lines.saturating_add(chain.len()) > lines_max.saturating_add(1) {
            return;
        }
        let before = self.lines;
        for at in chain.iter().rev() {
            self.is_shown[at.row()] = true;
            let (parent, children) = (self.parent_row(*at), self.children[at.row()].len());
            self.hidden[parent] -= 1;
            self.hidden[at.row()] = children;
            self.lines += 1 + usize::from(children > 0);
            self.lines -= usize::from(self.hidden[parent] == 0);
        }
        if self.lines > lines_max {
            self.lines = before;
            for at in chain {
                self.is_shown[at.row()] = false;
                let parent = self.parent_row(at);
                self.hidden[parent] += 1;
            }
        }
    }

    fn parent_row(&self, index: CallpathIndex) -> usize {
        self.report
            .callpaths
            .get(index)
            .parent
            .map_or(self.report.callpaths.len(), CallpathIndex::row)
    }
}

fn is_small(report: &Report, index: CallpathIndex, below_share: f64) -> bool {
    if report.base.ns() == 0 {
        return false;
    }
    let inclusive = report.statistics.row(index.row()).inclusive;
    let of_slowest = u128::from(inclusive.max_ns) * u128::from(report.ranks);
    report.base.share(inclusive.sum_ns) < below_share
        && report.base.share(of_slowest) < below_share * STRAGGLER
}
