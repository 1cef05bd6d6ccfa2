//! Exclusive sums, stored in place of inclusive ones because they are often smaller numbers.
//!
//! The stored sum of a summary is reduced, modulo 2^64, by the sums of the children's summaries
//! that begin with the same execution on the same rank. It is therefore restored exactly, whatever
//! the numbers are. Writers do this where it is shorter (see `docs/format.md` for the savings), and
//! where executions ascend on every rank.

use super::rank_values::RankValues;
use crate::model::{CallpathIndex, CallpathTable, CallpathValues, Children, ExecutionSummary};

/// The sums of the children of all callpaths of a rank.
#[derive(Debug)]
pub(super) struct Called {
    sums: Vec<u64>,
    /// The start of the sums of each row; none if it has no children, or if executions do not
    /// ascend.
    starts: Vec<Option<u32>>,
}

impl Called {
    /// Returns the sums that may be omitted from those of `rank`.
    pub(super) fn of(rank: &impl RankValues, dictionary: &CallpathTable) -> Self {
        let mut has_children = vec![false; dictionary.len()];
        for parent in dictionary.rows().iter().filter_map(|callpath| callpath.parent) {
            has_children[parent.row()] = true;
        }
        let mut called = Self { sums: Vec::new(), starts: vec![None; dictionary.len()] };
        let mut positions: Vec<Option<u32>> = vec![None; dictionary.len()];
        for (row, position) in rank.rows() {
            let row = row as usize;
            let own = rank.summaries(position);
            let ordered = ascend(&own);
            positions[row] = u32::try_from(position).ok();
            if ordered && has_children[row] {
                called.starts[row] = u32::try_from(called.sums.len()).ok();
                called.sums.resize(called.sums.len() + own.len(), 0);
            }
            let Some(parent) = dictionary.rows()[row].parent.map(CallpathIndex::row) else {
                continue;
            };
            let Some(above) = positions[parent] else { continue };
            match called.starts[parent] {
                Some(start) if ordered => {
                    let above = rank.summaries(above as usize);
                    add(&mut called.sums[start as usize..][..above.len()], &above, &own);
                }
                _ => called.starts[parent] = None,
            }
        }
        called
    }

    /// Returns the sums of the children of a row's callpath, for each of its `summaries`.
    pub(super) fn row(&self, row: usize, summaries: usize) -> Option<&[u64]> {
        self.starts[row].map(|start| &self.sums[start as usize..][..summaries])
    }
}

/// Returns true if summaries ascend strictly by execution, as exclusive sums require.
pub(super) fn ascend(executions: &[ExecutionSummary]) -> bool {
    executions.is_sorted_by(|a, b| a.execution < b.execution)
}

/// Adds the sums of a child to those of the parent's summaries that begin with the same execution.
fn add(sums: &mut [u64], above: &[ExecutionSummary], child: &[ExecutionSummary]) {
    for (position, summary) in child.iter().enumerate() {
        if let Ok(at) = position_of(above, summary.execution, position, |above| above.execution) {
            sums[at] = sums[at].wrapping_add(summary.sum_ns);
        }
    }
}

/// Returns the position of an execution in an ascending list, most likely `guess`; if it is not
/// there, the position where it belongs.
pub(super) fn position_of<T>(
    list: &[T],
    execution: u32,
    guess: usize,
    of: impl Fn(&T) -> u32,
) -> Result<usize, usize> {
    if list.get(guess).is_some_and(|found| of(found) == execution) {
        return Ok(guess);
    }
    list.binary_search_by_key(&execution, of)
}

/// Makes exclusive sums inclusive again, rank by rank. The children's sums must be inclusive.
pub(super) fn make_inclusive(
    own: &mut [CallpathValues],
    children: &[&[CallpathValues]],
    single: bool,
) {
    for (rank, own) in own.iter_mut().enumerate() {
        let mut sums = vec![0; own.executions.len()];
        for child in children {
            add(&mut sums, &own.executions, &child[rank].executions);
        }
        for (summary, called) in own.executions.iter_mut().zip(sums) {
            summary.sum_ns = summary.sum_ns.wrapping_add(called);
            if single {
                *summary = ExecutionSummary::of_one_visit(summary.execution, summary.sum_ns);
            }
        }
    }
}

/// The callpaths of a part whose sums are still exclusive while it is read, row by row.
#[derive(Debug, Default)]
pub(super) struct Exclusive {
    /// The row, and true if its summaries hold one visit each.
    rows: Vec<(usize, bool)>,
}

impl Exclusive {
    pub(super) fn push(&mut self, row: usize, single: bool) {
        self.rows.push((row, single));
    }

    /// Makes all sums inclusive. Rows of children are greater than those of their parents.
    pub(super) fn resolve(mut self, children: &Children, values: &mut [&mut [CallpathValues]]) {
        self.rows.sort_unstable();
        for (row, single) in self.rows.into_iter().rev() {
            let (above, below) = values.split_at_mut(row + 1);
            let children = &children[row];
            let children: Vec<&[CallpathValues]> =
                children.iter().map(|child| &*below[child.row() - row - 1]).collect();
            make_inclusive(above[row], &children, single);
        }
    }
}
