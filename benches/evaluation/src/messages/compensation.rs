//! 002's Table 1: a master and a worker, where measuring takes longer than the work.

use serde::{Deserialize, Serialize};
use tinyprof_bench_collective::document::table::Table;

use super::jobs::{Job, Jobs, Level, number, rows};
use crate::page::spread;

/// The regions of the worker, by name and option, and the level of each case.
const CASES: [(&str, &str, Level); 3] = [
    ("none", "packets", Level::Off),
    ("packets", "packets", Level::Messages),
    ("points", "points", Level::Messages),
];

/// The times of a task, in nanoseconds; without measurement only the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Times {
    measured_ns: f64,
    local_ns: f64,
    parallel_ns: f64,
    uncertainty_ns: f64,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    regions: String,
    repetition: u32,
    master: Times,
    worker: Times,
}

pub(super) fn measure(jobs: &Jobs) -> Result<Vec<Row>, String> {
    let error = jobs.size("0.00015", "0.004");
    let mut found = Vec::new();
    for repetition in 0..jobs.repetitions {
        for (regions, which, level) in CASES {
            let arguments = format!("--error {error} --time --regions {which}");
            let run = jobs.run(&Job::new("pi", 2, &arguments, level))?;
            let printed = |words| {
                let measured_ns = run.seconds_after(words)? * 1e9;
                Ok::<_, String>(Times { measured_ns, ..Times::default() })
            };
            let (mut master, mut worker) =
                (printed("the master took ")?, printed("the slowest worker ")?);
            if level != Level::Off {
                let waits = jobs.json(&["waits"], &run)?;
                let mut of_ranks = rows(&waits, "/compensated").map(times);
                let mut next = || of_ranks.next().unwrap_or_else(|| Err("no such rank".into()));
                (master, worker) = (less(master, next()?), less(worker, next()?));
            }
            found.push(Row { regions: regions.to_owned(), repetition, master, worker });
        }
    }
    Ok(found)
}

fn times(row: &serde_json::Value) -> Result<Times, String> {
    Ok(Times {
        measured_ns: number(row, "/measured_ns")?,
        local_ns: number(row, "/local_ns")?,
        parallel_ns: number(row, "/parallel_ns")?,
        uncertainty_ns: number(row, "/uncertainty_ns")?,
    })
}

/// Returns the times of the task that the program has timed, less the delays of the whole rank:
/// there are none outside of the task.
fn less(task: Times, rank: Times) -> Times {
    let less = |compensated_ns: f64| task.measured_ns - (rank.measured_ns - compensated_ns);
    Times {
        measured_ns: task.measured_ns,
        local_ns: less(rank.local_ns),
        parallel_ns: less(rank.parallel_ns),
        uncertainty_ns: rank.uncertainty_ns,
    }
}

pub(super) fn table(found: &[Row]) -> String {
    let mut table = Table::new(&[
        "task",
        "regions of the worker",
        "no instrumentation, s",
        "no compensation, s",
        "local, s",
        "parallel, s",
        "+-, s",
        "where",
    ]);
    type Of = fn(&Row) -> Times;
    let of = |regions: &str, task: Of, time: fn(Times) -> f64| {
        let chosen = found.iter().filter(|row| row.regions == regions);
        spread(chosen.map(|row| time(task(row)) / 1e9))
    };
    for regions in ["points", "packets"] {
        for (name, task) in [("master", (|row| row.master) as Of), ("worker", |row| row.worker)] {
            table.row(&[
                name.to_owned(),
                regions.to_owned(),
                of("none", task, |times| times.measured_ns),
                of(regions, task, |times| times.measured_ns),
                of(regions, task, |times| times.local_ns),
                format!("**{}**", of(regions, task, |times| times.parallel_ns)),
                of(regions, task, |times| times.uncertainty_ns),
                "here".to_owned(),
            ]);
        }
    }
    for paper in [
        ["master", "points", "73.9", "128", "140", "**73.9**", "-", "002, Table 1: Itanium 2"],
        ["worker", "points", "73.8", "128", "73.2", "**73.9**", "-", "002, Table 1: Itanium 2"],
    ] {
        table.row(&paper.map(str::to_owned));
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_loses_the_delays_of_its_rank() {
        let task = Times { measured_ns: 100.0, ..Times::default() };
        let rank =
            Times { measured_ns: 130.0, local_ns: 120.0, parallel_ns: 90.0, uncertainty_ns: 2.0 };
        let compensated = less(task, rank);
        assert_eq!((compensated.local_ns, compensated.parallel_ns), (90.0, 60.0));
    }
}
