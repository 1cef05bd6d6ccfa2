//! Test of the instructions of a visit, counted by valgrind. They repeat where times do not, so a
//! change to the hot path cannot go unnoticed.
//!
//! The figures are in `benches/instructions.txt`. After a deliberate change to the recorder, update
//! them, and add a file to `benches/results`.

#![expect(clippy::unwrap_used, reason = "a test that cannot do its work fails")]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod valgrind;

use std::path::Path;
use std::process::{Command, Output};

use valgrind::{build, instructions, run, valgrind};

const VISITS: u64 = 100_000;

/// Tolerance for a figure with the compiler that it was measured with.
const SAME_COMPILER: f64 = 2.0;
/// Tolerance with another compiler, as a fraction of the figure.
const OTHER_COMPILER: f64 = 0.1;

#[test]
fn a_visit_takes_the_instructions_that_it_took() {
    let recorded = include_str!("../instructions.txt");
    let compiler = recorded.lines().find_map(|line| line.strip_prefix("# ")).unwrap();
    let is_same_compiler = text(&run(Command::new("rustc").arg("--version"))).trim() == compiler;
    let program = build("tinyprof-bench-visits", &NOT_ENTERED, "visits");

    let mut wrong = Vec::new();
    for line in recorded.lines().filter(|line| !line.starts_with('#')) {
        let (case, figure) = line.split_once(' ').unwrap();
        let figure: f64 = figure.trim().parse().unwrap();
        let difference = count(&program, case, 2 * VISITS) - count(&program, case, VISITS);
        let measured = f64::from(u32::try_from(difference).unwrap()) / 1e5;
        println!("{case} {measured:.1} (recorded: {figure})");
        let tolerance = if is_same_compiler { SAME_COMPILER } else { figure * OTHER_COMPILER };
        if (measured - figure).abs() > tolerance {
            wrong.push(format!("{case} takes {measured:.1} instructions, recorded are {figure}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\nIf that is meant, change benches/instructions.txt.",
        wrong.join("\n")
    );
}

/// Packages that a visit never enters.
const NOT_ENTERED: [&str; 3] = ["tinyprof-format", "tinyprof-report", "serde_json"];

/// Returns the number of instructions of a whole run; with `+events`, of one that keeps events, and
/// with `+off`, of one in which measuring is switched off by a command.
fn count(program: &Path, case: &str, visits: u64) -> u64 {
    let (case, events, is_off) = match case.split_once('+') {
        Some((case, "events")) => (case, "ring", false),
        Some((case, "off")) => (case, "off", true),
        Some((_, other)) => panic!("no such setting: {other}"),
        None => (case, "off", false),
    };
    let scratch = tempfile::tempdir().unwrap();
    let mut valgrind = valgrind();
    valgrind.arg(program).arg(case).arg(visits.to_string());
    if is_off {
        valgrind.arg("off").env("TINYPROF_STEER", "on");
        valgrind.env("TINYPROF_SEGMENT_DIR", scratch.path());
    }
    instructions(valgrind.env("TINYPROF_EVENTS", events).env_remove("TINYPROF"))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
