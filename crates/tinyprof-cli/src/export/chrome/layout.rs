//! The positions of executions on a time line that is reconstructed, not measured.

use tinyprof_format::model::{CallpathTable, CallpathValues};

/// The track for slices that do not fit.
pub(super) const ASIDE: u32 = 1;

/// The position of an execution summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    execution: u32,
    executions: u32,
    pub(super) track: u32,
    pub(super) start_ns: u64,
    end_ns: u64,
    /// The start of the next slice below it.
    free_ns: u64,
}

/// Returns a slot for each summary, by row of the table.
///
/// Roots follow one another. Below them, summaries fill the slot of the same execution above them
/// from its start. A summary may not fit there, because it ran on several threads or below a visit
/// that was still open. It then goes on a separate track, no earlier than the slot above it. So on
/// each track, any two slices are either nested or disjoint.
pub(super) fn lay_out(table: &CallpathTable, values: &[CallpathValues]) -> Vec<Vec<Slot>> {
    let mut slots: Vec<Vec<Slot>> = Vec::with_capacity(table.len());
    let (mut next_ns, mut aside_ns) = (0_u64, 0_u64);
    for (callpath, values) in table.rows().iter().zip(values) {
        let mut own = Vec::with_capacity(values.executions.len());
        for e in &values.executions {
            let (track, start_ns) = match callpath.parent {
                None => (0, next_ns),
                Some(parent) => match slot_at(&slots[parent.row()], e.execution) {
                    Some(at) => below(&mut slots[parent.row()][at], e.sum_ns, aside_ns),
                    None => (ASIDE, aside_ns),
                },
            };
            let end_ns = start_ns.saturating_add(e.sum_ns);
            if callpath.parent.is_none() {
                next_ns = end_ns;
            } else if track == ASIDE {
                aside_ns = aside_ns.max(end_ns);
            }
            let (execution, executions) = (e.execution, e.executions);
            own.push(Slot { execution, executions, track, start_ns, end_ns, free_ns: start_ns });
        }
        slots.push(own);
    }
    slots
}

/// Returns the slot of an execution among those of a callpath.
pub(super) fn slot_of(slots: &[Slot], execution: u32) -> Option<&Slot> {
    slot_at(slots, execution).map(|at| &slots[at])
}

fn slot_at(slots: &[Slot], execution: u32) -> Option<usize> {
    let at = slots.partition_point(|slot| slot.execution <= execution).checked_sub(1)?;
    (execution - slots[at].execution < slots[at].executions).then_some(at)
}

/// Returns track and start of `ns` nanoseconds below `above`.
fn below(above: &mut Slot, ns: u64, aside_ns: u64) -> (u32, u64) {
    let start_ns = above.free_ns;
    match start_ns.checked_add(ns) {
        Some(end_ns) if end_ns <= above.end_ns => {
            above.free_ns = end_ns;
            (above.track, start_ns)
        }
        _ => (ASIDE, aside_ns.max(above.start_ns)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tinyprof_format::model::{CallpathId, ExecutionSummary, Region, SiteId};

    /// Checks track, start and end of each summary of a root, its child and its grandchild.
    fn check(times: [&[(u32, u64)]; 3], expected: [&[(u32, u64, u64)]; 3]) {
        let region = Region::named(SiteId::from_bits(1), "");
        let id = CallpathId::from_bits;
        let rows = [(id(1), None), (id(2), Some(id(1))), (id(3), Some(id(2)))];
        let table =
            CallpathTable::from_parents(rows.map(|(id, parent)| (id, parent, region.clone())));
        let values = times.map(|times| CallpathValues {
            executions: times
                .iter()
                .map(|&(e, ns)| ExecutionSummary::of_one_visit(e, ns))
                .collect(),
            ..CallpathValues::default()
        });
        let slots = lay_out(&table, &values);
        let found: Vec<Vec<_>> = slots
            .iter()
            .map(|row| row.iter().map(|s| (s.track, s.start_ns, s.end_ns)).collect())
            .collect();
        assert_eq!(found, expected, "{times:?}");
    }

    #[test]
    fn executions_stand_end_to_end_inside_those_above() {
        check(
            [&[(0, 10), (1, 20)], &[(0, 4), (1, 20)], &[(0, 4), (1, 3)]],
            [&[(0, 0, 10), (0, 10, 30)], &[(0, 0, 4), (0, 10, 30)], &[(0, 0, 4), (0, 10, 13)]],
        );
    }

    #[test]
    fn what_does_not_fit_stands_aside_and_keeps_what_is_below_it() {
        check(
            [&[(0, 10), (1, 20)], &[(0, 12), (1, 21), (5, 1)], &[(0, 12), (1, 3), (5, 9)]],
            [
                &[(0, 0, 10), (0, 10, 30)],
                &[(1, 0, 12), (1, 12, 33), (1, 33, 34)],
                &[(1, 0, 12), (1, 12, 15), (1, 34, 43)],
            ],
        );
        check([&[], &[(0, 5)], &[(0, u64::MAX)]], [&[], &[(1, 0, 5)], &[(1, 5, u64::MAX)]]);
    }
}
