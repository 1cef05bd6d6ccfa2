//! Which part of the overhead at `messages` every run has, and which depends on the run: each
//! program with its work, and with twice as much.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tinyprof_bench_collective::document::table::{Table, float};

use super::jobs::{Job, Jobs, Level, number};
use crate::page::three;

/// The cost of measuring by a profile: means over ranks, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Cost {
    /// Before the program could begin.
    starting_ns: f64,
    /// Calls, messages and visits, by the rank itself.
    timing_ns: f64,
    /// The delay that came through others, without the part that waiting has hidden.
    through_others_ns: f64,
    /// After `MPI_Finalize` was called: reading of debug information, and the flush.
    writing_ns: f64,
    /// Time of a rank in its regions and calls, without start-up.
    run_ns: f64,
    /// Calls of MPI of a rank.
    calls: f64,
    visits: f64,
}

impl Cost {
    pub(super) fn of(report: &Value) -> Result<Self, String> {
        let ranks = number(report, "/ranks")?;
        let of = |place: &str| number(report, &format!("/overhead/{place}"));
        Ok(Self {
            starting_ns: of("starting_ns")?,
            timing_ns: of("timing_ns")?,
            through_others_ns: of("through_others_ns")?,
            writing_ns: of("writing_ns")?,
            run_ns: number(report, "/total_inclusive_ns")? / ranks,
            calls: number(report, "/mpi/calls")? / ranks,
            visits: of("visits")? / ranks,
        })
    }

    /// Returns what every run has.
    pub(super) fn fixed_ns(&self) -> f64 {
        self.starting_ns + self.writing_ns
    }

    fn depending_ns(&self) -> f64 {
        self.timing_ns + self.through_others_ns.max(0.0)
    }

    /// Returns what depends on the run, as a share of it.
    pub(super) fn depending_share(&self) -> f64 {
        self.depending_ns() / self.run_ns
    }

    pub(super) fn calls_a_second(&self) -> f64 {
        self.calls * 1e9 / self.run_ns
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    program: String,
    arguments: String,
    took_ns: u64,
    #[serde(flatten)]
    cost: Cost,
}

/// Programs, with two arguments: twice as much work with the second one.
const PROGRAMS: [(&str, &str, &str, &str); 10] = [
    ("fft", "--size 4194304 --runs", "6", "12"),
    ("fire", "--points 40000 --weather 200 --steps", "60", "120"),
    ("matmul", "--rows 400 --repeat", "6", "12"),
    ("multigrid", "--size 7 --cycles", "60", "60"),
    ("multires", "--size 6 --patch 4 --steps", "3", "6"),
    ("pi", "--error", "0.0001", "0.00007072"),
    ("sort", "--keys 8000000 --repeat", "10", "20"),
    ("tc", "--generate random --vertices 3000 --edges 5000 --repeat", "2", "4"),
    ("wave", "--points 1000000 --steps", "600", "1200"),
    ("wavefront", "--steps", "200", "400"),
];

pub(super) fn measure(jobs: &Jobs) -> Result<Vec<Row>, String> {
    let mut found = Vec::new();
    // A trial has the shortest of them.
    let programs = if jobs.size("", "small").is_empty() { &PROGRAMS[..] } else { &PROGRAMS[4..5] };
    for (program, fixed, once, twice) in programs {
        for amount in [once, twice] {
            let arguments = format!("{fixed} {amount}");
            let run = jobs.run(&Job::new(program, 2, &arguments, Level::Messages))?;
            let cost = Cost::of(&jobs.json(&["report"], &run)?)?;
            found.push(Row {
                program: (*program).to_owned(),
                arguments,
                took_ns: run.took_ns,
                cost,
            });
        }
    }
    Ok(found)
}

pub(super) fn table(found: &[Row]) -> String {
    let mut table = Table::new(&[
        "program",
        "arguments",
        "whole run, s",
        "start, ms",
        "end, ms",
        "calls and visits, ms",
        "through others, ms",
        "calls",
        "fixed, % of the run",
        "depending on the run, %",
        "1 % of all from a run of, s",
    ]);
    for row in found {
        let (cost, took_ns) = (&row.cost, float(row.took_ns));
        let share = |ns: f64| three(100.0 * ns / took_ns);
        let rest = 0.01 - cost.depending_share();
        let from =
            if rest > 0.0 { three(cost.fixed_ns() / rest / 1e9) } else { "never".to_owned() };
        table.row(&[
            format!("`{}`", row.program),
            format!("`{}`", row.arguments),
            three(took_ns / 1e9),
            three(cost.starting_ns / 1e6),
            three(cost.writing_ns / 1e6),
            three(cost.timing_ns / 1e6),
            three(cost.through_others_ns / 1e6),
            three(cost.calls),
            share(cost.fixed_ns()),
            format!("**{}**", three(100.0 * cost.depending_share())),
            from,
        ]);
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_waiting_has_hidden_makes_nothing_less_than_it_is() {
        let report = json!({"ranks": 2, "total_inclusive_ns": 2000, "mpi": {"calls": 20},
            "overhead": {"starting_ns": 5, "timing_ns": 10, "through_others_ns": -3,
                "writing_ns": 7, "visits": 40}});
        let cost = Cost::of(&report).unwrap();
        assert_eq!((cost.fixed_ns(), cost.depending_ns(), cost.calls), (12.0, 10.0, 10.0));
        assert_eq!(cost.depending_share(), 0.01);
    }
}
