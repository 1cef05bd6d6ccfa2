//! Loops that are seen from their calls, as rows of a table.

use tinyprof_messages::graph::Phase;

use super::Structure;
use super::places::is_loop;
use tinyprof_report::cells::whole;
use tinyprof_views::GroupRow;

impl Structure {
    /// Returns the loops that are no regions, with the loops around them in their names. Their time
    /// is that of their calls and of the computations between them, of all ranks together; their
    /// visits are the calls that they begin with.
    #[must_use]
    pub fn loops(&self) -> Vec<GroupRow> {
        let mut rows = Vec::new();
        for phase in &self.phases {
            self.add_loops(phase, "", &mut rows);
        }
        rows
    }

    fn add_loops(&self, phase: &Phase, around: &str, rows: &mut Vec<GroupRow>) {
        let mut name = around.to_owned();
        if is_loop(phase) {
            let own = self.phase_name(phase);
            name = if around.is_empty() { own } else { format!("{around}<{own}") };
            if !self.is_region(phase) {
                rows.push(self.loop_row(phase, &name));
            }
        }
        for inner in &phase.inner {
            self.add_loops(inner, &name, rows);
        }
    }

    fn loop_row(&self, phase: &Phase, name: &str) -> GroupRow {
        let mut row = GroupRow { name: name.to_owned(), ..GroupRow::default() };
        for class in &phase.classes {
            let facts = self.facts(phase, class);
            let size = u128::from(class.ranks.len());
            let ns = whole(facts.in_calls_ns + facts.computing_ns) * size;
            row.ranks.absorb(&class.ranks);
            row.inclusive_ns = row.inclusive_ns.saturating_add(ns);
            let computing_ns = whole(facts.computing_ns) * size;
            row.exclusive_ns = row.exclusive_ns.saturating_add(computing_ns);
            let waiting_ns: f64 = facts.calls.iter().map(|call| call.waiting_ns).sum();
            row.waiting_ns = row.waiting_ns.saturating_add(whole(waiting_ns) * size);
            let visits = facts.calls.first().map_or(0, |call| whole(call.calls) * size);
            row.visits = row.visits.saturating_add(u64::try_from(visits).unwrap_or(u64::MAX));
        }
        row
    }
}
