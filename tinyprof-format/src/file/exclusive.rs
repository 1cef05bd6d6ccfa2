//! Exclusive sums in place of inclusive ones: what a callpath took itself is often a smaller number.
//!
//! The sum of a summary is then stored without the sums of its children's summaries that begin with the same execution
//! on the same rank, modulo 2^64: it comes back exactly, whatever the numbers are. Writers do so where it
//! is shorter (see `docs/format.md` for what it saves), and where executions ascend on every rank.

use super::encoded_rank::EncodedRank;
use crate::model::{CallpathIndex, CallpathTable, CallpathValues, ExecutionSummary};

/// What the children of callpaths add up to on one rank: for each of the rank's callpaths a number for each summary; none
/// where there are no children, or executions do not ascend.
pub(super) type Called = Vec<Option<Vec<u64>>>;

/// The sums of the children of all callpaths of a rank, in the order of its callpaths.
pub(super) fn called(rank: &EncodedRank, dictionary: &CallpathTable) -> Called {
    let children = dictionary.children();
    let mut positions = vec![None; dictionary.len()];
    let mut called: Called = Vec::with_capacity(rank.callpaths.len());
    for (position, callpath) in rank.callpaths.iter().enumerate() {
        let row = callpath.row as usize;
        let (own, ordered) = (&callpath.executions, ascend(&callpath.executions));
        positions[row] = Some(position);
        called.push((ordered && !children[row].is_empty()).then(|| vec![0; own.len()]));
        let parent = dictionary.rows()[row].parent;
        let Some(parent) = parent.and_then(|parent| positions[parent.row()]) else { continue };
        match &mut called[parent] {
            Some(sums) if ordered => add(sums, &rank.callpaths[parent].executions, own),
            sums => *sums = None,
        }
    }
    called
}

/// Whether summaries ascend strictly by their executions, as exclusive sums need it.
pub(super) fn ascend(executions: &[ExecutionSummary]) -> bool {
    executions.is_sorted_by(|a, b| a.execution < b.execution)
}

/// Adds the sums of a child to those of the executions above that begin with the same.
fn add(sums: &mut [u64], above: &[ExecutionSummary], child: &[ExecutionSummary]) {
    for (position, summary) in child.iter().enumerate() {
        if let Some(at) = position_of(above, summary.execution, position) {
            sums[at] = sums[at].wrapping_add(summary.sum_ns);
        }
    }
}

/// Where the summary is that begins with an execution; most likely at `guess`.
fn position_of(executions: &[ExecutionSummary], execution: u32, guess: usize) -> Option<usize> {
    if executions.get(guess).is_some_and(|summary| summary.execution == execution) {
        return Some(guess);
    }
    executions.binary_search_by_key(&execution, |summary| summary.execution).ok()
}

/// Makes exclusive sums inclusive again, rank by rank; the children's must be inclusive.
pub(super) fn make_inclusive(own: &mut [CallpathValues], children: &[&[CallpathValues]], single: bool) {
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

/// Which callpaths of a part have exclusive sums as long as it is read, row by row.
#[derive(Debug, Default)]
pub(super) struct Exclusive {
    /// The row, and whether its summaries hold one visit each.
    rows: Vec<(usize, bool)>,
}

impl Exclusive {
    pub(super) fn push(&mut self, row: usize, single: bool) {
        self.rows.push((row, single));
    }

    /// Makes all sums inclusive. Rows of children are greater than those of their parents.
    pub(super) fn resolve(mut self, children: &[Vec<CallpathIndex>], values: &mut [&mut [CallpathValues]]) {
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
