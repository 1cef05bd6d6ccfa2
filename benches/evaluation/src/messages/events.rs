//! 001's Figure 3: rates of calls, of bytes into the event buffer, and slowdown, of the programs
//! whose kernels the paper ran.

use serde::{Deserialize, Serialize};
use tinyprof_bench_collective::document::table::{Table, float};
use tinyprof_bench_collective::files::directory_bytes;

use super::jobs::{Job, Jobs, Level, number};
use crate::page::{median, spread, three};

/// Programs with their arguments, and the paper's kernel.
const PROGRAMS: [(&str, &str, &str, &str); 5] = [
    ("wavefront", "lu", "--points 24 --planes 100 --steps 150", "--steps 2"),
    ("multigrid", "mg", "--size 5", "--size 2"),
    ("sort", "is", "--keys 4000000 --repeat 10", "--keys 10000"),
    ("fft", "ft", "--size 1048576 --runs 12", "--size 4096 --runs 2"),
    ("wave", "-", "--points 2000 --steps 60000", "--steps 20"),
];

/// Bytes in the buffer, of a visit and of an end of a message (docs/events.md).
const VISIT_BYTES: f64 = 4.4;
const END_BYTES: f64 = 10.3;

/// A round: the program without the tool, at `messages`, and with events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    program: String,
    repetition: u32,
    off_ns: u64,
    messages_ns: u64,
    events_ns: u64,
    /// Of a rank, with events: its time, its calls of MPI, its visits, and ends of messages.
    run_ns: f64,
    calls: f64,
    visits: f64,
    ends: f64,
    /// By how much the profile is longer.
    file_bytes: u64,
}

pub(super) fn measure(jobs: &Jobs) -> Result<Vec<Row>, String> {
    let mut found = Vec::new();
    for repetition in 0..jobs.repetitions {
        for (program, _, full, small) in PROGRAMS {
            let run = |level| jobs.run(&Job::new(program, 2, jobs.size(full, small), level));
            let (off, messages, events) =
                (run(Level::Off)?, run(Level::Messages)?, run(Level::Events)?);
            let report = jobs.json(&["report"], &events)?;
            let ranks = number(&report, "/ranks")?;
            let bytes = directory_bytes(&events.profile())?;
            found.push(Row {
                program: program.to_owned(),
                repetition,
                off_ns: off.took_ns,
                messages_ns: messages.took_ns,
                events_ns: events.took_ns,
                run_ns: number(&report, "/total_inclusive_ns")? / ranks,
                calls: number(&report, "/mpi/calls")? / ranks,
                visits: number(&report, "/overhead/visits")? / ranks,
                ends: 2.0 * number(&report, "/clock/companions")? / ranks,
                file_bytes: bytes.saturating_sub(directory_bytes(&messages.profile())?),
            });
        }
    }
    Ok(found)
}

pub(super) fn table(found: &[Row]) -> String {
    let mut table = Table::new(&[
        "program",
        "kernel of 001",
        "calls of MPI a second and process",
        "into the buffer, MiB a second and process",
        "in the profile, MB",
        "slowdown at `messages`",
        "slowdown with events",
    ]);
    for (program, kernel, ..) in PROGRAMS {
        let of: Vec<&Row> = found.iter().filter(|row| row.program == program).collect();
        let buffer = |row: &&Row| {
            (VISIT_BYTES * row.visits + END_BYTES * row.ends) * 1e9
                / row.run_ns
                / f64::from(1 << 20)
        };
        let slowdown =
            |ns: fn(&Row) -> u64| spread(of.iter().map(|row| float(ns(row)) / float(row.off_ns)));
        table.row(&[
            format!("`{program}`"),
            kernel.to_owned(),
            three(median(of.iter().map(|row| row.calls * 1e9 / row.run_ns))),
            three(median(of.iter().map(buffer))),
            three(median(of.iter().map(|row| float(row.file_bytes) / 1e6))),
            slowdown(|row| row.messages_ns),
            slowdown(|row| row.events_ns),
        ]);
    }
    let paper =
        ["001, Figure 3 (Sierra)", "lu, class D", "more than 35,000", "5.5", "-", "-", "below 1"];
    table.row(&paper.map(str::to_owned));
    table.finish()
}
