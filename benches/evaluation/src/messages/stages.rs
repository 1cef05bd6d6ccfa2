//! 004: the times of stages as the tool has them, beside those of the program without it, with
//! delays; and sizes of what is kept, beside a trace.

use serde::{Deserialize, Serialize};
use tinyprof_bench_collective::document::table::{Table, float};
use tinyprof_bench_collective::files::directory_bytes;

use super::jobs::{Job, Jobs, Level, number, sum_of};
use crate::page::{median, three};

/// The stages by the names of their regions.
const STAGES: [&str; 3] = ["add_block", "pause_for", "pass_on"];

/// The pause of rank 1 before it passes a block on.
const PAUSES_MS: [u32; 3] = [0, 2, 10];

/// The bytes that 004 counts for a record of a trace; begin and end of a call are one each.
const TRACE_RECORD_BYTES: f64 = 20.0;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Row {
    /// Seconds of each stage, the mean of a rank: by the program's clock without and with the tool,
    /// and as the profile has them.
    Times { pause_ms: u32, repetition: u32, off: Vec<f64>, on: Vec<f64>, profile: Vec<f64> },
    /// The size of the profile.
    Sizes { products: u32, calls: f64, profile_bytes: u64 },
}

pub(super) fn measure(jobs: &Jobs) -> Result<Vec<Row>, String> {
    let mut found = Vec::new();
    let size = jobs.size("--rows 500 --repeat 8 --time", "--rows 20 --repeat 2 --time");
    for repetition in 0..jobs.repetitions {
        for pause_ms in PAUSES_MS {
            found.push(times(jobs, size, pause_ms, repetition)?);
        }
    }
    for products in [25, 50, 100, 200] {
        let arguments = format!("--rows 10 --repeat {products}");
        let run = jobs.run(&Job::new("matmul", 4, &arguments, Level::Messages))?;
        let report = jobs.json(&["report"], &run)?;
        let calls = number(&report, "/mpi/calls")?;
        found.push(Row::Sizes { products, calls, profile_bytes: directory_bytes(&run.profile())? });
    }
    Ok(found)
}

fn times(jobs: &Jobs, size: &str, pause_ms: u32, repetition: u32) -> Result<Row, String> {
    let pause =
        if pause_ms == 0 { String::new() } else { format!(" --slow-rank 1 --pause-ms {pause_ms}") };
    let arguments = format!("{size}{pause}");
    let off = jobs.run(&Job::new("matmul", 2, &arguments, Level::Off))?;
    let on = jobs.run(&Job::new("matmul", 2, &arguments, Level::Messages))?;
    let report = jobs.json(&["report"], &on)?;
    let ranks = number(&report, "/ranks")?;
    let printed = |run: &super::jobs::Run| {
        let words = ["add_block took ", "pause_for ", "pass_on "];
        words.map(|words| run.seconds_after(words)).into_iter().collect::<Result<Vec<f64>, _>>()
    };
    let inclusive = |stage| sum_of(&report, stage, "/inclusive_ns/sum") / ranks / 1e9;
    let profile = STAGES.map(inclusive).into();
    Ok(Row::Times { pause_ms, repetition, off: printed(&off)?, on: printed(&on)?, profile })
}

pub(super) fn table(found: &[Row]) -> String {
    format!("{}\n{}", times_table(found), sizes_table(found))
}

fn times_table(found: &[Row]) -> String {
    let mut table = Table::new(&[
        "delay at rank 1, ms",
        "stage",
        "without the tool, s",
        "with it, s",
        "in the profile, s",
        "profile beside the same run, %",
        "profile beside without, %",
    ]);
    for pause_ms in PAUSES_MS {
        for (at, stage) in STAGES.iter().enumerate().filter(|(at, _)| *at != 1 || pause_ms > 0) {
            let of: Vec<[f64; 3]> =
                found.iter().filter_map(|row| times_of(row, pause_ms, at)).collect();
            let [off, on, profile] =
                [0, 1, 2].map(|which| median(of.iter().map(|times| times[which])));
            table.row(&[
                pause_ms.to_string(),
                format!("`{stage}`"),
                three(off),
                three(on),
                three(profile),
                format!("{:+.2}", 100.0 * (profile / on - 1.0)),
                format!("{:+.2}", 100.0 * (profile / off - 1.0)),
            ]);
        }
    }
    table.row(
        &["-", "all of 004, Figure 5 (CM-5)", "-", "-", "-", "-", "up to 3.6"].map(str::to_owned),
    );
    table.finish()
}

/// Returns the times of a stage in a row of this delay.
fn times_of(row: &Row, wanted_ms: u32, at: usize) -> Option<[f64; 3]> {
    match row {
        Row::Times { pause_ms, off, on, profile, .. } if *pause_ms == wanted_ms => {
            Some([*off.get(at)?, *on.get(at)?, *profile.get(at)?])
        }
        _ => None,
    }
}

fn sizes_table(found: &[Row]) -> String {
    let mut table = Table::new(&[
        "what",
        "times through the loop",
        "calls of MPI",
        "as a trace of 004's records, KB",
        "kept, KB",
    ]);
    for row in found {
        if let Row::Sizes { products, calls, profile_bytes } = row {
            table.row(&[
                "`matmul`, 4 ranks, here".to_owned(),
                products.to_string(),
                three(*calls),
                three(2.0 * TRACE_RECORD_BYTES * calls / 1024.0),
                three(float(*profile_bytes) / 1024.0),
            ]);
        }
    }
    let paper = ["4 calls in a loop, 1 process: 004, 6.4.2", "200", "800", "31.25", "0.14"];
    table.row(&paper.map(str::to_owned));
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_has_its_medians_and_its_tolerance() {
        let row = |off: f64, repetition| Row::Times {
            pause_ms: 0,
            repetition,
            off: vec![off, 0.0, 1.0],
            on: vec![2.0, 0.0, 1.0],
            profile: vec![2.02, 0.0, 1.0],
        };
        let text = times_table(&[row(1.0, 0), row(2.0, 1), row(9.0, 2)]);
        assert!(
            text.contains("| 0 | `add_block` | 2.00 | 2.00 | 2.02 | +1.00 | +1.00 |"),
            "{text}"
        );
        assert!(!text.contains("| 0 | `pause_for`"), "{text}");
    }
}
