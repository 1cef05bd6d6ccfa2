//! The iterations of a loop, and the ways through them, as lines of text.

use tinyprof_messages::graph::{Class, Phase};

use super::Structure;
use super::class::ClassFacts;
use super::iterations::{Step, Way};
use tinyprof_report::cells::{counted, number_cell, percent_of, ratio, shown, time, whole};

impl Structure {
    /// Returns a line with the number of iterations that a rank of the class has, and their mean
    /// time, and if there are several ways, a line for each. Where the loop is no region, the line
    /// says how often a rank came to the call with which iterations seem to begin. None if the
    /// phase is no loop.
    pub(super) fn way_lines(
        &self,
        phase: &Phase,
        class: &Class,
        facts: &ClassFacts,
    ) -> Vec<String> {
        let Some(found) = self.iterations(phase, class).filter(|found| found.count > 0) else {
            return Vec::new();
        };
        let (others, other_count, others_ns) = found.others;
        let unknown = found.unknown();
        let of_rank = ratio(found.count.into(), u128::from(class.ranks.len().max(1)));
        let a_rank = if class.ranks.len() > 1 { " a rank" } else { "" };
        let mean = on_average(of_rank);
        let share = |count: u64| percent_of(ratio(count.into(), found.count.into()));
        let count = match found.head.filter(|_| !self.is_region(phase)) {
            // Where iterations begin is a guess; how often ranks came there is not.
            Some(Step::Call(head)) => {
                let name = shown(&self.nodes.get(head).name);
                format!("{} times{a_rank}{mean} through {name}", mean_cell(of_rank))
            }
            Some(Step::Loop(inner)) => {
                let name = shown(&self.phase_name(&phase.inner[inner]));
                format!("{} times{a_rank}{mean} through {name}", mean_cell(of_rank))
            }
            None => format!("iterations: {}{a_rank}{mean}", mean_cell(of_rank)),
        };
        // Calls and computing of the class together.
        let all_ns = facts.in_calls_ns + facts.computing_ns;
        let mut lines = vec![format!("{count}, of {} each", time(whole(all_ns / of_rank)))];
        if found.ways.len() == 1 && others == 0 && unknown == 0 {
            return lines;
        }
        lines.extend(found.ways.iter().map(|way| {
            format!(
                "{}, of {} each: {}",
                share(way.count),
                time(whole(way.ns)),
                self.steps(phase, way)
            )
        }));
        if others > 0 {
            let ways = counted(others as u64, "rarer way");
            lines.push(format!(
                "{}, of {} each: {ways}",
                share(other_count),
                time(whole(others_ns))
            ));
        }
        if unknown > 0 && unknown < found.count {
            lines.push(format!("{}: ways that are not known", share(unknown)));
        }
        lines
    }

    /// Returns the steps of a way: `MPI_Isend (wave.c:30), MPI_Wait (wave.c:36) x2`.
    fn steps(&self, phase: &Phase, way: &Way) -> String {
        let step = |&(step, calls): &(Step, f64)| {
            let name = match step {
                Step::Loop(inner) => self.phase_name(&phase.inner[inner]),
                Step::Call(node) => {
                    let info = self.nodes.get(node);
                    let site = info.name.rfind(" (").and_then(|at| info.name.get(at..));
                    format!("{}{}", info.function, site.unwrap_or_default())
                }
            };
            let times = if calls > 1.0 {
                format!(" x{}{}", mean_cell(calls), on_average(calls))
            } else {
                String::new()
            };
            format!("{}{times}", shown(&name))
        };
        way.steps.iter().map(step).collect::<Vec<_>>().join(", ")
    }
}

/// Returns a number of iterations or calls. That of several ranks or iterations is a mean, and no
/// whole one where these differ.
fn mean_cell(of: f64) -> String {
    if of.fract() == 0.0 { number_cell(of) } else { format!("{of:.1}") }
}

/// Returns the words behind such a number: none behind a whole one.
fn on_average(of: f64) -> &'static str {
    if of.fract() == 0.0 { "" } else { " on average" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_no_whole_one_is_said_to_be_a_mean() {
        let shown = |of: f64| format!("{}{}", mean_cell(of), on_average(of));
        assert_eq!(shown(20.0), "20");
        assert_eq!(shown(3.666_7), "3.7 on average");
        assert_eq!(shown(1_234.25), "1234.2 on average");
    }
}
